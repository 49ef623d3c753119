// The rows of a view in order: each is contiguous, whatever the outer strides.
#pragma once

#include "fathom/core/view.h"

namespace fathom::io {

/// Whether all elements lie in one row-major block.
inline bool is_dense(const AnyConstView& view) {
  const Strides dense = dense_strides(view.shape());
  for (int axis = 0; axis < view.rank(); ++axis)
    if (view.shape()[axis] > 1 && view.strides()[axis] != dense[axis]) return false;
  return true;
}

/// Calls visit(const std::byte* row, std::size_t bytes) for each row, or once for all of a dense view.
template <class Visit>
void for_each_run(const AnyConstView& view, Visit visit) {
  const std::int64_t count = element_count(view.shape());
  const auto size = static_cast<std::int64_t>(size_of(view.dtype()));
  if (count == 0) return;
  if (view.rank() == 0 || is_dense(view)) return visit(view.data(), static_cast<std::size_t>(count * size));
  const int last = view.rank() - 1;
  const auto bytes = static_cast<std::size_t>(view.shape()[last] * size);
  const std::int64_t rows = count / view.shape()[last];
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t rest = row;
    std::int64_t offset = 0;
    for (int axis = last - 1; axis >= 0; --axis) {
      offset += rest % view.shape()[axis] * view.strides()[axis];
      rest /= view.shape()[axis];
    }
    visit(view.data() + offset * size, bytes);
  }
}

}  // namespace fathom::io
