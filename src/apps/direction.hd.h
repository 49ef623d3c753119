// Which way something is, as maps have it. Shared by host and device.
#pragma once

#include <cstdint>
#include <numbers>

#include "core/arctangent.hd.h"

namespace fathom::apps {

/// Degrees from north, clockwise, in (0, 360]; 0 where there is no way to go.
FATHOM_HD inline float direction_degrees(double north, double east) {
  if (north == 0 && east == 0) return 0;
  const double degrees = arctangent(east, north) * (180 / std::numbers::pi);
  return static_cast<float>(degrees > 0 ? degrees : degrees + 360);
}

/// Steps from an element to a site along an axis; across a periodic border the shorter way.
FATHOM_HD inline std::int64_t steps_to(std::int64_t from, std::int64_t to, std::int64_t extent, bool periodic) {
  const std::int64_t straight = to - from;
  if (!periodic) return straight;
  if (2 * straight > extent) return straight - extent;
  return 2 * straight <= -extent ? straight + extent : straight;
}

/// What directions on a map are measured by, [north and south, east and west].
struct Compass {
  std::int64_t extent[2];
  double spacing[2];
  bool periodic[2];

  /// From an element to its nearest site, by their row-major numbers.
  FATHOM_HD float direction(std::int64_t from, std::int64_t to) const {
    const std::int64_t width = extent[1];
    const std::int64_t south = steps_to(from / width, to / width, extent[0], periodic[0]);
    const std::int64_t east = steps_to(from % width, to % width, width, periodic[1]);
    return direction_degrees(static_cast<double>(-south) * spacing[0], static_cast<double>(east) * spacing[1]);
  }
};

}  // namespace fathom::apps
