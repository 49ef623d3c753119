// The last pass of a transposed volume (volume/transposed/along_x.cuh) with nearest sites, where these are near.
//
// Of several nearest sites the first counts: that with the lowest z, of these that with the lowest y, and only then x.
// The passes before leave of each plane across x the first site by that order. So what is compared here holds the steps
// along z and y, and behind them the side on which the site lies; how far along x follows from the square.
//
// Work mapping: block = half a tile, which is 16 neighbours along y by whole rows along x, in memory one piece of each
// output. The search of volume/nearest/sites_along_y.cuh, but that what it finds goes to shared memory, and to the
// outputs when all is there (volume/nearest/site_lines.cuh). Tiles that need none are solved at once
// (volume/nearest/few_sites_along_x.cuh); those of short lines whose search would be long by ranges of rows
// (volume/nearest/site_ranges.cuh). What none of these settles is left to the envelope
// (volume/nearest/far_sites_along_x.cuh), by a list. Cost: as there, and one store to shared memory and one load for
// each element.
#pragma once

#include "grid/cuda/volume/gaps.cuh"
#include "grid/cuda/volume/nearest/few_sites_along_x.cuh"
#include "grid/cuda/volume/nearest/site_ranges.cuh"

namespace fathom::grid::cuda::volume {

/// A line's squared distance and the way to the site, so that of equally near sites the first is least:
/// square · 2¹⁷ + (steps along z + 128) · 2⁹ + (steps along y + 128) · 2 + whether the site lies to the right.
struct SitesAlongX : WindowSites {
  using Stored = SitesAlongX;
  static constexpr unsigned kStep = 0, kRight = 1;

