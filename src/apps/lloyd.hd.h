// Where a site goes. Shared by host and device.
#pragma once

#include <cstdint>

#include "core/root.hd.h"

namespace fathom::apps {

/// The element of the grid that a real position lies in, along an axis of `extent` elements as fine.
FATHOM_HD inline std::int32_t element_of(double position, int supersample, std::int64_t extent) {
  const double place = std::floor((position + 0.5) * supersample);
  const auto last = static_cast<double>(extent - 1);
  return static_cast<std::int32_t>(place < 0 ? 0 : place > last ? last : place);
}

/// The position of a centroid: so far from the middle of the site's element of the finer grid.
FATHOM_HD inline double centroid_of(std::int32_t element, std::int64_t first, std::int64_t mass, int supersample) {
  const double fine = static_cast<double>(element) + static_cast<double>(first) / static_cast<double>(mass);
  return (fine + 0.5) / supersample - 0.5;
}

/// first / mass rounded to the nearest integer, a half to the nearer to 0: a site stays where no element is better.
FATHOM_HD inline std::int64_t rounded_step(std::int64_t first, std::int64_t mass) {
  const std::int64_t size = ((first < 0 ? -first : first) * 2 + mass - 1) / (2 * mass);
  return first < 0 ? -size : size;
}

}  // namespace fathom::apps
