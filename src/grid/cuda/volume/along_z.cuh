// The pass along z where sites are near: the search of volume/gaps.cuh.
//
// Work mapping: block = tile. A first look at its words tells whether there are sites at all, or alone, which is all
// that is kept of such a tile, and near enough (volume/far_stretches.cuh). Tiles of which few rows have sites are
// solved by these alone (volume/few_rows_along_z.cuh, volume/sparse_rows_along_z.cuh), those of short lines whose
// search would be long by ranges of rows (volume/ranges.cuh). What none of these settles is left to the envelope
// (volume/envelope.cuh), by a list. Blocks ahead of these solve a last column (volume/last_column.cuh).
#pragma once

#include "grid/cuda/volume/far_stretches.cuh"
#include "grid/cuda/volume/gaps.cuh"
#include "grid/cuda/volume/last_column.cuh"
#include "grid/cuda/volume/ranges.cuh"
#include "grid/cuda/volume/sparse_rows_along_z.cuh"

namespace fathom::grid::cuda::volume {

/// Of a search along z: what it settles is nearer than the caps, and none of its sums wraps.
inline constexpr unsigned kCapOfSearch = 178;
using SearchedSquares = RowSquares<kCapOfSearch>;
static_assert((WindowPairs::kMostSteps + 1) * (WindowPairs::kMostSteps + 1) < kCapOfSearch * kCapOfSearch);
static_assert(SearchedSquares::most() + StepWords<WindowPairs>::kMostSteps * StepWords<WindowPairs>::kMostSteps <
              1 << 16);

/// Fills a tile's rows with squares of the distances along x. By all threads.
///
/// @tparam kSparse   most rows have no site
/// @param of_byte    copy_byte_squares()
/// @param columns    of the tile, or more
template <int kThreads, bool kLabels, bool kSparse>
__device__ void fill_rows(const WindowRows<WindowPairs>& rows, const uint2* line, int n, const uint2* of_byte,
                          int columns) {
  const int t = static_cast<int>(threadIdx.x), first = t % 4 * 8;
  const uint4 inside = pairs_inside(columns - first);
#pragma unroll 4
  for (int r = t / 4; r < n; r += kThreads / 4) {
    const uint2 word = __ldg(line + r);
    const auto none = [](unsigned there) { return kNone16x2 & there; };
    if (kSparse && !has_sites(word))
      rows.put(r, t % 4, make_uint4(none(inside.x), none(inside.y), none(inside.z), none(inside.w)));
    else rows.put(r, t % 4, SearchedSquares(word, first, of_byte, kLabels).within(inside));
  }
}

/// A tile by ranges of rows. By all threads.
/// @param memory  where the rows behind the last are padded
/// @returns whether it is settled
template <int kThreads>
__device__ bool solve_by_ranges(const Volume& v, Volume::Tile tile, uint4* memory, const uint2* of_byte) {
  __shared__ NearestGroups<kThreads> nearest;
  const WindowRows<WindowPairs> rows(reinterpret_cast<unsigned*>(memory), v.nz);
  fill_rows<kThreads, false, true>(rows, v.word_line(tile), v.nz, of_byte, v.nx - tile.word * 32);
  const NarrowWriter narrow(v, tile);
  return nearest.solve(rows, [&](int group, const unsigned* squares) { narrow.write(group * 8, squares); });
}

/// @tparam kLastColumn  v.has_last_column: asked by all kernels, that took up to 1.6 % of their time
template <int kThreads, bool kLabels, bool kLastColumn = false>
__global__ void __launch_bounds__(kThreads, search_blocks(kThreads, kLabels))
    search_along_z(const __grid_constant__ Volume v) {
  extern __shared__ uint4 window_shared[];
  __shared__ int work;
  __shared__ unsigned near_of_warps[kThreads / 32];
  __shared__ uint2 of_byte[256];
  v.clear_counter(1);
  if constexpr (kLastColumn)
    if (blockIdx.x < last_column_blocks(v.ny)) return solve_last_column_along_z<kThreads>(v, blockIdx.x, window_shared);
  const unsigned number = blockIdx.x - (kLastColumn ? last_column_blocks(v.ny) : 0);  // of the tile
  const int t = static_cast<int>(threadIdx.x), n = v.nz;
  const Volume::Tile tile = v.narrow_tile(number);
  const uint2* line = v.word_line(tile);
  __shared__ RunWords<kLabels> run_words;
  const RunEnds ends(run_words, n);
  const uint2* changes = v.changes_along_z(tile);
  bool any = false, is_full = !kLabels;  // of the thread's rows
  const unsigned all = first_bits(v.nx - tile.word * 32);
  std::conditional_t<kLabels, NearRows<kThreads, 128>, FarStretches<kThreads>> near;
  const unsigned near_steps = kLabels ? 64 : FarStretches<kThreads>::near_steps(n, kUnrangedAlongZ);
  for (int r = t; r < n; r += kThreads) {
    const uint2 word = __ldg(line + r);
    const bool has_change = kLabels && __ldg(&changes[r].x) != 0;
    any |= has_sites(word) || has_change;
    is_full &= word.x == all;
    near.add(r, word.x != 0 || min(word.y & 0xFFFFu, word.y >> 16) < near_steps || has_change);
  }
  near.put(near_of_warps);
  WindowRows<WindowPairs> rows(reinterpret_cast<unsigned*>(window_shared), n);
  rows.pad(n);
  copy_byte_squares<kThreads>(of_byte, kLabels);
  if (t == 0) work = 0;
  const int with_sites = __syncthreads_count(any);  // threads
  if (with_sites == 0) {
    if (t == 0) v.kind[number] = kEmpty;
    return;
  }
  if constexpr (kLabels) {
    ends.fill([&](int r) { return v.runs_along_z(tile, changes, r); });
  } else {
    if (__ldg(&line->x) == all && __syncthreads_and(is_full)) {
      if (t == 0) v.kind[number] = kFull;
      return;
    }
    __shared__ FewRowsAlongZ few;
    if (with_sites <= kFewRows && few.find(v, tile)) {
      const bool is_wide = few.solve(v, tile);
      if (t == 0) v.kind[number] = is_wide ? kWide : kNarrow;
      return;
    }
    using Found = SparseRowsAlongZ::Found;
    __shared__ ListedRows filled;
    if (with_sites * 2 <= min(kThreads, n) && filled.find(line, n, SparseRowsAlongZ::list_in(window_shared, n))) {
      const Found found = SparseRowsAlongZ::solve(v, tile, filled, window_shared, of_byte, &work);
      if (t != 0) return;
      v.kind[number] = found == Found::narrow ? kNarrow : kWide;
      if (found == Found::too_long) enlist(v.z_list, v.counters, number);
      return;
    }
  }
  bool failed = false;
  if constexpr (kLabels) {
    failed = !near.suffice(near_of_warps, n);
  } else if (!near.are_few(near_of_warps, n)) {
    failed = !near.are_short(n) || !solve_by_ranges<kThreads>(v, tile, window_shared, of_byte);
    if (t != 0) return;
    v.kind[number] = failed ? kWide : kNarrow;
    if (failed) enlist(v.z_list, v.counters, number);
    return;
  }
  if (!failed) {
    const int columns = v.nx - tile.word * 32;
    if (!kLabels && with_sites * 4 < kThreads) fill_rows<kThreads, kLabels, true>(rows, line, n, of_byte, columns);
    else fill_rows<kThreads, kLabels, false>(rows, line, n, of_byte, columns);
    __syncthreads();
    const int lane = t % 16;
    int took = 0;
    const NarrowWriter narrow(v, tile);
    for (int q0 = warp_number() * 2; q0 < rows.groups; q0 += kThreads / 16) {
      const int q = q0 + lane_id() / 16;
      GapWindow<WindowPairs> window(rows, min(q, rows.groups - 1), lane);
      if constexpr (kLabels) ends.bound_pairs(min(q, rows.groups - 1), lane, window.best);
      if (!window.search(&work, GapWindow<WindowPairs>::budget_of(n), &took)) {
        failed = true;
        break;
      }
      narrow.write(q * 8, window.best);
    }
    failed = __syncthreads_or(failed);
  }
  if (t != 0) return;
  v.kind[number] = failed ? kWide : kNarrow;
  if (failed) enlist(v.z_list, v.counters, number);
}

}  // namespace fathom::grid::cuda::volume
