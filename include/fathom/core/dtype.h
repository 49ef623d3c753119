// Element types of arrays whose type is known only at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "fathom/core/error.h"

namespace fathom {

enum class DType : std::uint8_t {
  boolean,
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  uint64,
  int64,
  float32,
  float64,
};

std::size_t size_of(DType dtype);

/// NumPy's name of the type: "bool", "uint8", …, "float64".
std::string_view name_of(DType dtype);

/// The type with this NumPy name.
/// @throws InvalidArgument no such type; the message lists those that exist
DType dtype_from_name(std::string_view name);

template <class T>
constexpr DType dtype_of() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, bool>) return DType::boolean;
  else if constexpr (std::is_same_v<U, float>) return DType::float32;
  else if constexpr (std::is_same_v<U, double>) return DType::float64;
  else {
    static_assert(std::is_integral_v<U> && sizeof(U) <= 8, "arrays hold bool, integers, float or double");
    constexpr bool is_signed = std::is_signed_v<U>;
    if constexpr (sizeof(U) == 1) return is_signed ? DType::int8 : DType::uint8;
    else if constexpr (sizeof(U) == 2) return is_signed ? DType::int16 : DType::uint16;
    else if constexpr (sizeof(U) == 4) return is_signed ? DType::int32 : DType::uint32;
    else return is_signed ? DType::int64 : DType::uint64;
  }
}

template <class T>
struct TypeTag {
  using type = T;
};

/// Calls visitor(TypeTag<T>{}) with the C++ type of `dtype`.
template <class Visitor>
decltype(auto) visit_dtype(DType dtype, Visitor&& visitor) {
  switch (dtype) {
    case DType::boolean: return visitor(TypeTag<bool>{});
    case DType::uint8: return visitor(TypeTag<std::uint8_t>{});
    case DType::int8: return visitor(TypeTag<std::int8_t>{});
    case DType::uint16: return visitor(TypeTag<std::uint16_t>{});
    case DType::int16: return visitor(TypeTag<std::int16_t>{});
    case DType::uint32: return visitor(TypeTag<std::uint32_t>{});
    case DType::int32: return visitor(TypeTag<std::int32_t>{});
    case DType::uint64: return visitor(TypeTag<std::uint64_t>{});
    case DType::int64: return visitor(TypeTag<std::int64_t>{});
    case DType::float32: return visitor(TypeTag<float>{});
    case DType::float64: return visitor(TypeTag<double>{});
  }
  throw InternalError("unknown element type");
}

}  // namespace fathom
