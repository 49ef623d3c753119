// Builds the tree over a cloud's sites on the device.
#pragma once

#include <cuda_runtime_api.h>

#include "points/cuda/device_tree.h"

namespace fathom::points::cuda {

struct Extent {
  Box box;
  bool whole = false;  ///< all coordinates are whole numbers up to 2²⁴
};

/// Of a cloud that is not empty and in the device's memory; waits for it.
/// @throws InvalidArgument a site's coordinate is not finite, or beyond kLargestCoordinate
Extent extent_of(const Cloud& sites, cudaStream_t stream);

/// A tree without memory over sites in the device's memory, which are not empty unless the storage is plain.
DeviceTree make_tree(const Cloud& sites, const Extent& extent, Storage storage);

/// Bytes of device memory that a tree keeps; with a base, its arrays are cut from there.
std::size_t place_tree(DeviceTree& tree, Storage storage, std::byte* base);

/// Bytes of device memory that fill_tree() uses.
std::size_t fill_scratch_bytes(const DeviceTree& tree, Storage storage);

/// Fills the arrays of a tree with boxes, in the stream's order.
/// @param sites    that the tree is over
/// @param ids      of the sites where they are not their indices in the caller's array, in the device's memory; else null
/// @param scratch  fill_scratch_bytes() bytes, aligned to 256
void fill_tree(const DeviceTree& tree, const Cloud& sites, const std::uint32_t* ids, std::byte* scratch,
               cudaStream_t stream);

/// Whether the boxes of the leaves leave anything out (points/cpu/build.cpp); waits for it.
bool boxes_divide(const DeviceTree& tree, cudaStream_t stream);

}  // namespace fathom::points::cuda
