// The octree on a device.
#pragma once

#include "fathom/published/band.h"
#include "published/band_found.h"

namespace fathom::published::cuda {

BandFound octree(const BandProblem& problem, const BandOptions& options, int threads);

}  // namespace fathom::published::cuda
