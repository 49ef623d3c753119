// How large distances of a problem can get, and which are kept.
#pragma once

#include <cstdint>

#include "grid/problem.h"

namespace fathom::grid {

inline constexpr std::int64_t kLargestExtent = (std::int64_t{1} << 30) - 64;
inline constexpr double kLeastSpacing = 1e-100;
inline constexpr double kLargestSpacing = 1e100;

/// Steps along an axis to the farthest element that can be nearest: all of them, or half a period.
std::int64_t reach(const Problem& problem, int axis);

/// Upper bound of the squared unit distances that can occur and are kept: from the extents, and the maximum distance.
std::uint64_t largest_squared(const Problem& problem);

/// Largest squared unit distance d2 with √d2 · unit ≤ max_distance in double; UINT64_MAX without a maximum.
std::uint64_t squared_limit(double max_distance, double unit);

}  // namespace fathom::grid
