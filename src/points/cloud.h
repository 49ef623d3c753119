// Clouds of the points that callers give, and which coordinates can be counted with.
#pragma once

#include <cstdint>

#include "core/cloud.h"
#include "fathom/points/coordinates.h"

namespace fathom::points {

/// Real coordinates with differences that float64 can square: beyond the largest it cannot sum the squares; and doubles
/// that are 0 or not below the smallest differ by at least 2⁻⁵¹¹, whose square is its least with all digits.
inline constexpr double kLargestCoordinate = 1e150, kSmallestCoordinate = 1e-138;
FATHOM_HD inline bool is_sound(double x) {
  const double magnitude = x < 0 ? -x : x;
  return magnitude <= kLargestCoordinate && (magnitude >= kSmallestCoordinate || magnitude == 0);
}

/// Cloud `cloud` of the caller's points, every `every`-th of them.
inline Cloud cloud_of(const CoordinateLayout& points, std::int64_t cloud, std::int64_t every = 1) {
  Cloud result{points.dtype(), points.axes(), (points.count() + every - 1) / every, every, {}, {}};
  for (int k = 0; k < points.axes(); ++k) {
    const Coordinates::Axis& axis = points.axis(k);
    const auto offset = cloud * axis.cloud_step * static_cast<std::int64_t>(size_of(axis.dtype));
    result.data[k] = axis.data + offset;
    result.step[k] = axis.step * every;
  }
  return result;
}

}  // namespace fathom::points
