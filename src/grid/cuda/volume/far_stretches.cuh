// Whether a search along z would be long, told from a tile's words before its rows are filled.
//
// Where several stretches of rows without a site near along x lie together, none is near along z, either, and each of
// their rows would take as many steps as it is rows to the nearest other stretch. As soon as such rows are a part of
// the tile, the envelope is faster, and ranges of rows are before.
#pragma once

#include "grid/cuda/volume/window.cuh"

namespace fathom::grid::cuda::volume {

/// Of masks: which stretches of a tile's rows have no site near along x, in bits.
template <int kThreads>
class FarStretches {
 public:
  /// Whether lines are so short that ranges of rows (volume/ranges.cuh) mostly reach far enough.
  static __device__ bool are_short(int rows) { return rows <= kRangedRows; }
  /// Steps along x from which on a site is not near. @param of_short  the same of lines that are short
  static __device__ unsigned near_steps(int rows, int of_short) { return are_short(rows) ? of_short : 64; }
  /// Of a thread.
  __device__ void add(int row, bool is_near) {
    if (is_near) near_ |= 1u << static_cast<unsigned>(row) / kStretch;
  }
  /// By all threads of the block, before they meet. @param of_warps  shared
  __device__ void put(unsigned* of_warps) const {
    const unsigned near = warp_or(near_);
    if (lane_id() == 0) of_warps[threadIdx.x / 32] = near;
  }
  /// Thereafter: whether few of them lie between others. What is outside is as far.
  __device__ static bool are_few(const unsigned* of_warps, int rows) {
    unsigned near = 0;
#pragma unroll
    for (int w = 0; w < kThreads / 32; ++w) near |= of_warps[w];
    const unsigned far = ~near, between = far & (far << 1 | 1u) & (far >> 1 | 1u << 31);
    const int stretches = (rows + kStretch - 1) / kStretch;
    const int few = are_short(rows) ? 1 : (stretches + kShare - 1) / kShare;
    return __popc(between & (0xFFFFFFFFu >> (32 - stretches))) < few;
  }

 private:
  static constexpr int kLongest = longest_line(kThreads);
  static constexpr int kStretch = kLongest / 32;  ///< rows
  static constexpr int kShare = 8;                ///< of longer lines, one stretch in so many is not few

  unsigned near_ = 0;
};

}  // namespace fathom::grid::cuda::volume
