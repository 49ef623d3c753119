// The numbers that decide: squared distances between points, and from a point to a box, which bound them from below.
// Shared by host and device: same bits everywhere. By another metric than the Euclidean the distance itself decides,
// and stands wherever the searches say squared.
//
// Each step rounds monotonically, and the bound takes the same steps as the distance, from differences that are no
// larger. So bound ≤ distance holds for the rounded numbers too, and no search needs a margin.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "core/root.hd.h"
#include "fathom/points/metric.h"

namespace fathom::points {

/// Squares that 2⁵³ does not hold are summed in 128 bits; all others, and those of real coordinates, in double.
template <class Value>
using Difference = std::conditional_t<std::is_same_v<Value, double>, double, std::int64_t>;

template <class Value>
FATHOM_HD Value square(Difference<Value> x) {
  if constexpr (std::is_same_v<Value, double>) {
    return x * x;
  } else {
    const auto magnitude = static_cast<std::uint64_t>(x < 0 ? -x : x);
    return static_cast<Value>(magnitude) * magnitude;
  }
}

template <class T>
FATHOM_HD T larger(T a, T b) {
  return a < b ? b : a;
}
template <class T>
FATHOM_HD T smaller(T a, T b) {
  return b < a ? b : a;
}

/// What decides, with the way along one more axis; at first `sum` is 0.
template <Metric kMetric, class Value>
FATHOM_HD Value with_way(Value sum, Difference<Value> way) {
  if constexpr (kMetric == Metric::euclidean) return sum + square<Value>(way);
  else if constexpr (kMetric == Metric::taxicab) return sum + way;
  else return larger(sum, way);
}

/// Calls visitor(std::integral_constant<Metric, metric>{}).
template <class Visitor>
decltype(auto) visit_metric(Metric metric, Visitor&& visitor) {
  switch (metric) {
    case Metric::taxicab: return visitor(std::integral_constant<Metric, Metric::taxicab>{});
    case Metric::chessboard: return visitor(std::integral_constant<Metric, Metric::chessboard>{});
    default: return visitor(std::integral_constant<Metric, Metric::euclidean>{});
  }
}

/// Brought into [0, period); `period` 0: left as it is.
FATHOM_HD inline double into_period(double x, double period) {
  if (!(period > 0)) return x;
  x = std::fmod(x, period);  // exact
  if (x < 0) x += period;
  return x >= period ? 0 : x;  // the sum may have been rounded up
}

/// Length of the way along one axis; `period` 0: the axis is open. Both ends of a periodic axis lie in [0, period).
template <class T>
FATHOM_HD T way(T q, T s, T period) {
  const T straight = q < s ? s - q : q - s;
  return period > T{0} ? smaller(straight, static_cast<T>(period - straight)) : straight;
}

/// The shortest way along one axis to any coordinate in [low, high].
template <class T>
FATHOM_HD T way_to_interval(T q, T low, T high, T period) {
  const T straight = larger(low - q, q - high);
  if (straight <= T{0}) return T{0};
  if (!(period > T{0})) return straight;
  return larger(T{0}, smaller(straight, static_cast<T>(period - larger(high - q, q - low))));
}

}  // namespace fathom::points
