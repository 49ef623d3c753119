// Borders of sites and the maximum distance of float distances that are there already.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "grid/cuda/engine.h"

namespace fathom::grid::cuda {

/// Of float distances (is_float_field()), the items from `first_item` on.
void clamp_items(const Problem& p, const Batch& batch, std::int64_t first_item, std::int64_t items,
                 cudaStream_t stream);

}  // namespace fathom::grid::cuda
