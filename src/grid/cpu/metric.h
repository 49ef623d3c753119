// What the general engine computes with: squared distances (Euclidean) or distances (taxicab, chessboard), in units of which
// all spacings are multiples where there is one, else in the caller's.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "grid/cpu/column_pass.h"
#include "grid/problem.h"

namespace fathom::grid::cpu {

/// The type that holds all values of the problem exactly (f64: correctly rounded sums).
ValueKind value_kind(const Problem& problem);

/// Value of a straight way of `steps` elements along an axis.
template <class V>
struct AxisCost {
  bool euclidean = true;
  V weight = 1;  ///< spacing² or spacing; for integers, in units

  AxisCost() = default;
  AxisCost(const Problem& problem, int axis) : euclidean(problem.metric == Metric::euclidean) {
    const auto k = static_cast<std::size_t>(axis);
    const V s =
        static_cast<V>(std::is_floating_point_v<V> ? problem.spacing[k] : static_cast<double>(problem.multiple[k]));
    weight = euclidean ? s * s : s;
  }

  V operator()(std::int64_t steps) const {
    const V v = static_cast<V>(steps);
    return euclidean ? static_cast<V>(weight * (v * v)) : static_cast<V>(weight * v);
  }
};

/// Largest value that the maximum distance keeps; no_cap() without a maximum.
template <class V>
V largest_kept(const Problem& problem);

/// The least value that is not kept.
template <class V>
V cap_above(V kept) {
  if (kept >= no_cap<V>()) return no_cap<V>();
  if constexpr (std::is_floating_point_v<V>) return std::nextafter(kept, no_value<V>());
  else return kept + 1;
}

}  // namespace fathom::grid::cpu
