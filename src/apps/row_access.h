// Rows of the last axis.
#pragma once

#include <cstdint>

#include "fathom/core/view.h"

namespace fathom::apps {

inline std::int64_t row_count(const Shape& shape) {
  return shape.back() == 0 ? 0 : element_count(shape) / shape.back();
}

/// The first element of the row with this number.
template <class T>
T* row_at(const HostView<T>& view, std::int64_t number) {
  std::int64_t offset = 0;
  for (int axis = view.shape().rank() - 2; axis >= 0; --axis) {
    offset += number % view.shape()[axis] * view.strides()[axis];
    number /= view.shape()[axis];
  }
  return view.data() + offset;
}

/// Calls visit(first element of the row, its number) for each row.
template <class T, class Visit>
void each_row(const HostView<const T>& view, const Visit& visit) {
  for (std::int64_t row = 0; row < row_count(view.shape()); ++row) visit(row_at(view, row), row);
}

}  // namespace fathom::apps
