#include "arrays.h"

#include <string>
#include <vector>

namespace fathom::python {

namespace nb = nanobind;

namespace {

DType dtype_of(nb::dlpack::dtype given) {
  const auto code = static_cast<nb::dlpack::dtype_code>(given.code);
  const bool narrow = given.lanes == 1;
  if (narrow && code == nb::dlpack::dtype_code::Bool && given.bits == 8) return DType::boolean;
  if (narrow && code == nb::dlpack::dtype_code::Float && given.bits == 32) return DType::float32;
  if (narrow && code == nb::dlpack::dtype_code::Float && given.bits == 64) return DType::float64;
  const bool is_signed = code == nb::dlpack::dtype_code::Int;
  if (narrow && (is_signed || code == nb::dlpack::dtype_code::UInt)) switch (given.bits) {
      case 8: return is_signed ? DType::int8 : DType::uint8;
      case 16: return is_signed ? DType::int16 : DType::uint16;
      case 32: return is_signed ? DType::int32 : DType::uint32;
      case 64: return is_signed ? DType::int64 : DType::uint64;
    }
  throw InvalidArgument("arrays hold bool, integers of 8 to 64 bits, float32 or float64");
}

/// Strides in elements. Those that no element needs – of axes with one element, of empty arrays – are left to chance, but
/// views insist on contiguous rows.
template <class Array>
std::vector<std::int64_t> strides_of(const Array& array) {
  std::vector<std::int64_t> strides(array.ndim());
  std::int64_t dense = 1;
  for (std::size_t k = strides.size(); k-- > 0;) {
    const auto extent = static_cast<std::int64_t>(array.shape(k));
    strides[k] = extent > 1 && array.size() > 0 ? array.stride(k) : dense;
    dense *= extent > 1 ? extent : 1;
  }
  return strides;
}

template <class ViewType, class Byte, class Array>
Stack<ViewType> stack_of(const Array& array, std::size_t image_rank) {
  std::vector<std::int64_t> shape(array.ndim());
  for (std::size_t k = 0; k < shape.size(); ++k) shape[k] = static_cast<std::int64_t>(array.shape(k));
  std::vector<std::int64_t> strides = strides_of(array);
  const std::size_t leading = shape.size() - image_rank;
  if (image_rank == 0) {  // an image without axes is one element along one axis
    shape.push_back(1);
    strides.push_back(1);
  }
  return {static_cast<Byte*>(array.data()), dtype_of(array.dtype()), shape, strides, leading};
}

}  // namespace

Stack<AnyConstView> images_of(const Input& array, std::size_t image_rank) {
  return stack_of<AnyConstView, const std::byte>(array, image_rank);
}

Stack<AnyView> images_of(const Output& array, std::size_t image_rank) {
  if (!array) return {};
  return stack_of<AnyView, std::byte>(*array, image_rank);
}

}  // namespace fathom::python
