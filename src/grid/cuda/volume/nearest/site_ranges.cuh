// Half tiles with nearest sites whose search would be long, or was, as far as ranges of rows reach (volume/ranges.cuh):
// of short lines, and along y of all. The rest is left to the envelope (volume/nearest/far_sites.cuh), by a list. Of
// the shortest lines along z all is, and the envelope's kernel tries ranges first.
//
// Work mapping: block = half a tile; as volume/ranges.cuh has it. Functions that are not inlined are the last thing
// that the kernels of the searches do, so that these keep nothing for them and near tiles pay no registers.
// Cost: as there, in 32 bits.
#pragma once

#include "grid/cuda/volume/gaps.cuh"
#include "grid/cuda/volume/nearest/near_sites_along_z.cuh"
#include "grid/cuda/volume/ranges.cuh"

namespace fathom::grid::cuda::volume {

/// Whether ranges mostly reach far enough along lines. Blocks that have longer ones alone are not to compile the rest.
template <int kThreads>
__device__ bool are_short_lines(int rows) {
  return kThreads < 512 && rows <= kRangedRows;
}
/// Of a search along y or x: words that it begins with are to be less, somewhere in each stretch of rows.
__device__ inline unsigned near_words_end(bool is_short) {
  return (is_short ? kUnrangedAlongY * kUnrangedAlongY : 64 * 64) * WindowSites::kSquare;
}

/// Whether each stretch of rows has a site that words can name, from a line's words. By all threads.
template <int kThreads>
__device__ bool are_in_reach(const uint2* line, int rows) {
  constexpr int kStretch = 128;
  __shared__ unsigned near_of_warps[kThreads / 32];
  NearRows<kThreads, kStretch> near;
  for (int r = static_cast<int>(threadIdx.x); r < rows; r += kThreads) {
    const uint2 word = __ldg(line + r);
    near.add(r, word.x != 0 || min(word.y & 0xFFFFu, word.y >> 16) < WindowSites::kFar);
  }
  near.put(near_of_warps);
  __syncthreads();
  return near.suffice(near_of_warps, rows);
}

/// Of the pass along z, by all threads of a block.
/// @param memory  window_memory()
/// @param sides   in shared memory
/// @returns whether all of the half tile is settled
template <int kThreads>
__device__ bool try_ranges_along_z(const Volume& v, const HalfTile& half, uint4* memory, const ByteSides& sides) {
  __shared__ NearestGroups<kThreads, WindowSites> nearest;
  const uint2* line = v.word_line(half.tile);
  const int n = v.nz, inside = v.nx - half.tile.word * 32 - half.first;
  if (!are_in_reach<kThreads>(line, n)) return false;
  const WindowRows<WindowSites> rows(reinterpret_cast<unsigned*>(memory), n);
  fill_sites<kThreads>(rows, n, [&](int row, int part) {
    return EightSites(__ldg(line + row), half.first + part * 8, inside - part * 8, sides);
  });
  const LeadWriter writer(v, half);
  return nearest.solve(rows, [&](int group, const unsigned* found) {
    writer.write_column(group * 8, lane_id() % 16, [&](int j) { return Leads::of(found[j]); });
  });
}

/// The same of the half tile that is the block's.
template <int kThreads>
__device__ __noinline__ void settle_sites_along_z(const Volume& v, uint4* memory, const ByteSides& sides) {
  const HalfTile half = narrow_half_along_z(v, blockIdx.x);
  const bool is_done = try_ranges_along_z<kThreads>(v, half, memory, sides);
  if (threadIdx.x != 0) return;
  kinds_of_half(v, half.tile, half.first / 16)[half.tile.line] = is_done ? kNarrow : kWide;
  if (!is_done) enlist(v.z_list, v.counters, blockIdx.x);
}

/// The same along y. @param memory  where the tile's rows lie
template <int kThreads>
__device__ __noinline__ void settle_sites_along_y(const Volume& v, const Emitter<std::int64_t>& emitter,
                                                  uint4* memory) {
  __shared__ NearestGroups<kThreads, WindowSites> nearest;
  const HalfTile half = half_along_y(v, blockIdx.x);
  const int n = v.ny;
  const SiteWriter writer(v, emitter, half.tile, half.x);
  const WindowRows<WindowSites> rows(reinterpret_cast<unsigned*>(memory), n);
  const bool is_done = nearest.solve(
      rows, [&](int group, const unsigned* found) { writer.write_near(group * 8, n - group * 8, found); });
  if (!is_done && threadIdx.x == 0) enlist(v.y_list, v.counters + 1, blockIdx.x);
}

}  // namespace fathom::grid::cuda::volume
