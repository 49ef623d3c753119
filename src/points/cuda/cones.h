// Cones of queries that are on the device.
#pragma once

#include <cuda_runtime_api.h>

#include "points/request.h"

namespace fathom::points::cuda {

/// Writes the cone of each query, in the stream's order.
/// @param cones  in the device's memory
void make_cones(const Cones& cones, std::int64_t queries, ConeOfQuery* out, cudaStream_t stream);

}  // namespace fathom::points::cuda
