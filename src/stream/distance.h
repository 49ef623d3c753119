// Distances within a bound, as the room grid is asked for them.
#pragma once

#include "fathom/grid/distance.h"
#include "fathom/stream/nodes.h"

namespace fathom::stream {

/// @param unit  size of a pixel
/// @param region  of the mask: for which distances are wanted
grid::DistanceOptions grid_options(const DistanceOptions& wanted, double unit, const Rectangle& region);

}  // namespace fathom::stream
