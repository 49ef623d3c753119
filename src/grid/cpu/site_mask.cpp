#include "grid/cpu/site_mask.h"

#include <type_traits>

#include "grid/element.hd.h"

namespace fathom::grid::cpu {

namespace {

template <class T, class Predicate>
void fill(const T* data, std::int64_t count, std::uint8_t* mask, Predicate is_site) {
  for (std::int64_t i = 0; i < count; ++i) mask[i] = is_site(data[i]) ? 1 : 0;
}

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
