// The rows of a line that have sites, in ascending order, where these are few.
#pragma once

#include "grid/cuda/volume/volume.cuh"

namespace fathom::grid::cuda::volume {

/// In shared memory.
struct SortedRows {
  static constexpr int kShare = 8;  ///< one row in so many is few, and kFewRows are, of any
  static constexpr int kMost = kLongestKeyed / kShare, kWords = kLongestKeyed / 32;

  int count;  ///< listed
  std::uint16_t row[kMost];
  unsigned bits[kWords];         ///< of all rows
  std::uint16_t before[kWords];  ///< rows that are listed before each 32

  static __device__ bool are_few(int all, int rows) { return all <= kFewRows || all * kShare <= rows; }

  /// By all threads of the block. @param has_sites  has_sites(row)
  /// @returns how many rows have sites; if they are few, they are listed
  template <int kThreads, int kMostRows, class HasSites>
  __device__ int find(int rows, HasSites&& has_sites) {
    static_assert(kMostRows % kThreads == 0 && kMostRows <= kLongestKeyed);
    constexpr int kRounds = kMostRows / kThreads;
    const auto t = static_cast<int>(threadIdx.x);
    bool own[kRounds];
#pragma unroll
    for (int k = 0; k < kRounds; ++k) {
      const int r = t + k * kThreads;
      own[k] = r < rows && has_sites(r);
    }
    int all = 0;
#pragma unroll
    for (int k = 0; k < kRounds; ++k) all += __syncthreads_count(own[k]);
    if (all == 0 || !are_few(all, rows)) return all;
#pragma unroll
    for (int k = 0; k < kRounds; ++k) {
      const unsigned of_warp = __ballot_sync(kAllLanes, own[k]);
      if (lane_id() == 0) bits[(t + k * kThreads) / 32] = of_warp;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kRounds; ++k) {
      const int r = t + k * kThreads;
      int first = 0;
      for (int w = 0; w < r / 32; ++w) first += __popc(bits[w]);
      if (lane_id() == 0) before[r / 32] = static_cast<std::uint16_t>(first);
      if (own[k]) row[first + __popc(bits[r / 32] & lanes_before(lane_id()))] = static_cast<std::uint16_t>(r);
    }
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

}  // namespace fathom::grid::cuda::volume