  /// From a lead of the row, in which x and y have changed places.
  static __device__ unsigned near_site(unsigned lead) {
    const int steps = static_cast<int>(Leads::along_x(lead));
    return far_site(lead & 1 ? steps : -steps, Leads::along_z(lead));
  }
  static __device__ unsigned far_site(int along_y, int along_z) {
    const auto square = static_cast<unsigned>(along_y * along_y + along_z * along_z);
    return square * kSquare + static_cast<unsigned>((along_z + 128) << 9 | (along_y + 128) << 1);
  }
};

/// Bytes of dynamic shared memory.
inline __host__ __device__ std::size_t sites_along_x_memory(int length) {
  return window_memory(length) + FoundWords::memory(length);
}

/// What a tile's rows hold.
struct SiteRows {
  int filled;        ///< rows that have sites
  bool all_kept;     ///< whether all keep leads
  bool are_far;      ///< more than half of all rows are, or those of a stretch that are not empty
  bool may_be_same;  ///< whether all may have the same
};

/// By all threads.
template <int kThreads>
__device__ SiteRows look_at_rows(const SitesOfRows& sites, int rows) {
  __shared__ unsigned row_counts;
  __shared__ unsigned may_be_near_of_warps[kThreads / 32];
  if (threadIdx.x == 0) row_counts = 0;
  __syncthreads();
  SiteRowCounts counts;
  NearRows<kThreads, 64> may_be_near;
  const TileKind first_kind = sites.kind(0);
  // Where the first is a site, a search ends at once.
  bool may_be_same = first_kind == kFull || (keeps_rows(first_kind) && !sites.is_here(0));
  for (int r = static_cast<int>(threadIdx.x); r < rows; r += kThreads) {
    const TileKind kind = sites.kind(r);
    const bool is_far = kind == kWide && sites.is_far(r);
    counts.add(kind, is_far);
    may_be_near.add(r, kind != kEmpty && !is_far);
    may_be_same = may_be_same && (first_kind == kFull ? kind == kFull : keeps_rows(kind) && sites.is_like_first(r));
  }
  counts.put(&row_counts);
  may_be_near.put(may_be_near_of_warps);
  may_be_same = __syncthreads_and(may_be_same);
  counts = SiteRowCounts(row_counts);
  const bool are_far = counts.far() * 2 > rows || !may_be_near.suffice(may_be_near_of_warps, rows);
  return {counts.filled(), counts.all_kept(rows), are_far, may_be_same};
}

/// A tile's rows as the pass along z left them, to shared memory. By all threads.
/// @param all_kept  whether all rows keep leads
/// @returns whether sites are near enough for a search
template <int kThreads>
__device__ bool load_sites(const WindowRows<SitesAlongX>& rows, const Volume& v, const HalfTile& half,
                           const SitesOfRows& sites, bool all_kept) {
  __shared__ unsigned near_of_warps[kThreads / 32];
  const unsigned end = near_words_end(are_short_lines<kThreads>(v.ny));
  NearRows<kThreads, 64> near;
  load_rows_of_sites<kThreads, 2, SitesAlongX>(rows, v, half, sites, all_kept, end, near);
  near.put(near_of_warps);
  __syncthreads();
  return near.suffice(near_of_warps, v.ny);
}

/// By all threads.
template <int kThreads>
__device__ void write_found(const SiteLineWriter<kThreads>& writer, const FoundWords& found) {
  writer.write_rows([&](int line) {
    return [&, line](int x) {
      const unsigned* words = found.from(line, x);
      return [&writer, line, x, words](int k) {
        return writer.near_result(line, x + 32 * k, words[k * FoundWords::kNext]);
      };
    };
  });
}

/// As settle_sites_along_y(), of short lines whose search would be long.
template <int kThreads>
__device__ __noinline__ void settle_sites_along_x(const Volume& v, const Emitter<std::int64_t>& emitter,
                                                  uint4* memory) {
  __shared__ NearestGroups<kThreads, SitesAlongX> nearest;
  const HalfTile half = half_along_y(v, blockIdx.x);
  const WindowRows<SitesAlongX> rows(reinterpret_cast<unsigned*>(memory), v.ny);
  const FoundWords found(memory + window_memory(v.ny) / sizeof(uint4));
  const bool is_done = nearest.solve(rows, [&](int group, const unsigned(&words)[8]) {
    if (group < rows.groups) found.put(group, lane_id() % 16, words);
  });
  if (is_done) write_found(SiteLineWriter<kThreads>(v, emitter, half), found);
  else if (threadIdx.x == 0) enlist(v.y_list, v.counters + 1, blockIdx.x);
}

/// Blocks per multiprocessor, as far as its shared memory goes.
constexpr int sites_along_x_blocks(int threads) { return resident_blocks(threads, kResidentThreadsAt64 / threads); }

template <int kThreads>
__global__ void __launch_bounds__(kThreads, sites_along_x_blocks(kThreads))
    search_sites_along_x(const __grid_constant__ Volume v, const __grid_constant__ Emitter<std::int64_t> emitter) {
  using Result = typename SiteLineWriter<kThreads>::Result;
  extern __shared__ uint4 window_shared[];
  v.clear_counter(0);
  const HalfTile half = half_along_y(v, blockIdx.x);
  if (half.is_outside(v)) return;
  const SitesOfRows sites(v, half.tile, half.x);
  const SiteLineWriter<kThreads> writer(v, emitter, half);
  const SiteRows told = look_at_rows<kThreads>(sites, v.ny);
  if (told.filled == 0)
    return writer.write_rows([](int) { return [](int) { return [](int) { return Result{UINT32_MAX, -1}; }; }; });
  if (told.filled <= kFewRows) return FewSitesAlongX<kThreads>::solve(sites, v.ny, writer);
  if (told.may_be_same && (sites.kind(0) == kFull || are_same_sites(sites, v.ny)))
    return write_same_sites(sites, writer);
  const FoundWords found(window_shared + window_memory(v.ny) / sizeof(uint4));
  const WindowRows<SitesAlongX> rows(reinterpret_cast<unsigned*>(window_shared), v.ny);
  if (!told.are_far) {
    const bool is_near = load_sites<kThreads>(rows, v, half, sites, told.all_kept);
    if (is_near && find_near<kThreads>(rows, v.ny, found)) return write_found(writer, found);
    if (!is_near && are_short_lines<kThreads>(v.ny)) return settle_sites_along_x<kThreads>(v, emitter, window_shared);
  }
  if (threadIdx.x == 0) enlist(v.y_list, v.counters + 1, blockIdx.x);
}

}  // namespace fathom::grid::cuda::volume
