#include "grid/limits.h"

#include <algorithm>
#include <cmath>

#include "core/root.hd.h"

namespace fathom::grid {

std::int64_t reach(const Problem& problem, int axis) {
  const std::int64_t n = problem.extent(axis);
  return problem.border[static_cast<std::size_t>(axis)] == Border::periodic ? n / 2 : std::max<std::int64_t>(n - 1, 0);
}

std::uint64_t largest_squared(const Problem& problem) {
  std::uint64_t sum = 0;
  for (int k = 0; k < problem.rank; ++k) {
    const auto r = static_cast<std::uint64_t>(reach(problem, k));
    sum += r * r;
  }
  return std::min(sum, squared_limit(problem.max_distance, problem.unit));
}

std::uint64_t squared_limit(double max_distance, double unit) {
  const double ratio = max_distance / unit;
  constexpr double kBeyond = 4e9;  // its square is more than any shape can reach
  if (!(ratio < kBeyond)) return UINT64_MAX;
  // The quotient's rounding may be off by a little either way: start below, and walk up to the last that is kept.
  const double below = std::floor(ratio * ratio * (1 - 1e-15)) - 1;
  auto d2 = below > 0 ? static_cast<std::uint64_t>(below) : 0;
  while (exact_sqrt(d2 + 1) * unit <= max_distance) ++d2;
  return d2;
}

}  // namespace fathom::grid
