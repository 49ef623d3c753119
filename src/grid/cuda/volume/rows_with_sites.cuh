// Which rows of a line have sites; and these rows in ascending order, where they are few.
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
    const auto t = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    const int words = (rows + 31) / 32;
    for (int r = t; r < words * 32; r += threads) {
      const unsigned filled = __ballot_sync(kAllLanes, r < rows && has_sites(r));
      if (lane_id() == 0) filled_[r / 32] = filled;
    }
    __syncthreads();
    if (t < 32) count_before(t, words);
    __syncthreads();
    return count_;
  }

  __device__ int count() const { return count_; }
  /// Groups of eight rows that have some.
  __device__ int groups() const { return groups_; }
  /// How many there are before a row.
  __device__ int place_of(int row) const {
    return before_[row / 32] + __popc(filled_[row / 32] & lanes_before(row % 32));
  }
  /// Of sixteen rows from one on, a multiple of sixteen: those with sites, in bits.
  __device__ unsigned mask(int first) const { return filled_[first / 32] >> first % 32 & 0xFFFFu; }
  /// Lists them. By all threads of the block, before a barrier.
  template <class T>
  __device__ void list(int rows, T* to) const {
    for (int r = static_cast<int>(threadIdx.x); r < rows; r += static_cast<int>(blockDim.x))
      if (filled_[r / 32] >> r % 32 & 1) to[place_of(r)] = static_cast<T>(r);
  }

 private:
  /// How many of a word's four groups of eight rows have sites.
  static __device__ int groups_of(unsigned filled) {
    filled |= filled >> 4;
    filled |= filled >> 2;
    return __popc((filled | filled >> 1) & 0x01010101u);
  }
  /// By the first warp.
  __device__ void count_before(int lane, int words) {
    const unsigned first = 2 * lane < words ? filled_[2 * lane] : 0;
    const unsigned second = 2 * lane + 1 < words ? filled_[2 * lane + 1] : 0;
    const int even = __popc(first), both = even + __popc(second);
    const int groups = warp_sum(groups_of(first) + groups_of(second));
    int sum = both;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int before = __shfl_up_sync(kAllLanes, sum, step);
      if (lane >= step) sum += before;
    }
    before_[2 * lane] = static_cast<std::int16_t>(sum - both);
    before_[2 * lane + 1] = static_cast<std::int16_t>(sum - both + even);
    if (lane == 31) count_ = sum, groups_ = groups;
  }

  static constexpr int kWords = kLongestAxis / 32;
  static_assert(kWords == 2 * 32);
  unsigned filled_[kWords];
  std::int16_t before_[kWords];  ///< how many lie before each word
  int count_, groups_;
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
    bits.list(rows, row);
    if (threadIdx.x == 0) count = all;
    __syncthreads();
    return all;
  }
};

}  // namespace fathom::grid::cuda::volume
