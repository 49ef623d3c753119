// Where a tile has no site near, by stretches of its rows: whether a search (volume/window.cuh) is worth while.
#pragma once

#include "grid/cuda/volume/window.cuh"

namespace fathom::grid::cuda::volume {

/// Whether a tile has sites near enough for a search to be worth while: in each stretch of so many rows.
template <int kThreads, int kStretch, int kLongest = kLongestAxis>
class NearRows {
 public:
  /// Of a thread.
  __device__ void add(int row, bool is_near) {
    if (is_near) near_ |= 1u << static_cast<unsigned>(row) / kStretch;
  }
  /// By all threads of the block, before they meet. @param of_warps  shared
  __device__ void put(unsigned* of_warps) const {
    const unsigned near = warp_or(near_);
    if (lane_id() == 0) of_warps[threadIdx.x / 32] = near;
  }
  /// Thereafter. A last stretch that is less than half as long is not asked for.
  __device__ static bool suffice(const unsigned* of_warps, int rows) { return missing(of_warps, rows) == 0; }
  /// The same if one in so many stretches may have none.
  __device__ static bool nearly_suffice(const unsigned* of_warps, int rows, int share) {
    return __popc(missing(of_warps, rows)) * share <= stretches_of(rows);
  }
  /// Whether few stretches without one lie between others of those. From the middle of several that lie together, none is
  /// near along the line, either: each of their rows would take as many steps as it is rows to the nearest other
  /// stretch. What is outside is as far.
  __device__ static bool few_lie_between(const unsigned* of_warps, int rows) {
    constexpr int kShare = 8;  // one stretch in so many is not few
    const int stretches = (rows + kStretch - 1) / kStretch;
    const unsigned far = ~near_ones(of_warps), between = far & (far << 1 | 1u) & (far >> 1 | 1u << 31);
    return __popc(between & (0xFFFFFFFFu >> (32 - stretches))) * kShare < stretches;
  }

 private:
  static_assert(kLongest / kStretch <= 32);

  static __device__ int stretches_of(int rows) { return (rows + kStretch / 2) / kStretch; }
  /// Which stretches have some, and none, in bits.
  static __device__ unsigned near_ones(const unsigned* of_warps) {
    unsigned near = 0;
#pragma unroll
    for (int w = 0; w < kThreads / 32; ++w) near |= of_warps[w];
    return near;
  }
  static __device__ unsigned missing(const unsigned* of_warps, int rows) {
    return ~near_ones(of_warps) & static_cast<unsigned>((std::uint64_t{1} << stretches_of(rows)) - 1);
  }

  unsigned near_ = 0;
};

/// The stretches of a line that is searched along z, from its words before its rows are filled.
template <int kThreads>
using StretchesAlongZ = NearRows<kThreads, longest_line(kThreads) / 32, longest_line(kThreads)>;

template <class Word, class Rows = WindowRows<Word>>
using GapWindow = Window<Word, Rows>;

}  // namespace fathom::grid::cuda::volume
