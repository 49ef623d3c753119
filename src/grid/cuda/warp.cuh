// What the lanes of a warp do together (core/cuda/warp.cuh), under the room's names.
#pragma once

#include "core/cuda/warp.cuh"

namespace fathom::grid::cuda {

using fathom::cuda::kAllLanes;
using fathom::cuda::lane_id;
using fathom::cuda::lane_of;
using fathom::cuda::lanes_before;
using fathom::cuda::warp_max;
using fathom::cuda::warp_min;
using fathom::cuda::warp_or;
using fathom::cuda::warp_sum;

}  // namespace fathom::grid::cuda
