// Distances of half tiles whose lines are alike, with any spacings: all sites, or all without any.
//
// Where rows of the output begin inside sectors of memory, so do and end the pieces that a half tile has of them, and
// sectors that are written in two goes take several times as long. Of two half tiles beside each other that are alike,
// the first one writes the sectors that begin in it.
//
// Work mapping: block = half a tile, eight lanes = its piece of a row, lane = four elements. Cost: a store for each
// four.
#pragma once

#include "grid/cuda/volume/volume.cuh"

namespace fathom::grid::cuda::volume {

/// Most lines of half a tile that blocks of so many threads tell of.
__host__ __device__ constexpr int longest_alike_line(int threads) {
  return threads >= 512 ? kLongestAxis : kSmallBlocks;
}

/// Whether a thread's lines of half a tile are of a kind, of those that the pass before told of all lines.
template <int kThreads>
__device__ bool are_of_kind(TileKind kind, const std::uint8_t* kinds, int lines) {
  constexpr int kLongest = longest_alike_line(kThreads);
  bool all = true;
#pragma unroll
  for (int k = 0; k < (kLongest + kThreads - 1) / kThreads; ++k)  // without a branch, so that the waits are one
    all &= __ldg(kinds + min(static_cast<int>(threadIdx.x) + k * kThreads, lines - 1)) == kind;
  return all;
}

/// The rows of a half tile whose lines are all of a kind.
struct AlikeLines {
  TileKind kind;
  const std::uint8_t* kinds;  ///< of its lines; those of the half tiles beside it lie before and behind them
  float* first;               ///< its element in the first row
  std::int64_t stride;        ///< from row to row
  int rows;                   ///< as many as lines

  /// Whether all begin where sectors of memory do.
  __device__ bool begin_sectors() const { return place_in_sector(first) == 0 && stride % kSectorFloats == 0; }

  /// Writes the result that all elements have. By all threads.
  /// @param x   the half tile's first column
  /// @param nx  columns of the volume
  template <int kThreads>
  __device__ void write(float result, int x, int nx) const {
    const int columns = nx - x, t = static_cast<int>(threadIdx.x);
    const bool before = x > 0 && are_alike<kThreads>(kinds - rows);
    const bool behind = columns > 16 && are_alike<kThreads>(kinds + rows);
#pragma unroll 4
    for (int r = t / 8; r < rows; r += kThreads / 8) {
      float* row = first + r * stride;
      const int sector = (kSectorFloats - place_in_sector(row)) % kSectorFloats;  // the first that begins in the piece
      const int begin = before ? sector : 0, end = min(behind ? 16 + sector : 16, columns);
      write_four(result, row, sector - kSectorFloats + 4 * (t % 8), begin, end);
    }
  }

 private:
  static __device__ int place_in_sector(const float* at) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(at) / sizeof(float) % kSectorFloats);
  }
  template <int kThreads>
  __device__ bool are_alike(const std::uint8_t* kinds_beside) const {
    return __syncthreads_and(are_of_kind<kThreads>(kind, kinds_beside, rows));
  }
  /// Of four elements from `x` on, an aligned one, those from begin to end.
  static __device__ void write_four(float result, float* row, int x, int begin, int end) {
    if (x >= begin && x + 4 <= end) {
      __stcs(reinterpret_cast<float4*>(row + x), make_float4(result, result, result, result));
    } else {
      for (int k = max(x, begin); k < min(x + 4, end); ++k) row[k] = result;
    }
  }
};

}  // namespace fathom::grid::cuda::volume
