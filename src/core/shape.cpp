#include "fathom/core/shape.h"

#include "fathom/core/view.h"

namespace fathom {

namespace {
constexpr std::int64_t kMostElements = std::int64_t{1} << 62;
}

std::int64_t element_count(const Shape& shape) {
  bool empty = false;
  for (std::int64_t n : shape) {
    if (n < 0) throw InvalidArgument("the shape " + to_string(shape) + " has a negative extent");
    empty |= n == 0;
  }
  if (empty) return 0;
  std::int64_t count = 1;
  for (std::int64_t n : shape)
    if (__builtin_mul_overflow(count, n, &count) || count > kMostElements)
      throw InvalidArgument("the shape " + to_string(shape) + " has more elements than can be counted");
  return count;
}

Strides dense_strides(const Shape& shape) {
  element_count(shape);
  Strides strides = shape;
  std::int64_t step = 1;
  for (int k = shape.rank() - 1; k >= 0; --k) {
    strides[k] = step;
    step *= shape[k] > 0 ? shape[k] : 1;
  }
  return strides;
}

std::string to_string(const Shape& shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (std::int64_t n : shape) text += (text.empty() ? "" : " × ") + std::to_string(n);
  return text;
}

void detail::check_layout(const Shape& shape, const Strides& strides) {
  if (shape.rank() != strides.rank())
    throw InvalidArgument("a view needs one stride per axis: " + std::to_string(shape.rank()) + " axes, " +
                          std::to_string(strides.rank()) + " strides");
  if (element_count(shape) > 1 && strides.back() != 1 && shape.back() > 1)
    throw InvalidArgument("the last axis of a view must be contiguous (stride 1, not " +
                          std::to_string(strides.back()) + "); copy the array first");
}

}  // namespace fathom
