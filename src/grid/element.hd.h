// What can be asked of one element: whether it fulfils a rule, and whether it equals another. Shared by host and
// device.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "fathom/core/dtype.h"
#include "fathom/grid/distance.h"
#include "core/root.hd.h"

namespace fathom::grid {

/// Comparing a 64-bit integer with a double rounds it. Instead, the double becomes the integer that decides the same
/// way: `element >= value` is `element >= ceil(value)`, and so on; outside T's range all or none compare true.
template <class T>
struct IntegerBound {
  bool all = false, none = false;
  T bound = 0;

  IntegerBound(double value, Sites::Rule rule) {
    const double rounded = rule == Sites::Rule::less_equal ? std::floor(value) : std::ceil(value);
    // 2^digits, the first double beyond T, is exact; T's maximum is not.
    const double beyond = std::ldexp(1.0, std::numeric_limits<T>::digits);
    const double lowest = std::is_signed_v<T> ? -beyond : 0.0;
    const bool low = rounded < lowest, high = rounded >= beyond;
    const bool fraction = rule == Sites::Rule::equal && rounded != value;
    all = (low && rule == Sites::Rule::greater_equal) || (high && rule == Sites::Rule::less_equal);
    none = !all && (low || high || fraction);
    if (!all && !none) bound = static_cast<T>(rounded);
  }
};

/// A rule for elements of one type, with its value as that type compares it.
struct ElementRule {
  enum class Kind : std::uint8_t { zero, nonzero, greater_equal, less_equal, equal, all, none };
  DType dtype = DType::uint8;
  Kind kind = Kind::zero;
  double value = 0;                 ///< for floats
  std::int64_t integer = 0;         ///< for signed types
  std::uint64_t natural = 0;        ///< for unsigned types
};

/// The rule of a mask. Any rule but `labels`.
inline ElementRule element_rule(DType dtype, const Sites& sites) {
  using Kind = ElementRule::Kind;
  // A bool is read as the byte it is: memory of other origin may hold more than 0 and 1.
  ElementRule rule{.dtype = dtype == DType::boolean ? DType::uint8 : dtype, .value = sites.value};
  switch (sites.rule) {
    case Sites::Rule::zero: rule.kind = Kind::zero; return rule;
    case Sites::Rule::nonzero: rule.kind = Kind::nonzero; return rule;
    case Sites::Rule::greater_equal: rule.kind = Kind::greater_equal; break;
    case Sites::Rule::less_equal: rule.kind = Kind::less_equal; break;
    default: rule.kind = Kind::equal;
  }
  visit_dtype(rule.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      const IntegerBound<T> bound(sites.value, sites.rule);
      if (bound.all) rule.kind = Kind::all;
      if (bound.none) rule.kind = Kind::none;
      rule.integer = static_cast<std::int64_t>(bound.bound);
      rule.natural = static_cast<std::uint64_t>(bound.bound);
    }
  });
  return rule;
}

template <class T>
FATHOM_HD bool compares(T element, T value, ElementRule::Kind kind) {
  switch (kind) {
    case ElementRule::Kind::zero: return element == T{};
    case ElementRule::Kind::nonzero: return element != T{};
    case ElementRule::Kind::greater_equal: return element >= value;
    case ElementRule::Kind::less_equal: return element <= value;
    case ElementRule::Kind::equal: return element == value;
    case ElementRule::Kind::all: return true;
    case ElementRule::Kind::none: break;
  }
  return false;
}

/// Whether the element at `index` of the array at `base` fulfils the rule.
FATHOM_HD inline bool fulfils(const ElementRule& rule, const std::byte* base, std::int64_t index) {
  const auto natural = [&](auto* p) { return compares<std::uint64_t>(p[index], rule.natural, rule.kind); };
  const auto integer = [&](auto* p) { return compares<std::int64_t>(p[index], rule.integer, rule.kind); };
  const auto real = [&](auto* p) { return compares<double>(p[index], rule.value, rule.kind); };
  switch (rule.dtype) {
    case DType::boolean:
    case DType::uint8: return natural(reinterpret_cast<const std::uint8_t*>(base));
    case DType::uint16: return natural(reinterpret_cast<const std::uint16_t*>(base));
    case DType::uint32: return natural(reinterpret_cast<const std::uint32_t*>(base));
    case DType::uint64: return natural(reinterpret_cast<const std::uint64_t*>(base));
    case DType::int8: return integer(reinterpret_cast<const std::int8_t*>(base));
    case DType::int16: return integer(reinterpret_cast<const std::int16_t*>(base));
    case DType::int32: return integer(reinterpret_cast<const std::int32_t*>(base));
    case DType::int64: return integer(reinterpret_cast<const std::int64_t*>(base));
    case DType::float32: return real(reinterpret_cast<const float*>(base));
    case DType::float64: return real(reinterpret_cast<const double*>(base));
  }
  return false;
}

/// Whether the elements at two indices differ. Floats compare as numbers: NaN differs from everything.
FATHOM_HD inline bool elements_differ(DType dtype, const std::byte* base, std::int64_t a, std::int64_t b) {
  const auto differ = [&](auto* p) { return p[a] != p[b]; };
  switch (dtype) {
    case DType::boolean:
    case DType::uint8:
    case DType::int8: return differ(reinterpret_cast<const std::uint8_t*>(base));
    case DType::uint16:
    case DType::int16: return differ(reinterpret_cast<const std::uint16_t*>(base));
    case DType::uint32:
    case DType::int32: return differ(reinterpret_cast<const std::uint32_t*>(base));
    case DType::uint64:
    case DType::int64: return differ(reinterpret_cast<const std::uint64_t*>(base));
    case DType::float32: return differ(reinterpret_cast<const float*>(base));
    case DType::float64: return differ(reinterpret_cast<const double*>(base));
  }
  return false;
}

}  // namespace fathom::grid
