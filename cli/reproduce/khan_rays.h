// Rays whose steps are as long as the distance to what is solid allows: figures 8 and 9 of Khan & Zahran.
#pragma once

#include "reproduce/study.h"

namespace fathom::cli {

/// Samples of rays by distances in all directions and in cones.
/// @param part  of the scan's voxels along each axis
/// @param rays  along each side of the picture
Outcome measure_rays(const Machine& machine, double part, int rays);

/// How much longer a map takes that looks in cones.
Outcome measure_cones(const Machine& machine, std::int64_t sites);

}  // namespace fathom::cli
