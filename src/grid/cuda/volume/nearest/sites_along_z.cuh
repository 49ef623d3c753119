// The pass along z of volumes with nearest sites where these are near: the search of volume/gaps.cuh.
//
// Work mapping: block = half a tile. Tiles that have sites alone are told at once; those with sites all along the line
// are searched in 16 bits (volume/nearest/near_sites_along_z.cuh), others in 32. What these do not settle is left to the
// envelope (volume/nearest/far_sites_along_z.cuh), by a list.
#pragma once

#include "grid/cuda/volume/nearest/near_sites_along_z.cuh"

namespace fathom::grid::cuda::volume {

/// A tile whose search would often be too long for 16 bits. By all threads.
/// @param sites_of  as NearSitesAlongZ::fill() has it
template <int kThreads, class SitesOf>
__device__ bool search_sparse_rows(uint4* memory, int n, SitesOf&& sites_of, const LeadWriter& writer, int* work) {
  const WindowRows<WindowSites> rows(reinterpret_cast<unsigned*>(memory), n);
  fill_sites<kThreads>(rows, n, sites_of);
  for (int q0 = warp_number() * 2; q0 < rows.groups; q0 += kThreads / 16)
    if (!search_sites(rows, q0, n, writer, work)) return false;
  return true;
}

template <int kThreads>
__global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, kResidentThreadsAt64 / kThreads))
    search_sites_along_z(const __grid_constant__ Volume v) {
  extern __shared__ uint4 window_shared[];
  __shared__ int work;
  __shared__ unsigned near_of_warps[kThreads / 32], in_tile_of_warps[kThreads / 32];
  __shared__ ByteSides sides;
  v.clear_counter(1);
  const int t = static_cast<int>(threadIdx.x), n = v.nz;
  const HalfTile half = narrow_half_along_z(v, blockIdx.x);
  if (half.is_outside(v)) return;
  const uint2* line = v.word_line(half.tile);
  bool any = false, is_full = true;  // of the thread's rows
  const unsigned all = half.bits(v);
  NearRows<kThreads, 32, kLongestKeyed> in_tile;  // mostly near enough for a search in 16 bits
  StretchesAlongZ<kThreads> stretches;
  for (int r = t; r < n; r += kThreads) {
    const uint2 word = __ldg(line + r);
    const unsigned outside = min(word.y & 0xFFFFu, word.y >> 16);
    any |= has_sites(word);
    is_full &= (word.x & all) == all;
    in_tile.add(r, word.x != 0);
    stretches.add(r, word.x != 0 || outside < 64);
  }
  stretches.put(near_of_warps);
  in_tile.put(in_tile_of_warps);
  if (t == 0) work = 0;
  any = __syncthreads_or(any);
  const auto leave = [&](TileKind kind, bool is_done = true) {
    if (t != 0) return;
    kinds_of_half(v, half.tile, half.first / 16)[half.tile.line] = kind;
    if (!is_done) enlist(v.z_list, v.counters, blockIdx.x);
  };
  if (!any) return leave(kEmpty);
  if ((__ldg(&line->x) & all) == all && __syncthreads_and(is_full)) return leave(kFull);
  if (!stretches.few_lie_between(near_of_warps, n)) return leave(kWide, false);  // a search would be long
  copy_byte_sides<kThreads>(sides);
  const int first = half.first, inside = v.nx - half.tile.word * 32 - first;
  const auto sites_of = [&](int row, int part) {
    return EightSites(__ldg(line + row), first + part * 8, inside - part * 8, sides);
  };
  const LeadWriter writer(v, half);
  bool is_done = false;
  __syncthreads();
  if (in_tile.nearly_suffice(in_tile_of_warps, n, 8)) {
    const NearSitesAlongZ<kThreads> near_sites(window_shared, n);
    near_sites.fill(sites_of);
    is_done = near_sites.search(writer, &work);
  } else {
    is_done = search_sparse_rows<kThreads>(window_shared, n, sites_of, writer, &work);
  }
  is_done = __syncthreads_and(is_done);
  leave(is_done ? kNarrow : kWide, is_done);
}

}  // namespace fathom::grid::cuda::volume
