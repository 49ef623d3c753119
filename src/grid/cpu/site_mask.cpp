#include "grid/cpu/site_mask.h"

#include <cmath>
#include <limits>
#include <type_traits>

namespace fathom::grid::cpu {

namespace {

template <class T, class Predicate>
void fill(const T* data, std::int64_t count, std::uint8_t* mask, Predicate is_site) {
  for (std::int64_t i = 0; i < count; ++i) mask[i] = is_site(data[i]) ? 1 : 0;
}

/// Comparing a 64-bit integer with a double rounds it. Instead, the double becomes the integer that decides the same way:
/// `element >= value` is `element >= ceil(value)`, and so on; outside T's range all or none compare true.
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

template <class T>
void compare_integers(const T* data, std::int64_t count, const Sites& sites, std::uint8_t* mask) {
  const IntegerBound<T> b(sites.value, sites.rule);
  if (b.all || b.none) return fill(data, count, mask, [&](T) { return b.all; });
  const T bound = b.bound;
  switch (sites.rule) {
    case Sites::Rule::greater_equal: return fill(data, count, mask, [=](T v) { return v >= bound; });
    case Sites::Rule::less_equal: return fill(data, count, mask, [=](T v) { return v <= bound; });
    default: return fill(data, count, mask, [=](T v) { return v == bound; });
  }
}

template <class T>
void compare_floats(const T* data, std::int64_t count, const Sites& sites, std::uint8_t* mask) {
  const double value = sites.value;
  switch (sites.rule) {
    case Sites::Rule::greater_equal: return fill(data, count, mask, [=](T v) { return double{v} >= value; });
    case Sites::Rule::less_equal: return fill(data, count, mask, [=](T v) { return double{v} <= value; });
    default: return fill(data, count, mask, [=](T v) { return double{v} == value; });
  }
}

template <class T>
void site_mask_of(const T* data, std::int64_t count, const Sites& sites, std::uint8_t* mask) {
  if (sites.rule == Sites::Rule::zero) return fill(data, count, mask, [](T v) { return v == T{}; });
  if (sites.rule == Sites::Rule::nonzero) return fill(data, count, mask, [](T v) { return v != T{}; });
  if constexpr (std::is_floating_point_v<T>) compare_floats(data, count, sites, mask);
  else compare_integers(data, count, sites, mask);
}

}  // namespace

void site_mask(const std::byte* data, DType dtype, std::int64_t count, const Sites& sites, std::uint8_t* mask) {
  // A bool is read as the byte it is: memory of other origin may hold more than 0 and 1.
  if (dtype == DType::boolean) dtype = DType::uint8;
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, bool>) site_mask_of(reinterpret_cast<const T*>(data), count, sites, mask);
  });
}

}  // namespace fathom::grid::cpu
