// The ways to answer queries on the device.
#pragma once

#include <cuda_runtime_api.h>

#include "points/cuda/device_request.h"

namespace fathom::points::cuda {

/// Bytes of device memory that search() uses.
std::size_t search_scratch_bytes(std::int64_t queries);

/// Through the tree's boxes, in the stream's order. There are queries.
/// @param scratch  search_scratch_bytes() bytes, aligned to 256
void search(const DeviceTree& tree, const DeviceRequest& request, std::byte* scratch, cudaStream_t stream);

/// Whether direct() serves. @param simple  one neighbour, no period, no cone
bool direct_serves(const DeviceTree& tree, std::int64_t queries, bool simple);

/// Bytes of device memory that direct() uses.
std::size_t direct_scratch_bytes(const DeviceTree& tree, std::int64_t queries);

/// Past every site, for sets without boxes, in the stream's order.
/// @param scratch  direct_scratch_bytes() bytes, aligned to 256
void direct(const DeviceTree& tree, const DeviceRequest& request, std::byte* scratch, cudaStream_t stream);

/// Bytes of device memory that scan() uses.
std::size_t scan_scratch_bytes(const DeviceTree& tree, std::int64_t queries, int k);

/// The same whatever is asked for. There are queries.
/// @param scratch  scan_scratch_bytes() bytes, aligned to 256
void scan(const DeviceTree& tree, const DeviceRequest& request, std::byte* scratch, cudaStream_t stream);

}  // namespace fathom::points::cuda
