// The pass along z of volumes with nearest sites where these are near: the search of volume_gaps.cuh.
//
// Work mapping: block = half a tile. Tiles of which few rows have sites are solved by these alone
// (volume_sparse_sites_along_z.cuh); those with sites all along the line are searched in 16 bits
// (volume_near_sites_along_z.cuh); those whose search would be long are left to the envelope (volume_far_sites.cuh), by
// a list.
#pragma once

#include "grid/cuda/volume_far_stretches.cuh"
#include "grid/cuda/volume_near_sites_along_z.cuh"
#include "grid/cuda/volume_sparse_sites_along_z.cuh"

namespace fathom::grid::cuda {

/// Rows along z of which a search wants one with a site near.
inline constexpr int kStretchOfSites = 128;
/// Rows up to which no search is so long that the envelope would be faster, if it succeeds.
inline constexpr int kShortSearches = 384;

/// A tile whose search would often be too long for 16 bits. By all threads.
/// @param sites_of  as NearSitesAlongZ::fill() has it
template <int kThreads, class SitesOf>
__device__ bool search_sparse_rows(uint4* memory, int n, SitesOf&& sites_of, const LeadWriter& writer, int* work) {
  const auto t = static_cast<int>(threadIdx.x);
  WindowRows<WindowSites> rows(reinterpret_cast<unsigned*>(memory), n);
  rows.pad(n);
#pragma unroll 4
  for (int r = t / 2; r < n; r += kThreads / 2) {
    const EightSites eight = sites_of(r, t % 2);
    rows.put(r, t % 2 * 2, eight.sites(0));
    rows.put(r, t % 2 * 2 + 1, eight.sites(1));
  }
  __syncthreads();
  int took = 0;
  for (int q0 = warp_number() * 2; q0 < rows.groups; q0 += kThreads / 16)
    if (!search_sites(rows, q0, n, writer, work, &took)) return false;
  return true;
}

/// Whether the envelope would be faster, even where the search succeeds. By all threads.
/// @param line  the tile's words: from the cache, as they have been looked at
template <int kThreads>
__device__ bool has_far_stretches(const uint2* line, int rows) {
  if (kThreads <= 128 || rows <= kShortSearches) return false;
  __shared__ unsigned near_of_warps[kThreads / 32];
  FarStretches<kThreads, false> stretches;
  for (int r = static_cast<int>(threadIdx.x); r < rows; r += kThreads) {
    const uint2 word = __ldg(line + r);
    const unsigned outside = min(word.y & 0xFFFFu, word.y >> 16);
    stretches.add(r, word.x != 0 || outside < FarStretches<kThreads, false>::near_steps(rows));
  }
  stretches.put(near_of_warps);
  __syncthreads();
  return !stretches.are_few(near_of_warps, rows);
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
  bool any = false;
  NearRows<kThreads, 32, kLongestKeyed> in_tile;  // mostly near enough for a search in 16 bits
  NearRows<kThreads, kStretchOfSites> near;
  for (int r = t; r < n; r += kThreads) {
    const uint2 word = __ldg(line + r);
    const unsigned outside = min(word.y & 0xFFFFu, word.y >> 16);
    any |= has_sites(word);
    in_tile.add(r, word.x != 0);
    near.add(r, word.x != 0 || outside < WindowSites::kFar);
  }
  near.put(near_of_warps);
  in_tile.put(in_tile_of_warps);
  if (t == 0) work = 0;
  const int with_sites = __syncthreads_count(any);  // threads
  const auto leave = [&](TileKind kind, bool is_done = true) {
    if (t != 0) return;
    site_kinds(v, half.tile, half.first / 16)[half.tile.line] = kind;
    if (!is_done) enlist(v.z_list, v.counters, blockIdx.x);
  };
  if (with_sites == 0) {
    if (v.is_transposed) LeadWriter(v, half).write_none();  // its last pass asks leads
    return leave(kEmpty);
  }
  __shared__ ListedRows filled;
  std::int16_t* list = SparseSitesAlongZ::list_in(window_shared, n);
  if (with_sites <= min(kThreads / 2, ListedRows::most_of(n)) && filled.find(line, n, list, n / kFewSitesShare))
    return leave(kWide, SparseSitesAlongZ::solve(v, half, filled, window_shared, &work));
  if (!near.suffice(near_of_warps, n) || has_far_stretches<kThreads>(line, n))
    return leave(kWide, false);  // a search would be long
  for (int i = t; i < 256; i += kThreads) {
    sides.left[i] = kByteSides.left[i];
    sides.right[i] = kByteSides.right[i];
  }
  const int first = half.first, inside = v.nx - half.tile.word * 32 - first;
  const auto sites_of = [&](int row, int part) {
    return EightSites(__ldg(line + row), first + part * 8, inside - part * 8, sides);
  };
  const LeadWriter writer(v, half);
  bool is_done;
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

}  // namespace fathom::grid::cuda
