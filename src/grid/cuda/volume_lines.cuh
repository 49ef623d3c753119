// What the last pass of a transposed volume writes: the lines of a tile are rows of the output, which lie one behind
// the other, so that only the two ends of a tile share sectors of memory with its neighbours.
//
// Work mapping: warp = row, whose neighbours are written by neighbouring lanes from multiples of 128 bytes on; of an
// envelope, which finds eight neighbours with each lane, warp = sixteen neighbours of sixteen rows, turned in shared
// memory. Cost: one load from shared memory and one store per element.
#pragma once

#include "grid/cuda/volume.cuh"

namespace fathom::grid::cuda {

/// A row of results by a warp. @param results  from an element on, of each 32nd: results(x)(k)
template <class Results>
__device__ void write_row(float* row, int length, Results&& results) {
  constexpr int kTogether = 4;  // stores of a lane, for which all is computed before the first
  const auto floats = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(row) / sizeof(float));
  const auto write = [&](int x, auto is_there) {
    const auto result = results(x);
    float found[kTogether];
#pragma unroll
    for (int k = 0; k < kTogether; ++k)
      if (is_there(x + 32 * k)) found[k] = result(k);
#pragma unroll
    for (int k = 0; k < kTogether; ++k)
      if (is_there(x + 32 * k)) __stcs(row + x + 32 * k, found[k]);
  };
  for (int first = -static_cast<int>(floats % 32); first < length; first += 32 * kTogether) {
    if (first >= 0 && first + 32 * kTogether <= length) write(first + lane_id(), [](int) { return true; });
    else write(first + lane_id(), [length](int x) { return x >= 0 && x < length; });
  }
}

/// Float distances of a tile.
template <int kThreads>
class LineWriter {
 public:
  __device__ LineWriter(const Volume& v, const Emitter<std::int64_t>& /*emitter*/, const Volume::Tile& tile)
      : lines(min(32, v.nx - tile.word * 32)),
        length(v.ny),
        first_line_(tile.word * 32),
        rows_(v.distance.row(v.first_item + tile.item, tile.line, first_line_)) {}

  /// All rows, a warp each. @param results  of a line, from an element on: results(line)(x)(k), as write_row() asks
  template <class Results>
  __device__ void write_rows(Results&& results) const {
    for (int line = static_cast<int>(threadIdx.x) / 32; line < lines; line += kThreads / 32)
      write_row(row(line), length, results(line));
  }

  /// Up to eight neighbours of a line by each lane. By whole warps: lanes of the lower half have sixteen lines, those
  /// of the upper half the neighbours behind. Every line has a site.
  ///
  /// @param first   neighbour, which is there or not
  /// @param column  of the volume: the line
  template <bool kSpaced, bool kSmall>
  __device__ void write_column(int first, int column, const unsigned* squares, int /*count*/) const {
    static_assert(!kSpaced && kSmall);
    __shared__ float turned[kThreads / 32][32 * kPitch];
    float* of_warp = turned[threadIdx.x / 32];
#pragma unroll
    for (int j = 0; j < 8; ++j) of_warp[lane_id() * kPitch + j] = small_root(small_float(squares[j]));
    __syncwarp();
    const int half = lane_id() / 16, x = __shfl_sync(kAllLanes, first, 0) + lane_id() % 16;
    const int line = column - lane_id() % 16 - first_line_ + half;
    const float* from = of_warp + (lane_id() & 8) * 2 * kPitch + half * kPitch + lane_id() % 8;
    float* to = row(line) + x;
    const int count = x < length ? lines - line : 0;
#pragma unroll
    for (int k = 0; k < 16; k += 2, from += 2 * kPitch, to += 2 * length)
      if (k < count) *to = *from;
    __syncwarp();
  }

  const int lines, length;

 private:
  static constexpr int kPitch = 9;  ///< floats of a lane, so that lanes meet different banks

  __device__ float* row(int line) const { return rows_ + line * length; }

  const int first_line_;
  float* const rows_;
};

}  // namespace fathom::grid::cuda
