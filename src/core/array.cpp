#include "fathom/core/array.h"

#include <new>

namespace fathom {

Array::Array(DType dtype, const Shape& shape) : dtype_(dtype), shape_(shape) {
  constexpr std::size_t kAlignment = 64;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(element_count(shape)), size_of(dtype), &bytes) ||
      bytes > SIZE_MAX / 2)
    throw std::bad_alloc();
  const std::size_t rounded = (bytes + kAlignment) / kAlignment * kAlignment;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded)));
  if (!data_) throw std::bad_alloc();
}

}  // namespace fathom
