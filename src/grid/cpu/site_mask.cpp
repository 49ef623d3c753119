#include "grid/cpu/site_mask.h"

#include <type_traits>

#include "grid/element.hd.h"

namespace fathom::grid::cpu {

namespace {

/// The loop for one kind, which the compiler turns into vectors.
template <ElementRule::Kind kind, class T>
void fill(const T* data, std::int64_t count, T value, std::uint8_t* mask) {
  for (std::int64_t i = 0; i < count; ++i) mask[i] = compares(data[i], value, kind) ? 1 : 0;
}

template <class T>
void site_mask_of(const T* data, std::int64_t count, T value, ElementRule::Kind kind, std::uint8_t* mask) {
  using enum ElementRule::Kind;
  switch (kind) {
    case zero: return fill<zero>(data, count, value, mask);
    case nonzero: return fill<nonzero>(data, count, value, mask);
    case greater_equal: return fill<greater_equal>(data, count, value, mask);
    case greater: return fill<greater>(data, count, value, mask);
    case less_equal: return fill<less_equal>(data, count, value, mask);
    case less: return fill<less>(data, count, value, mask);
    case equal: return fill<equal>(data, count, value, mask);
    case not_equal: return fill<not_equal>(data, count, value, mask);
    case nan: return fill<nan>(data, count, value, mask);
    case number: return fill<number>(data, count, value, mask);
    case all: return fill<all>(data, count, value, mask);
    case none: return fill<none>(data, count, value, mask);
  }
}

}  // namespace

void site_mask(const std::byte* data, DType dtype, std::int64_t count, const Sites& sites, std::uint8_t* mask) {
  const ElementRule rule = element_rule(dtype, sites);
  visit_dtype(rule.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto* elements = reinterpret_cast<const T*>(data);
    if constexpr (std::is_floating_point_v<T>)
      site_mask_of(elements, count, static_cast<T>(rule.value), rule.kind, mask);
    else if constexpr (std::is_signed_v<T>)
      site_mask_of(elements, count, static_cast<T>(rule.integer), rule.kind, mask);
    else if constexpr (!std::is_same_v<T, bool>)
      site_mask_of(elements, count, static_cast<T>(rule.natural), rule.kind, mask);
  });
}

}  // namespace fathom::grid::cpu
