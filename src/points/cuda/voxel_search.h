// Queries against voxels on the device.
#pragma once

#include <cuda_runtime_api.h>

#include "points/cuda/device_pyramid.h"
#include "points/cuda/device_request.h"

namespace fathom::points::cuda {

/// Bytes of device memory that it takes to put a request's queries in order; 0: they are not worth it.
std::size_t voxel_order_bytes(const Request& request);

/// In the stream's order. There are queries.
/// @param for_order  voxel_order_bytes() bytes, aligned to 256; null: the queries are taken as they come
void search_voxels(const DevicePyramid& pyramid, const DeviceRequest& request, std::byte* for_order,
                   cudaStream_t stream);

}  // namespace fathom::points::cuda
