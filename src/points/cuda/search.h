// The ways to answer queries on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <span>

#include "points/cuda/device_request.h"

namespace fathom::points::cuda {

/// Bytes of device memory that search() uses where there is so much room; more than that, where it needs more.
std::size_t search_scratch_bytes(const DeviceTree& tree, const Request& request, std::size_t room);

/// Through the tree's boxes, in the stream's order. There are queries.
/// @param scratch  search_scratch_bytes() bytes or more, aligned to 256
void search(const DeviceTree& tree, const DeviceRequest& request, std::span<std::byte> scratch, cudaStream_t stream);

/// The same whatever is asked for, by each metric.
void search_generally(const DeviceTree& tree, const DeviceRequest& request, cudaStream_t stream);

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

/// Sites that are all at one place are told apart by their ids, of which the first k are the lowest.
inline DeviceTree without_copies(const DeviceTree& tree, int k) {
  DeviceTree result = tree;
  if (std::equal(tree.low, tree.low + tree.axes, tree.high)) result.count = std::min<std::int64_t>(tree.count, k);
  return result;
}

/// Bytes of device memory that pass() uses.
inline std::size_t pass_scratch_bytes(const DeviceTree& all, const Request& request) {
  const DeviceTree tree = without_copies(all, request.k);
  const std::int64_t queries = request.queries.count;
  if (queries == 0) return 0;
  return direct_serves(tree, queries, request.simple()) ? direct_scratch_bytes(tree, queries)
                                                        : scan_scratch_bytes(tree, queries, request.k);
}

/// direct() where it serves, else scan(). There are queries.
inline void pass(const DeviceTree& all, const DeviceRequest& request, std::byte* scratch, cudaStream_t stream) {
  const DeviceTree tree = without_copies(all, request.k);
  direct_serves(tree, request.queries.count, request.simple) ? direct(tree, request, scratch, stream)
                                                             : scan(tree, request, scratch, stream);
}

}  // namespace fathom::points::cuda
