#include "grid/metric.h"

#include <algorithm>

#include "grid/limits.h"

namespace fathom::grid {

namespace {

/// Largest number of steps that is kept in a metric whose values are distances.
std::uint64_t step_limit(double max_distance, double unit) {
  const double ratio = max_distance / unit;
  constexpr double kBeyond = 4e18;
  if (!(ratio < kBeyond)) return UINT64_MAX;
  auto steps = static_cast<std::uint64_t>(std::floor(ratio));
  while (steps > 0 && static_cast<double>(steps) * unit > max_distance) --steps;
  while (static_cast<double>(steps + 1) * unit <= max_distance && steps < (std::uint64_t{1} << 52)) ++steps;
  return steps;
}

/// Largest square whose root is kept.
double square_limit(double max_distance) {
  if (std::isinf(max_distance)) return max_distance;
  double square = max_distance * max_distance;
  while (std::sqrt(square) > max_distance) square = std::nextafter(square, 0.0);
  while (!std::isinf(square) && std::sqrt(std::nextafter(square, no_value<double>())) <= max_distance)
    square = std::nextafter(square, no_value<double>());
  return square;
}

/// Whether linear indices fit in 32 bits, or none are wanted; counted in rows of whole strips, which scratch is.
bool indices_fit(const Problem& problem) {
  if (!problem.outputs.nearest.present() && !problem.outputs.coordinates.present()) return true;
  constexpr std::int64_t kStrip = 32;
  std::int64_t elements = (problem.extent(problem.rank - 1) + kStrip - 1) / kStrip * kStrip;
  for (int k = 0; k + 1 < problem.rank; ++k) elements *= problem.extent(k);
  return elements <= INT32_MAX;
}

}  // namespace

ValueKind value_kind(const Problem& problem) {
  if (!problem.integral) return ValueKind::f64;
  std::uint64_t largest = 0;
  for (int k = 0; k < problem.rank; ++k) {
    // The search reads costs of lines longer than the extent: padding, and a period's half on either side.
    const bool periodic = problem.border[static_cast<std::size_t>(k)] == Border::periodic;
    const auto steps = static_cast<std::uint64_t>((problem.extent(k) * (periodic ? 2 : 1) + kStepsBeyond) *
                                                  problem.multiple[static_cast<std::size_t>(k)]);
    largest += problem.metric == Metric::euclidean ? steps * steps : steps;
  }
  return largest < static_cast<std::uint64_t>(no_value<std::int32_t>()) && indices_fit(problem) ? ValueKind::i32
                                                                                                : ValueKind::i64;
}

template <class V>
V largest_kept(const Problem& problem) {
  const bool euclidean = problem.metric == Metric::euclidean;
  if constexpr (std::is_floating_point_v<V>) {
    return std::min(euclidean ? square_limit(problem.max_distance) : problem.max_distance, no_cap<V>());
  } else {
    const std::uint64_t limit =
        euclidean ? squared_limit(problem.max_distance, problem.unit) : step_limit(problem.max_distance, problem.unit);
    return static_cast<V>(std::min(limit, static_cast<std::uint64_t>(no_cap<V>())));
  }
}

template std::int32_t largest_kept<std::int32_t>(const Problem&);
template std::int64_t largest_kept<std::int64_t>(const Problem&);
template double largest_kept<double>(const Problem&);

}  // namespace fathom::grid
