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
/// @throws InvalidArgument a site's coordinate is not sound
Extent extent_of(const Cloud& sites, cudaStream_t stream);

/// A tree without memory and extent over sites in the device's memory, which are not empty unless the storage is plain.
DeviceTree make_tree(const Cloud& sites, Storage storage);

void set_extent(DeviceTree& tree, const Extent& extent);

/// Bytes of device memory that a tree keeps; with a base, its arrays are cut from there.
std::size_t place_tree(DeviceTree& tree, Storage storage, std::byte* base);

/// Bytes of device memory that sort_tree() uses.
std::size_t sort_scratch_bytes(const DeviceTree& tree);

/// Fills a tree of sorted sites, whose extent is set, in the stream's order.
/// @param sites    that the tree is over
/// @param ids      of the sites where they are not their indices in the caller's array, in the device's memory; else
///                 null
/// @param scratch  sort_scratch_bytes() bytes, aligned to 256
void sort_tree(const DeviceTree& tree, const Cloud& sites, const std::uint32_t* ids, std::byte* scratch,
               cudaStream_t stream);

/// Fills the levels above the leaves.
void box_levels(const DeviceTree& tree, cudaStream_t stream);

/// What boxes tell of sites in the caller's order.
struct Boxed {
  Extent extent;
  bool divide;  ///< the boxes of the leaves leave something out (points/cpu/build.cpp)
};

/// Fills a tree with boxes of sites in the caller's order; waits for it.
/// @throws InvalidArgument as extent_of()
Boxed box_tree(const DeviceTree& tree, cudaStream_t stream);

}  // namespace fathom::points::cuda
