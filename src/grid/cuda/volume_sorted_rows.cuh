// The rows of a line that have sites, in ascending order, where these are few.
#pragma once

#include "grid/cuda/volume.cuh"

namespace fathom::grid::cuda {

/// In shared memory: of a line of no more rows than the block has threads.
struct SortedRows {
  static constexpr int kShare = 8;  ///< one row in so many is few, and kFewRows are, of any
  static constexpr int kMost = kLongestKeyed / kShare, kWords = kLongestKeyed / 32;

  int count;  ///< listed
  std::uint16_t row[kMost];
  unsigned bits[kWords];         ///< of all rows
  std::uint16_t before[kWords];  ///< rows that are listed before each 32

  static __device__ bool are_few(int all, int rows) { return all <= kFewRows || all * kShare <= rows; }

  /// By all threads of the block, a thread to each row. @returns how many rows have sites; if they are few, they are
  /// listed
  __device__ int find(int rows, bool has_sites) {
    const int all = __syncthreads_count(has_sites);
    if (all == 0 || !are_few(all, rows)) return all;
    const auto t = static_cast<int>(threadIdx.x), warp = t / 32;
    const unsigned own = __ballot_sync(kAllLanes, has_sites);
    if (lane_id() == 0) bits[warp] = own;
    __syncthreads();
    int first = 0;
    for (int w = 0; w < warp; ++w) first += __popc(bits[w]);
    if (lane_id() == 0) before[warp] = static_cast<std::uint16_t>(first);
    if (has_sites) row[first + __popc(own & lanes_before(lane_id()))] = static_cast<std::uint16_t>(t);
    if (t == 0) count = all;
    __syncthreads();
    return all;
  }

  /// Of sixteen rows from one on, a multiple of sixteen: those with sites, in bits, and how many there are before them.
  __device__ unsigned mask(int first) const { return bits[first / 32] >> first % 32 & 0xFFFFu; }
  __device__ unsigned place(int first) const {
    return before[first / 32] + static_cast<unsigned>(__popc(bits[first / 32] & lanes_before(first % 32)));
  }
};

}  // namespace fathom::grid::cuda
