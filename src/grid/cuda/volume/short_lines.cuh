// The passes along z and y along lines of few rows, as volumes of few planes have them, and those of up to twice as
// many where sites are far: every row is tried everywhere.
//
// Work mapping: persistent blocks, warp = tile, lane = line, whose rows lie in registers. Of longer lines, those tiles
// that the search left.
// Cost: an operation per element and row. Of so few rows that is less than what a search or an envelope takes, of whose
// blocks most threads would have none.
#pragma once

#include "grid/cuda/volume/far_rows.cuh"
#include "grid/cuda/volume/row_steps.cuh"
#include "grid/cuda/volume/writer.cuh"

namespace fathom::grid::cuda::volume {

/// Longest lines that are solved so, and of which at least far tiles are.
inline constexpr int kShortLines = 16, kShortFarLines = 32;
inline constexpr int kShortLinesBlock = 256;  ///< and blocks of it per multiprocessor, by the rows in registers:
inline constexpr int short_lines_blocks(int rows) { return resident_blocks(kShortLinesBlock, rows <= 16 ? 4 : 3); }

/// The squares of a line, of which there are up to kRows.
template <int kRows>
class ShortLine {
 public:
  unsigned square[kRows];  ///< of rows that are not there, kNone32

  /// Leaves the rows of the line, eight at a time: put(first row, squares, how many).
  template <class Put>
  __device__ void solve(int rows, Put&& put) const {
#pragma unroll
    for (int first = 0; first < kRows; first += 8) {
      if (first >= rows) break;
      unsigned best[8];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        best[j] = kNone32;
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          const int steps = first + j - r;
          best[j] = __viaddmin_u32(square[r], static_cast<unsigned>(steps * steps), best[j]);
        }
      }
      put(first, best, min(8, rows - first));
    }
  }
};

/// Calls solve(number) for this warp's share of so many tiles, which are those of a list, or all.
template <class Solve>
__device__ void for_tiles(const std::uint32_t* list, unsigned count, Solve&& solve) {
  const unsigned warps = blockDim.x / 32;
  for (unsigned job = blockIdx.x * warps + threadIdx.x / 32; job < count; job += gridDim.x * warps)
    solve(list ? list[job] : job);
}

/// @tparam kListed  the tiles that the search left, whose kind is known; else all
template <int kRows, bool kListed>
__global__ void __launch_bounds__(kShortLinesBlock, short_lines_blocks(kRows))
    short_along_z(const __grid_constant__ Volume v) {
  if (!kListed) v.clear_counter(1);
  const auto all = static_cast<unsigned>(v.items * v.words * v.ny);
  for_tiles(kListed ? v.z_list : nullptr, kListed ? v.counters[0] : all, [&](std::uint32_t number) {
    const Volume::Tile tile = v.narrow_tile(number);
    const uint2* words = v.word_line(tile);
    if (!kListed && !__any_sync(kAllLanes, lane_id() < v.nz && has_sites(__ldg(words + lane_id())))) {
      if (lane_id() == 0) v.kind[number] = kEmpty;
      return;
    }
    ShortLine<kRows> line;
#pragma unroll
    for (int r = 0; r < kRows; ++r) line.square[r] = r < v.nz ? square_along_x(__ldg(words + r)) : kNone32;
    const FarRows far(v, tile, lane_id());
    bool is_wide = false;
    line.solve(v.nz, [&](int z, const unsigned* squares, int count) { is_wide |= far.put(z, squares, count); });
    if constexpr (!kListed) {
      is_wide = __any_sync(kAllLanes, is_wide);
      if (lane_id() == 0) v.kind[number] = is_wide ? kWide : kNarrow;
    }
  });
}

/// @tparam kListed  the tiles that the search left; else all
template <int kRows, Writing kWriting, bool kListed>
__global__ void __launch_bounds__(kShortLinesBlock, short_lines_blocks(kRows))
    short_along_y(const __grid_constant__ Volume v, const __grid_constant__ Emitter<std::int64_t> emitter) {
  static_assert(!is_of_labels(kWriting) && kRows <= 32);
  if (!kListed) v.clear_counter(0);
  const auto all = static_cast<unsigned>(v.items * v.words * v.nz);
  for_tiles(kListed ? v.y_list : nullptr, kListed ? v.counters[1] : all, [&](std::uint32_t number) {
    const Volume::Tile tile = v.tile(number, v.nz);
    const int x = tile.word * 32 + lane_id();
    const KindBits first = KindBits::of(RowKinds(v, tile, 0), 0, v.ny),
                   second = KindBits::of(RowKinds(v, tile, 1), 0, v.ny);
    const KindBits kinds = lane_id() < 16 ? first : second;
    ColumnOfRows<kWriting == Writing::one_side> column(v, tile, lane_id());
    ShortLine<kRows> line;
#pragma unroll
    for (int r = 0; r < kRows; ++r, column.narrow += column.narrow_step, column.wide += column.wide_step) {
      line.square[r] = kinds.full >> r & 1 ? 0 : kNone32;
      if (kinds.wide >> r & 1) line.square[r] = wide_square<kWriting == Writing::one_side>(*column.wide);
      if (kinds.narrow >> r & 1) line.square[r] = *column.narrow;
    }
    const VolumeWriter<kWriting> writer(v, emitter, tile);
    line.solve(v.ny, [&](int y, const unsigned* squares, int count) { writer.write_column(y, x, squares, count); });
  });
}

}  // namespace fathom::grid::cuda::volume
