// Boxes of a tree's nodes: a warp for each node, which the lanes find together.
#pragma once

#include "points/cuda/device_tree.h"
#include "points/cuda/lane_list.cuh"
#include "points/cuda/tuning.h"

namespace fathom::points::cuda {

template <class T>
__device__ T warp_lowest(T value) {
  for (int step = 16; step > 0; step /= 2) value = smaller(value, from_lane(value, lane_id() ^ step));
  return value;
}
template <class T>
__device__ T warp_highest(T value) {
  for (int step = 16; step > 0; step /= 2) value = larger(value, from_lane(value, lane_id() ^ step));
  return value;
}

template <class T>
__device__ T* box_at(const DeviceLevel& level, int axes, std::int64_t node) {
  return static_cast<T*>(level.boxes) + node / kLanes * (2 * axes * kLanes) + node % kLanes;
}

/// Writes a node's box along an axis from what the lanes hold.
template <class T>
__device__ void put_bounds(T* box, int axis, T low, T high) {
  low = warp_lowest(low);
  high = warp_highest(high);
  if (lane_id() != 0) return;
  box[2 * axis * kLanes] = low;
  box[(2 * axis + 1) * kLanes] = high;
}

/// The warp's number, of which `count` have work.
__device__ inline bool is_at_work(std::int64_t count, std::int64_t& number) {
  number = (std::int64_t{blockIdx.x} * kBuildBlock + threadIdx.x) / 32;
  return number < count;
}

inline unsigned blocks_of(std::int64_t threads) {
  return static_cast<unsigned>((threads + kBuildBlock - 1) / kBuildBlock);
}

}  // namespace fathom::points::cuda
