#include "dlpack_dtype.h"

#include <string_view>

namespace fathom::python {

namespace nb = nanobind;

namespace {

nb::dlpack::dtype_code code_of(DType dtype) {
  if (dtype == DType::boolean) return nb::dlpack::dtype_code::Bool;
  const std::string_view name = name_of(dtype);
  if (name.starts_with("uint")) return nb::dlpack::dtype_code::UInt;
  return name.starts_with("int") ? nb::dlpack::dtype_code::Int : nb::dlpack::dtype_code::Float;
}

}  // namespace

nb::dlpack::dtype dlpack_of(DType dtype) {
  return {static_cast<std::uint8_t>(code_of(dtype)), static_cast<std::uint8_t>(8 * size_of(dtype)), 1};
}

DType dtype_of(nb::dlpack::dtype given) {
  for (const DType dtype : {DType::boolean, DType::uint8, DType::int8, DType::uint16, DType::int16, DType::uint32,
                            DType::int32, DType::uint64, DType::int64, DType::float32, DType::float64})
    if (const nb::dlpack::dtype known = dlpack_of(dtype);
        known.code == given.code && known.bits == given.bits && known.lanes == given.lanes)
      return dtype;
  throw InvalidArgument("arrays hold bool, integers of 8 to 64 bits, float32 or float64");
}

}  // namespace fathom::python
