// The octree on a device.
#pragma once

#include "published/cpu/band.h"

namespace fathom::published::cuda {

BandFound octree(const BandProblem& problem, const BandOptions& options);

}  // namespace fathom::published::cuda
