// The pass along y of volumes with nearest sites where these are near, which writes results: the search of
// volume/gaps.cuh.
//
// Work mapping: block = half a tile. Tiles with few rows that have sites, or none (volume/nearest/few_sites.cuh: both
// halves by the first one's block), those that have sites alone, and those in whose rows far ones lie alike
// (volume/nearest/same_sites.cuh), are solved at once; those whose search would be long, or in short lines was, by
// ranges of rows (volume/nearest/site_ranges.cuh). What none of these settles is left to the envelope
// (volume/nearest/far_sites.cuh), by a list.
#pragma once

#include "grid/cuda/volume/gaps.cuh"
#include "grid/cuda/volume/nearest/few_sites.cuh"
#include "grid/cuda/volume/nearest/same_sites.cuh"
#include "grid/cuda/volume/nearest/site_ranges.cuh"

namespace fathom::grid::cuda::volume {

/// A tile's rows as the pass along z left them, to shared memory. By all threads.
/// @param all_kept  whether all rows keep leads
/// @returns whether sites are near enough for a search
template <int kThreads>
__device__ bool load_sites(const WindowRows<WindowSites>& rows, const Volume& v, const HalfTile& half,
                           const SitesOfRows& sites, bool all_kept) {
  __shared__ unsigned near_of_warps[kThreads / 32];
  constexpr int kStretch = kThreads <= 128 ? 32 : 64;
  const bool is_short = are_short_lines<kThreads>(v.ny);
  NearRows<kThreads, kStretch, 32 * kStretch> near;
  load_rows_of_sites<kThreads, 4, Leads>(rows, v, half, sites, all_kept, near_words_end(is_short), near);
  near.put(near_of_warps);
  __syncthreads();
  return is_short ? near.nearly_suffice(near_of_warps, v.ny, 8) : near.suffice(near_of_warps, v.ny);
}

template <int kThreads>
__global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, kResidentThreadsAt64 / kThreads))
    search_sites_along_y(const __grid_constant__ Volume v, const __grid_constant__ Emitter<std::int64_t> emitter) {
  extern __shared__ uint4 window_shared[];
  __shared__ int work;
  __shared__ unsigned row_counts;
  __shared__ unsigned may_be_near_of_warps[kThreads / 32];
  v.clear_counter(0);
  const int t = static_cast<int>(threadIdx.x), n = v.ny, lane = t % 16;
  const HalfTile half = half_along_y(v, blockIdx.x);
  if (half.is_outside(v)) return;
  if (t == 0) work = 0, row_counts = 0;
  __syncthreads();
  const SitesOfRows sites(v, half.tile, half.x);
  SiteRowCounts counts;
  NearRows<kThreads, 64> may_be_near;
  const TileKind first_kind = sites.kind(0);
  // Other near ones a search finds soon.
  bool may_be_same = first_kind == kFull || (first_kind == kWide && !sites.is_here(0));
  for (int r = t; r < n; r += kThreads) {
    const TileKind kind = sites.kind(r);
    const bool is_far = kind == kWide && sites.is_far(r);
    counts.add(kind, is_far);
    may_be_near.add(r, kind != kEmpty && !is_far);
    may_be_same = may_be_same && kind == first_kind && (kind == kFull || sites.is_like_first(r));
  }
  may_be_near.put(may_be_near_of_warps);
  counts.put(&row_counts);
  may_be_same = __syncthreads_and(may_be_same);
  counts = SiteRowCounts(row_counts);
  if (counts.filled() <= kFewRows) {
    if (half.first == 0) FewSites<kThreads>(v, emitter, half.tile).solve(counts.filled());  // for the other half, too
    return;
  }
  const SiteWriter writer(v, emitter, half.tile, half.x);
  if (may_be_same && (first_kind == kFull || are_same_sites(sites, n))) return write_same_sites(sites, n, writer);
  const auto leave_to_envelope = [&] {
    if (t == 0) enlist(v.y_list, v.counters + 1, blockIdx.x);
  };
  if (counts.far() * 2 > n || !may_be_near.suffice(may_be_near_of_warps, n)) return leave_to_envelope();
  const WindowRows<WindowSites> rows(reinterpret_cast<unsigned*>(window_shared), n);
  const bool is_near = load_sites<kThreads>(rows, v, half, sites, counts.all_kept(n));
  bool failed = !is_near;
  for (int q0 = warp_number() * 2; !failed && q0 < rows.groups; q0 += kThreads / 16) {
    const int q = q0 + lane_id() / 16;
    GapWindow<WindowSites> window(rows, min(q, rows.groups - 1), lane);
    failed = !window.search(&work, GapWindow<WindowSites>::budget_of(n));
    if (failed) break;
    writer.write_near(q * 8, n - q * 8, window.best);
  }
  if (!__syncthreads_or(failed)) return;
  if (!is_near || are_short_lines<kThreads>(n)) settle_sites_along_y<kThreads>(v, emitter, window_shared);
  else leave_to_envelope();
}

}  // namespace fathom::grid::cuda::volume
