// The pass along z of volumes with nearest sites where these are near: the search of volume/gaps.cuh.
//
// Work mapping: block = half a tile. Tiles that have sites alone are told at once; those of which few rows have sites
// are solved by these alone (volume/nearest/sparse_sites_along_z.cuh); those with sites all along the line are searched
// in 16 bits (volume/nearest/near_sites_along_z.cuh); those of short lines whose search would be long, or was, by
// ranges of rows (volume/nearest/site_ranges.cuh). What none of these settles is left to the envelope
// (volume/nearest/far_sites.cuh), by a list. Blocks of the shortest lines have two warps, each at another place in the
// code, and wait for its instructions if there is much of it: what their search in 16 bits leaves goes to ranges at
// once, in the kernel of the envelope.
#pragma once

#include "grid/cuda/volume/far_stretches.cuh"
#include "grid/cuda/volume/nearest/near_sites_along_z.cuh"
#include "grid/cuda/volume/nearest/site_ranges.cuh"
#include "grid/cuda/volume/nearest/sparse_sites_along_z.cuh"

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
  constexpr bool kShortest = kThreads == kLeastBlocksOfSites;  // lines
  const int t = static_cast<int>(threadIdx.x), n = v.nz;
  const HalfTile half = narrow_half_along_z(v, blockIdx.x);
  if (half.is_outside(v)) return;
  const uint2* line = v.word_line(half.tile);
  bool any = false, is_full = true;  // of the thread's rows
  const unsigned all = half.bits(v);
  const unsigned near_steps = FarStretches<kThreads>::near_steps(n, kUnrangedSitesAlongZ);
  NearRows<kThreads, 32, kLongestKeyed> in_tile;  // mostly near enough for a search in 16 bits
  FarStretches<kThreads> stretches;
  for (int r = t; r < n; r += kThreads) {
    const uint2 word = __ldg(line + r);
    const unsigned outside = min(word.y & 0xFFFFu, word.y >> 16);
    any |= has_sites(word);
    is_full &= (word.x & all) == all;
    in_tile.add(r, word.x != 0);
    stretches.add(r, word.x != 0 || outside < near_steps);
  }
  stretches.put(near_of_warps);
  in_tile.put(in_tile_of_warps);
  if (t == 0) work = 0;
  const int with_sites = __syncthreads_count(any);  // threads
  const auto leave = [&](TileKind kind, bool is_done = true) {
    if (t != 0) return;
    kinds_of_half(v, half.tile, half.first / 16)[half.tile.line] = kind;
    if (!is_done) enlist(v.z_list, v.counters, blockIdx.x);
  };
  if (with_sites == 0) return leave(kEmpty);
  if ((__ldg(&line->x) & all) == all && __syncthreads_and(is_full)) return leave(kFull);
  __shared__ ListedRows filled;
  std::int16_t* list = SparseSitesAlongZ::list_in(window_shared, n);
  if (with_sites <= min(kThreads / 2, ListedRows::most_of(n)) && filled.find(line, n, list, n / kFewSitesShare))
    return leave(kWide, SparseSitesAlongZ::solve(v, half, filled, window_shared, &work));
  const bool is_far = !stretches.are_few(near_of_warps, n);  // a search would be long
  const bool is_short = are_short_lines<kThreads>(n);
  if (is_far && (kShortest || !is_short)) return leave(kWide, false);
  copy_byte_sides<kThreads>(sides);
  const int first = half.first, inside = v.nx - half.tile.word * 32 - first;
  const auto sites_of = [&](int row, int part) {
    return EightSites(__ldg(line + row), first + part * 8, inside - part * 8, sides);
  };
  const LeadWriter writer(v, half);
  bool is_done = false;
  __syncthreads();
  if (!is_far && in_tile.nearly_suffice(in_tile_of_warps, n, 8)) {
    const NearSitesAlongZ<kThreads> near_sites(window_shared, n);
    near_sites.fill(sites_of);
    is_done = near_sites.search(writer, kShortest ? nullptr : &work);
  } else if (!is_far && !kShortest) {
    is_done = search_sparse_rows<kThreads>(window_shared, n, sites_of, writer, &work);
  }
  is_done = __syncthreads_and(is_done);
  if constexpr (!kShortest)
    if (!is_done && is_short) return settle_sites_along_z<kThreads>(v, window_shared, sides);
  leave(is_done ? kNarrow : kWide, is_done);
}

}  // namespace fathom::grid::cuda::volume
