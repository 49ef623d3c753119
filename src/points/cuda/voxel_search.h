// Queries against voxels on the device.
#pragma once

#include <cuda_runtime_api.h>

#include "points/cuda/device_pyramid.h"
#include "points/cuda/device_request.h"

namespace fathom::points::cuda {

/// In the stream's order. There are queries.
void search_voxels(const DevicePyramid& pyramid, const DeviceRequest& request, cudaStream_t stream);

}  // namespace fathom::points::cuda
