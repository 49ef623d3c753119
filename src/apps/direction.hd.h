// Which way something is, as maps have it. Shared by host and device.
#pragma once

#include <cmath>
#include <numbers>

#include "core/root.hd.h"

namespace fathom::apps {

/// Degrees from north, clockwise, in (0, 360]; 0 where there is no way to go.
FATHOM_HD inline float direction_degrees(double north, double east) {
  if (north == 0 && east == 0) return 0;
  const double degrees = std::atan2(east, north) * (180 / std::numbers::pi);
  return static_cast<float>(degrees > 0 ? degrees : degrees + 360);
}

}  // namespace fathom::apps
