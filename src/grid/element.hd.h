// What can be asked of one element: whether it fulfils a rule, and whether it equals another. Shared by host and
// device.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>

#include "fathom/core/dtype.h"
#include "fathom/grid/distance.h"
#include "core/root.hd.h"

namespace fathom::grid {

/// A rule for elements of one type, with its value as that type compares it.
struct ElementRule {
  enum class Kind : std::uint8_t {
    zero,
    nonzero,
    greater_equal,
    greater,
    less_equal,
    less,
    equal,
    not_equal,
    nan,
    number,  ///< all but NaN
    all,
    none,
  };
  DType dtype = DType::uint8;
  Kind kind = Kind::zero;
  double value = 0;                 ///< for floats
  std::int64_t integer = 0;         ///< for signed types
  std::uint64_t natural = 0;        ///< for unsigned types
};

/// What a rule asks of an element, before its type is known.
inline ElementRule::Kind kind_of(const Sites& sites) {
  using Kind = ElementRule::Kind;
  const bool nan = sites.value.is_nan();
  switch (sites.rule) {
    case Sites::Rule::zero: return Kind::zero;
    case Sites::Rule::nonzero: return Kind::nonzero;
    case Sites::Rule::equal: return nan ? Kind::nan : Kind::equal;
    case Sites::Rule::not_equal: return nan ? Kind::number : Kind::not_equal;
    case Sites::Rule::greater_equal: return nan ? Kind::none : Kind::greater_equal;
    case Sites::Rule::greater: return nan ? Kind::none : Kind::greater;
    case Sites::Rule::less_equal: return nan ? Kind::none : Kind::less_equal;
    case Sites::Rule::less: return nan ? Kind::none : Kind::less;
    case Sites::Rule::labels: break;
  }
  return Kind::none;
}

/// Comparing a 64-bit integer with a double rounds it. Instead, the double becomes the integer that decides the same
/// way: `element >= value` is `element >= ceil(value)`, and so on; outside T's range all or none compare true.
template <class T>
struct IntegerBound {
  using Kind = ElementRule::Kind;
  Kind kind = Kind::none;
  T bound = 0;

  /// @param asked  a comparison, or what is left of one with NaN
  IntegerBound(const Sites::Value& value, Kind asked) : kind(asked) {
    if (kind == Kind::nan) kind = Kind::none;
    else if (kind == Kind::number) kind = Kind::all;
    else if (kind != Kind::none) std::visit([this](auto number) { this->take(number); }, value.number);
  }

 private:
  void take(double value) {
    const bool equality = kind == Kind::equal || kind == Kind::not_equal;
    const double rounded = kind == Kind::less_equal || kind == Kind::greater ? std::floor(value) : std::ceil(value);
    // 2^digits, the first double beyond T, is exact; T's maximum is not.
    const double beyond = std::ldexp(1.0, std::numeric_limits<T>::digits);
    const double lowest = std::is_signed_v<T> ? -beyond : 0.0;
    if (rounded < lowest || (equality && rounded != value)) miss(true);
    else if (rounded >= beyond) miss(false);
    else bound = static_cast<T>(rounded);
  }

  template <class Integer>
  void take(Integer value) {
    if (std::cmp_less(value, std::numeric_limits<T>::min())) miss(true);
    else if (std::cmp_greater(value, std::numeric_limits<T>::max())) miss(false);
    else bound = static_cast<T>(value);
  }

  /// The value is no T, and lies below all of them, or above.
  void miss(bool below) {
    const bool upwards = kind == Kind::greater_equal || kind == Kind::greater;
    const bool downwards = kind == Kind::less_equal || kind == Kind::less;
    kind = kind == Kind::not_equal || (below ? upwards : downwards) ? Kind::all : Kind::none;
  }
};

/// The rule of a mask. Any rule but `labels`.
inline ElementRule element_rule(DType dtype, const Sites& sites) {
  using Kind = ElementRule::Kind;
  // A bool is read as the byte it is: memory of other origin may hold more than 0 and 1.
  ElementRule rule{.dtype = dtype == DType::boolean ? DType::uint8 : dtype, .kind = kind_of(sites)};
  if (rule.kind == Kind::zero || rule.kind == Kind::nonzero) return rule;
  visit_dtype(rule.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<T>) {
      rule.value = static_cast<double>(static_cast<T>(sites.value.real()));
    } else if constexpr (!std::is_same_v<T, bool>) {
      const IntegerBound<T> bound(sites.value, rule.kind);
      rule.kind = bound.kind;
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
    case ElementRule::Kind::greater: return element > value;
    case ElementRule::Kind::less_equal: return element <= value;
    case ElementRule::Kind::less: return element < value;
    case ElementRule::Kind::equal: return element == value;
    case ElementRule::Kind::not_equal: return element != value;
    case ElementRule::Kind::nan: return element != element;
    case ElementRule::Kind::number: return element == element;
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
