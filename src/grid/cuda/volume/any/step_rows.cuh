// Half a tile's rows in shared memory, in 16 bits.
#pragma once

#include "grid/cuda/volume/window.cuh"

namespace fathom::grid::cuda::volume {

/// Rows of sixteen steps along x. In every second sixteen of them even and odd rows are swapped, so that half warps
/// that read rows sixteen apart meet different banks.
class StepRows {
 public:
  static __host__ __device__ std::size_t memory(int rows) {
    return static_cast<std::size_t>(padded(rows)) * 16 * sizeof(std::uint16_t);
  }

  __device__ explicit StepRows(uint4* memory) : memory_(memory) {}

  /// Those of eight neighbours, two in a word. @param half  of the row
  __device__ void put(int row, int half, const unsigned (&pairs)[4]) const {
    memory_[place(row) * 2 + half] = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
  }
  __device__ void put(int row, int lane, int steps) const { steps_of(row)[lane] = static_cast<std::uint16_t>(steps); }
  __device__ unsigned get(int row, int lane) const { return steps_of(row)[lane]; }
  /// Rows behind the last get no site, up to a multiple of sixteen: so many are looked at together. By all threads of
  /// the block.
  __device__ void pad(int rows) const {
    const auto t = static_cast<int>(threadIdx.x), row = rows + t / 2;
    if (row < padded(rows)) memory_[place(row) * 2 + t % 2] = make_uint4(~0u, ~0u, ~0u, ~0u);
  }
  __device__ EightRows<std::uint16_t> group(int q, int lane) const {
    const int swap = (q / 2 & 1) * 16;
    const std::uint16_t* first = reinterpret_cast<const std::uint16_t*>(memory_) + q * 128 + lane;
    return {first + swap, first - swap};
  }

 private:
  static __host__ __device__ int padded(int rows) { return (rows + 15) / 16 * 16; }
  static __device__ int place(int row) { return row ^ (row >> 4 & 1); }
  __device__ std::uint16_t* steps_of(int row) const {
    return reinterpret_cast<std::uint16_t*>(memory_ + place(row) * 2);
  }

  uint4* const memory_;
};

}  // namespace fathom::grid::cuda::volume
