// The passes along z and y along lines of few rows, as volumes of few planes have them, and those of up to twice as
// many where sites are far: every row is tried everywhere.
//
// Work mapping: persistent blocks, warp = tile, lane = line, whose rows lie in registers. Cost: an operation per element
// and row, less than what a search or an envelope takes, of whose blocks most threads would have no row.
#pragma once

#include "grid/cuda/volume/along_y.cuh"
#include "grid/cuda/volume/along_z.cuh"

namespace fathom::grid::cuda::volume {

/// Longest lines that are solved so, and of which at least far tiles are.
inline constexpr int kShortLines = 16, kShortFarLines = 32;
inline constexpr int kShortLinesBlock = 256;  ///< and blocks of it per multiprocessor, by the rows in registers:
inline constexpr int short_lines_blocks(int rows) { return resident_blocks(kShortLinesBlock, rows <= 16 ? 4 : 3); }

/// Leaves the rows of a line, eight at a time: put(first row, squares, how many).
/// @param square  of rows that are not there, kNone32
template <int kRows, class Put>
__device__ void solve_short_line(const unsigned (&square)[kRows], int rows, Put&& put) {
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

/// Calls solve(number) for this warp's share of so many tiles, which are those of a list, or all.
/// @tparam kListed  those that the search left; else all, by a kernel that leaves the other pass's counter cleared
template <bool kListed, class Solve>
__device__ void for_tiles(const Volume& v, int pass, std::int64_t all, Solve&& solve) {
  if (!kListed) v.clear_counter(1 - pass);
  const unsigned count = kListed ? v.counters[pass] : static_cast<unsigned>(all), warps = blockDim.x / 32;
  for (unsigned job = blockIdx.x * warps + threadIdx.x / 32; job < count; job += gridDim.x * warps)
    solve(kListed ? (pass == 0 ? v.z_list : v.y_list)[job] : job);
}

/// @tparam kListed  as for_tiles() has it; then the tiles' kinds are known
template <int kRows, bool kListed>
__global__ void __launch_bounds__(kShortLinesBlock, short_lines_blocks(kRows))
    short_along_z(const __grid_constant__ Volume v) {
  for_tiles<kListed>(v, 0, v.items * v.words * v.ny, [&](std::uint32_t number) {
    const Volume::Tile tile = v.narrow_tile(number);
    const uint2* words = v.word_line(tile);
    if (!kListed && !__any_sync(kAllLanes, lane_id() < v.nz && has_sites(__ldg(words + lane_id())))) {
      if (lane_id() == 0) v.kind[number] = kEmpty;
      return;
    }
    unsigned square[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) square[r] = r < v.nz ? square_along_x(__ldg(words + r)) : kNone32;
    const FarRows far(v, tile, lane_id());
    bool is_wide = false;
    solve_short_line(square, v.nz,
                     [&](int z, const unsigned* squares, int count) { is_wide |= far.put(z, squares, count); });
    if (kListed) return;
    is_wide = __any_sync(kAllLanes, is_wide);
    if (lane_id() == 0) v.kind[number] = is_wide ? kWide : kNarrow;
  });
}

template <int kRows, Writing kWriting, bool kListed>
__global__ void __launch_bounds__(kShortLinesBlock, short_lines_blocks(kRows))
    short_along_y(const __grid_constant__ Volume v, const __grid_constant__ Emitter<std::int64_t> emitter) {
  static_assert(!is_of_labels(kWriting) && kRows <= 32);
  constexpr bool kSide = kWriting == Writing::one_side;
  for_tiles<kListed>(v, 1, v.items * v.words * v.nz, [&](std::uint32_t number) {
    const Volume::Tile tile = v.tile(number, v.nz);
    const KindBits first = KindBits::of(v, tile, 0, 0), second = KindBits::of(v, tile, 1, 0),
                   kinds = lane_id() < 16 ? first : second;
    const ColumnOfRows<kSide> column(v, tile, lane_id());
    unsigned square[kRows];
    load_chunk<kRows, kSide>(square, kinds, column.wide, column.wide_step, column.narrow, column.narrow_step);
    const VolumeWriter<kWriting> writer{v, emitter, tile};
    solve_short_line(square, v.ny, [&](int y, const unsigned* squares, int count) {
      writer.write_column(y, tile.word * 32 + lane_id(), squares, count);
    });
  });
}

}  // namespace fathom::grid::cuda::volume
