// What the lanes of a warp do together.
#pragma once

#include <cstdint>

namespace fathom::cuda {

inline constexpr unsigned kAllLanes = 0xFFFFFFFFu;

__device__ inline int lane_id() { return static_cast<int>(threadIdx.x) % 32; }
__device__ inline unsigned lanes_before(int lane) { return (1u << lane) - 1; }

__device__ inline unsigned warp_min(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(kAllLanes, value);
#else
  for (int step = 16; step > 0; step /= 2) value = min(value, __shfl_xor_sync(kAllLanes, value, step));
  return value;
#endif
}

__device__ inline unsigned warp_max(unsigned value) { return ~warp_min(~value); }

__device__ inline int warp_sum(int value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(kAllLanes, value);
#else
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
  return value;
#endif
}

/// The bits that any lane has.
__device__ inline unsigned warp_or(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_or_sync(kAllLanes, value);
#else
  for (int step = 16; step > 0; step /= 2) value |= __shfl_xor_sync(kAllLanes, value, step);
  return value;
#endif
}

/// The first lane that holds the least value.
__device__ inline int lane_of(unsigned value, unsigned least) {
  return __ffs(static_cast<int>(__ballot_sync(kAllLanes, value == least))) - 1;
}

}  // namespace fathom::cuda
