// What the front hands to an algorithm.
#pragma once

#include <cstdint>

#include "fathom/published/distance.h"
#include "published/phases.h"
#include "published/places.hd.h"

namespace fathom::published {

struct Problem {
  Places places;
  const std::uint8_t* mask = nullptr;  ///< dense: 1 is a site
  std::uint32_t* nearest = nullptr;    ///< dense, to be written: place of the site that was found for each element
  const DistanceOptions& options;
  int threads = 1;

  bool is_volume() const { return places.bits != 15; }
};

}  // namespace fathom::published
