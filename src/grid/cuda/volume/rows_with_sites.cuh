// Which rows of a line have sites, and these rows in ascending order where they are few; and tiles of which so few have
// that each row is tried everywhere, as with a single site.
#pragma once

#include "grid/cuda/volume/volume.cuh"

namespace fathom::grid::cuda::volume {

/// In shared memory.
struct SortedRows {
  static constexpr int kShare = 8;  ///< one row in so many is few, and kFewRows are, of any

  unsigned filled[kLongestAxis / 32];  ///< which rows have sites, in bits
  int count;                           ///< listed
  std::uint16_t row[kLongestKeyed / kShare];

  /// By all threads of the block. @param has_sites  has_sites(row)
  /// @returns how many rows have sites; if they are few, they are listed
  template <class HasSites>
  __device__ int find(int rows, HasSites&& has_sites) {
    const auto threads = static_cast<int>(blockDim.x);
    int all = 0;
    for (int first = 0; first < rows; first += threads) {
      const int r = first + thread();
      const bool has = r < rows && has_sites(r);
      const unsigned word = __ballot_sync(kAllLanes, has);
      if (lane_id() == 0) filled[r / 32] = word;
      all += __syncthreads_count(has);
    }
    if (all > kFewRows && all * kShare > min(rows, kLongestKeyed)) return all;
    for (int r = thread(); r < rows; r += threads) {
      if (!(filled[r / 32] >> r % 32 & 1)) continue;
      int before = __popc(filled[r / 32] & lanes_before(r % 32));
      for (int w = 0; w < r / 32; ++w) before += __popc(filled[w]);
      row[before] = static_cast<std::uint16_t>(r);
    }
    if (thread() == 0) count = all;
    __syncthreads();
    return all;
  }
};

/// A tile's squares from at most kFewRows rows that have sites, or from none. By all threads: warp = kTogether rows,
/// lane = column. Cost: three operations for each element and row with sites.
///
/// @param square_of  of the lane's column in such a row: square_of(row). All are read before any result is stored
/// @param store      store(first row, squares, how many)
template <int kTogether, class SquareOf, class Store>
__device__ void solve_few_rows(const SortedRows& filled, int rows, SquareOf&& square_of, Store&& store) {
  int row[kFewRows];
  unsigned square[kFewRows];
#pragma unroll
  for (int k = 0; k < kFewRows; ++k) {
    row[k] = k < filled.count ? filled.row[k] : 0;
    square[k] = k < filled.count ? square_of(row[k]) : kNone32;
  }
  __syncthreads();
  const auto threads = static_cast<int>(blockDim.x);
  for (int r = thread() / 32 * kTogether; r < rows; r += threads / 32 * kTogether) {
    unsigned best[kTogether];
#pragma unroll
    for (int j = 0; j < kTogether; ++j) {
      best[j] = kNone32;
#pragma unroll
      for (int k = 0; k < kFewRows; ++k)  // without a question for each: those that are not there are kNone32 away
        best[j] = min(best[j], square[k] + static_cast<unsigned>((r + j - row[k]) * (r + j - row[k])));
    }
    store(r, best, min(kTogether, rows - r));
  }
}

}  // namespace fathom::grid::cuda::volume
