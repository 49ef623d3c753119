#include "fathom/core/dtype.h"

#include <array>
#include <string>

namespace fathom {

namespace {
constexpr std::array<std::string_view, 11> kNames = {"bool",  "uint8",  "int8",  "uint16",  "int16",  "uint32",
                                                     "int32", "uint64", "int64", "float32", "float64"};
}

std::size_t size_of(DType dtype) {
  return visit_dtype(dtype, [](auto tag) { return sizeof(typename decltype(tag)::type); });
}

std::string_view name_of(DType dtype) { return kNames[static_cast<std::size_t>(dtype)]; }

DType dtype_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<DType>(i);
  std::string known;
  for (std::string_view k : kNames) known += (known.empty() ? "" : ", ") + std::string(k);
  throw InvalidArgument("there is no element type '" + std::string(name) + "'; choose one of " + known);
}

}  // namespace fathom
