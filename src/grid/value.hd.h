// The numbers that decide: squared distances (Euclidean) or distances (taxicab, chessboard), in units of which all
// spacings are multiples where there is one, else in the caller's.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "core/root.hd.h"

namespace fathom::grid {

enum class ValueKind : std::uint8_t { i32, i64, f64 };

/// "No site": stays the largest value under ⊕ without overflow.
template <class V>
FATHOM_HD constexpr V no_value() {
  if constexpr (std::is_floating_point_v<V>) return __builtin_inf();
  else return V{1} << (sizeof(V) == 4 ? 30 : 62);
}

/// Larger than any value that occurs, and less than no_value(): a search without a limit is capped by it.
template <class V>
FATHOM_HD constexpr V no_cap() {
  if constexpr (std::is_floating_point_v<V>) return __DBL_MAX__;
  else return no_value<V>() - 1;
}

/// Value of a straight way of some steps along an axis.
template <class V>
struct AxisCost {
  bool euclidean = true;
  V weight = 1;  ///< spacing² or spacing; for integers, in units

  FATHOM_HD V operator()(std::int64_t steps) const {
    const V v = static_cast<V>(steps);
    return euclidean ? static_cast<V>(weight * (v * v)) : static_cast<V>(weight * v);
  }
};

/// Distance in double, in the caller's units.
template <class V>
FATHOM_HD double distance_of(V value, bool euclidean, double unit) {
  if (value >= no_value<V>()) return no_value<double>();
  if constexpr (std::is_floating_point_v<V>) return euclidean ? std::sqrt(value) : value;
  else if (euclidean) return exact_sqrt(static_cast<std::uint64_t>(value)) * unit;
  else return static_cast<double>(value) * unit;
}

/// Distance where the root is rounded once to the output's type: through double, the root of a square beyond 2⁵³ would
/// be rounded twice.
template <class Out, class V>
FATHOM_HD Out scaled_distance_of(V squared, double unit) {
  if (squared >= no_value<V>()) return static_cast<Out>(no_value<double>());
  return scaled_distance<Out>(static_cast<std::uint64_t>(squared), unit);
}

}  // namespace fathom::grid
