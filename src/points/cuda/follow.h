// Leaves of a tree of the host on their way to the same places on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <span>

#include "points/cuda/device_tree.h"

namespace fathom::points::cuda {

/// A tree without memory and extent that has the places of one of the host's, which is not empty.
DeviceTree make_tree(const Tree& tree);

/// Copies leaves and makes all boxes true again; waits until that is done.
/// @param leaves  that changed, ascending
void put_leaves(const DeviceTree& tree, const Tree& from, std::span<const std::uint32_t> leaves, cudaStream_t stream);

}  // namespace fathom::points::cuda
