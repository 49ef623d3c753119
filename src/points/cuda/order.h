// Points in the order of a Hilbert curve, on the device.
#pragma once

#include <cuda_runtime_api.h>

#include "points/cuda/device_tree.h"

namespace fathom::points::cuda {

/// Cubes that fill a box, so many along its longest side.
struct CurveGrid {
  double origin[3];
  double scale;

  static CurveGrid of(const DeviceTree& tree, int key_bits);
};

/// Bytes of device memory that curve_order() uses, its result with them.
std::size_t curve_order_bytes(std::int64_t count);

/// Indices of a cloud's points, 1 to 2³² of them, along a curve through the tree's box, in the stream's order.
/// Points outside of it are taken for the nearest inside, and those that 36 bits do not tell apart are in any order.
/// @param scratch  curve_order_bytes() bytes, aligned to 256
const std::uint32_t* curve_order(const DeviceTree& tree, const Cloud& points, std::byte* scratch, cudaStream_t stream);

/// Bytes of device memory that fine_order() uses, its result with them.
std::size_t fine_order_bytes(std::int64_t count);

/// The same, by 24 bits where a sample of many points says that these tell most of them apart, else by 32; by 60 where
/// these leave many points in cells with more than a leaf of them; waits to know that.
/// @param scratch  fine_order_bytes() bytes, aligned to 256
const std::uint32_t* fine_order(const DeviceTree& tree, const Cloud& points, std::byte* scratch, cudaStream_t stream);

}  // namespace fathom::points::cuda
