// Half a tile's rows in shared memory, in 16 bits.
#pragma once

#include "grid/cuda/volume/window.cuh"

namespace fathom::grid::cuda::volume {

/// Rows of sixteen columns, two to a word: eight words to a row, and as many behind each eight rows, so that
/// neighbouring groups of rows meet different banks.
/// @tparam Words  kNone, which two columns have without a site; operator[] of a group's row, to a search
template <class Words>
class HalfRows {
 public:
  using Group = Words;

  static __host__ __device__ std::size_t memory(int rows) {
    return static_cast<std::size_t>(row_groups(rows) + 1) * kGroup * sizeof(unsigned);
  }

  __device__ HalfRows(unsigned* memory, int rows) : groups(row_groups(rows)), memory_(memory) {}

  /// Four words of a row: a half of the eight.
  __device__ void put(int row, int half, uint4 words) const {
    reinterpret_cast<uint4*>(memory_)[row / 8 * (kGroup / 4) + row % 8 * 2 + half] = words;
  }
  __device__ std::uint16_t& at(int row, int column) const {
    return reinterpret_cast<std::uint16_t*>(memory_)[row / 8 * kGroup * 2 + row % 8 * 16 + column];
  }
  __device__ unsigned get(int row, int column) const { return at(row, column); }
  /// Rows behind the last, and the group that stands for all outside.
  __device__ void pad(int rows) const {
    constexpr unsigned kNone = Words::kNone;
    for (int i = rows * 2 + static_cast<int>(threadIdx.x); i < (groups + 1) * 16; i += static_cast<int>(blockDim.x))
      put(i / 2, i % 2, make_uint4(kNone, kNone, kNone, kNone));
  }
  __device__ Group group(int q, int lane) const {
    const unsigned place = min(static_cast<unsigned>(q), static_cast<unsigned>(groups));  // −1 and below: outside
    return {memory_ + place * kGroup, lane};
  }

  const int groups;

 private:
  static constexpr int kGroup = 9 * 8;  ///< words

  unsigned* const memory_;
};

}  // namespace fathom::grid::cuda::volume
