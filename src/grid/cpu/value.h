// The number types of the general engine.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace fathom::grid::cpu {

enum class ValueKind : std::uint8_t { i32, i64, f64 };

/// Linear indices: 32 bits where they suffice, which is one of the conditions for 32-bit values, see value_kind().
template <class V>
using IndexOf = std::conditional_t<std::is_same_v<V, std::int32_t>, std::int32_t, std::int64_t>;

/// "No site": stays the largest value under ⊕ without overflow.
template <class V>
constexpr V no_value();
template <>
constexpr std::int32_t no_value() {
  return std::int32_t{1} << 30;
}
template <>
constexpr std::int64_t no_value() {
  return std::int64_t{1} << 62;
}
template <>
constexpr double no_value() {
  return __builtin_inf();
}

/// Larger than any value that occurs, and less than no_value(): a search without a limit is capped by it.
template <class V>
constexpr V no_cap() {
  if constexpr (std::is_floating_point_v<V>) return std::numeric_limits<V>::max();
  else return no_value<V>() - 1;
}

}  // namespace fathom::grid::cpu
