// The pass along y of volumes with nearest sites where these are near, which writes results: the search of
// volume_gaps.cuh.
//
// Work mapping: block = half a tile. Tiles with few rows that have sites (volume_few_sites.cuh), and those in whose
// rows they lie alike (volume_same_sites.cuh), are solved at once; those whose search would be long are left to the
// envelope (volume_sites.cuh), by a list.
#pragma once

#include "grid/cuda/volume_few_sites.cuh"
#include "grid/cuda/volume_gaps.cuh"
#include "grid/cuda/volume_same_sites.cuh"

namespace fathom::grid::cuda {

template <int kThreads>
__global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, kResidentThreadsAt64 / kThreads))
    search_sites_along_y(const __grid_constant__ Volume v, const __grid_constant__ Emitter<std::int64_t> emitter) {
  constexpr int kHalfWarps = kThreads / 16;
  extern __shared__ uint4 window_shared[];
  __shared__ int work, filled_rows;  // the latter: those of far ones in the upper half
  __shared__ unsigned near_of_warps[kThreads / 32];
  v.clear_counter(0);
  const int t = static_cast<int>(threadIdx.x), n = v.ny, lane = t % 16;
  const HalfTile half = half_along_y(v, blockIdx.x);
  if (half.is_outside(v)) return;
  if (t == 0) work = filled_rows = 0;
  __syncthreads();
  const SitesOfRows sites(v, half);
  int filled = 0;
  bool may_be_same = !sites.is_here(0);  // a search ends at once there
  for (int r = t; r < n; r += kThreads) {
    filled += sites.has_site(r) + (sites.is_far(r) << 16);
    may_be_same &= sites.is_like_first(r);
  }
  add_over_block(filled, &filled_rows);
  may_be_same = __syncthreads_and(may_be_same);
  const SiteWriter writer(v, emitter, half);
  if (filled_rows == 0) {
    for (int y = t / 16 * 8; y < n; y += kHalfWarps * 8)
      writer.write(y, n - y, [](int) { return SiteWriter::Result{UINT32_MAX, -1}; });
    return;
  }
  if ((filled_rows & 0xFFFF) <= kFewRows) return FewSites<kThreads>(sites, n).solve(writer);
  if (may_be_same && are_same_sites(sites, n)) return write_same_sites(sites, n, writer);
  if ((filled_rows >> 16) * 2 > n) {
    if (t == 0) enlist(v.y_list, v.counters + 1, blockIdx.x);
    return;
  }
  WindowRows<WindowSites> rows(reinterpret_cast<unsigned*>(window_shared), n);
  rows.pad(n);
  NearRows<kThreads, 64> near;
  const int first = t % 2 * 8, inside = v.nx - half.tile.word * 32 - half.first - first;
  const auto* from = reinterpret_cast<const uint4*>(narrow_half(v, half, half.tile.line, 0) + first);
#pragma unroll 4
  for (int r = t / 2; r < n; r += kThreads / 2) {
    unsigned site[8];
    sites.sites(EightLeads(__ldg(from + r * 4)), r, first, site);
    near.add(r, least_inside(site, inside) < 64 * 64 * WindowSites::kSquare);
    rows.put(r, first / 4, make_uint4(site[0], site[1], site[2], site[3]));
    rows.put(r, first / 4 + 1, make_uint4(site[4], site[5], site[6], site[7]));
  }
  near.put(near_of_warps);
  __syncthreads();
  bool failed = !near.suffice(near_of_warps, n);  // a search would be long
  for (int q0 = t / 32 * 2; !failed && q0 < rows.groups; q0 += kHalfWarps) {
    const int q = q0 + lane_id() / 16;
    GapWindow<WindowSites> window(rows, min(q, rows.groups - 1), lane);
    failed = !window.search(&work, GapWindow<WindowSites>::budget_of(n));
    if (failed) break;
    writer.write_near(q * 8, n - q * 8, window.best);
  }
  if (__syncthreads_or(failed) && t == 0) enlist(v.y_list, v.counters + 1, blockIdx.x);
}

}  // namespace fathom::grid::cuda
