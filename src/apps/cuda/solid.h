// Which voxels of a volume in a device's memory are solid.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/solid.h"

namespace fathom::apps::cuda {

/// Words as Solid has them, and what there is in each row.
/// @param mask  dense, not 0 where a voxel is solid
void pack_solid(const std::uint8_t* mask, const std::array<std::int32_t, 3>& extents, std::uint64_t* words,
                SolidRow* rows, cudaStream_t stream);

}  // namespace fathom::apps::cuda
