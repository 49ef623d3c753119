// From a problem's metric, spacing and maximum distance to the numbers that decide.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "grid/chessboard_nearest.hd.h"
#include "grid/problem.h"
#include "grid/value.hd.h"

namespace fathom::grid {

inline constexpr int kStepsBeyond = 24;  ///< how far beyond the ends of a line an engine may look

/// The type that holds all values of the problem exactly (f64: correctly rounded sums).
ValueKind value_kind(const Problem& problem);

/// Calls visitor(TypeTag<V>{}) with it.
template <class Visitor>
auto with_value_type(const Problem& problem, Visitor&& visitor) {
  switch (value_kind(problem)) {
    case ValueKind::i32: return visitor(TypeTag<std::int32_t>{});
    case ValueKind::i64: return visitor(TypeTag<std::int64_t>{});
    case ValueKind::f64: break;
  }
  return visitor(TypeTag<double>{});
}

template <class V>
AxisCost<V> axis_cost(const Problem& problem, int axis) {
  AxisCost<V> cost{.euclidean = problem.metric == Metric::euclidean};
  const auto k = static_cast<std::size_t>(axis);
  const auto multiple = static_cast<double>(problem.multiple[k]);
  const V s = static_cast<V>(std::is_floating_point_v<V> ? problem.spacing[k] : multiple);
  cost.weight = cost.euclidean ? s * s : s;
  return cost;
}

template <class V>
ChessboardBoxes<V, kMaxSpaceRank> chessboard_boxes(const Problem& problem) {
  ChessboardBoxes<V, kMaxSpaceRank> boxes{.rank = problem.rank};
  for (int k = 0; k < problem.rank; ++k) {
    const auto axis = static_cast<std::size_t>(k);
    boxes.extent[k] = problem.extent(k);
    boxes.index_step[k] = problem.index_step[axis];
    boxes.cost[k] = axis_cost<V>(problem, k);
    boxes.periodic[k] = problem.border[axis] == Border::periodic;
  }
  return boxes;
}

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

}  // namespace fathom::grid
