// Which rows of a line have sites, and these rows in ascending order where they are few; and tiles of which so few have
// that each row is tried everywhere, as with a single site.
#pragma once

#include "grid/cuda/volume/volume.cuh"

namespace fathom::grid::cuda::volume {

/// In bits. In shared memory.
class RowBits {
 public:
  /// By all threads of the block. @param has_sites  has_sites(row)
  /// @returns how many rows have sites
  template <class HasSites>
  __device__ int find(int rows, HasSites&& has_sites) {
    int all = 0;
    for (int first = 0; first < rows; first += static_cast<int>(blockDim.x)) {
      const int row = first + static_cast<int>(threadIdx.x);
      const bool has = row < rows && has_sites(row);
      const unsigned filled = __ballot_sync(kAllLanes, has);
      if (lane_id() == 0) filled_[row / 32] = filled;
      all += __syncthreads_count(has);
    }
    return all;
  }
  /// How many there are before a row. By a few threads: they go from word to word.
  __device__ int place_of(int row) const {
    int before = __popc(filled_[row / 32] & lanes_before(row % 32));
    for (int w = 0; w < row / 32; ++w) before += __popc(filled_[w]);
    return before;
  }
  /// Of sixteen rows from one on, a multiple of sixteen: those with sites, in bits.
  __device__ unsigned mask(int first) const { return filled_[first / 32] >> first % 32 & 0xFFFFu; }
  __device__ bool has(int row) const { return (filled_[row / 32] >> row % 32 & 1) != 0; }

 private:
  unsigned filled_[kLongestAxis / 32];
};

/// In shared memory.
struct SortedRows {
  static constexpr int kShare = 8;  ///< one row in so many is few, and kFewRows are, of any
  static constexpr int kMost = kLongestKeyed / kShare;

  RowBits bits;
  int count;  ///< listed
  std::uint16_t row[kMost];

  static __device__ bool are_few(int all, int rows) { return all <= kFewRows || all * kShare <= rows; }

  /// By all threads of the block. @param has_sites  has_sites(row)
  /// @returns how many rows have sites; if they are few, they are listed
  template <class HasSites>
  __device__ int find(int rows, HasSites&& has_sites) {
    const int all = bits.find(rows, has_sites);
    if (!are_few(all, min(rows, kLongestKeyed))) return all;
    for (int r = static_cast<int>(threadIdx.x); r < rows; r += static_cast<int>(blockDim.x))
      if (bits.has(r)) row[bits.place_of(r)] = static_cast<std::uint16_t>(r);
    if (threadIdx.x == 0) count = all;
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
  for (int r = static_cast<int>(threadIdx.x) / 32 * kTogether; r < rows; r += threads / 32 * kTogether) {
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
