// Whether tensor cores give exact squared distances between small whole numbers.
#pragma once

#include <cuda_runtime_api.h>

#include "points/cuda/device_tree.h"

namespace fathom::points::cuda {

/// Whether the sites are such numbers.
bool products_serve(const DeviceTree& tree);

/// Tries it on the current device; waits for the answer.
bool products_are_exact(cudaStream_t stream);

}  // namespace fathom::points::cuda
