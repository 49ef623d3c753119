// The pass along z of volumes with nearest sites where these are near: the search of volume_gaps.cuh.
//
// Work mapping: block = half a tile. Tiles of which few rows have sites are solved by these alone
// (volume_sparse_sites_along_z.cuh); those whose search would be long are left to the envelope (volume_sites.cuh), by a
// list.
#pragma once

#include "grid/cuda/volume_gaps.cuh"
#include "grid/cuda/volume_sparse_sites_along_z.cuh"

namespace fathom::grid::cuda {

/// Distances inside a byte of sites to the nearest on the left and on the right, one per bit; 255: none.
struct ByteSides {
  uint2 left[256], right[256];
};
constexpr ByteSides make_byte_sides() {
  ByteSides sides{};
  for (unsigned byte = 0; byte < 256; ++byte)
    for (int x = 0; x < 8; ++x) {
      unsigned to_left = 255, to_right = 255;
      for (int k = 7; k >= 0; --k) {
        if ((byte >> k & 1) == 0) continue;
        if (k > x) to_right = static_cast<unsigned>(k - x);
        else if (to_left == 255) to_left = static_cast<unsigned>(x - k);
      }
      if (byte >> x & 1) to_right = 0;
      const int shift = x % 4 * 8;
      (x < 4 ? sides.left[byte].x : sides.left[byte].y) |= to_left << shift;
      (x < 4 ? sides.right[byte].x : sides.right[byte].y) |= to_right << shift;
    }
  return sides;
}
static __device__ const ByteSides kByteSides = make_byte_sides();

/// The nearest sites along x of 8 neighbours, as a search along z compares them.
struct EightSites {
  unsigned site[8];

  /// @param first   bit of the first
  /// @param inside  how many of them lie inside the volume, from 8 on all: the others keep no search busy
  __device__ EightSites(uint2 word, int first, int inside, const ByteSides& sides) {
    const StepsOutside outside(word, first);
    const unsigned byte = word.x >> first & 255;
    const uint2 on_left = sides.left[byte], on_right = sides.right[byte];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const unsigned l = k < 2 ? on_left.x : on_left.y, r = k < 2 ? on_right.x : on_right.y;
      const unsigned from_left = static_cast<unsigned>(2 * k) | static_cast<unsigned>(2 * k + 1) << 16;
      const unsigned from_right = static_cast<unsigned>(7 - 2 * k) | static_cast<unsigned>(6 - 2 * k) << 16;
      const unsigned to_left =
          __viaddmin_u16x2(outside.left * 0x10001u, from_left, k % 2 ? widen<0xB3A2>(l) : widen<0x9180>(l));
      const unsigned to_right =
          __viaddmin_u16x2(outside.right * 0x10001u, from_right, k % 2 ? widen<0xB3A2>(r) : widen<0x9180>(r));
      // Steps · 2, and 1 for those to the right: of two that are as near the left one is less.
      const unsigned both = __vimin3_u16x2(to_left << 1, to_right << 1 | 0x10001u, 2 * WindowSites::kFar * 0x10001u);
      site[2 * k] = of(both & 0xFFFFu);
      site[2 * k + 1] = of(both >> 16);
    }
#pragma unroll
    for (int k = 0; k < 8; ++k)
      if (k >= inside) site[k] = WindowSites::kHere;
  }

 private:
  static __device__ unsigned of(unsigned twice) {
    const unsigned steps = twice >> 1;
    return steps * steps * WindowSites::kSquare + (WindowSites::kHere | (twice & 1));
  }
};

/// Rows along z of which a search wants one with a site near.
inline constexpr int kStretchOfSites = 128;

template <int kThreads>
__global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, kResidentThreads / kThreads))
    search_sites_along_z(const __grid_constant__ Volume v) {
  extern __shared__ uint4 window_shared[];
  __shared__ int work;
  __shared__ unsigned near_of_warps[kThreads / 32];
  __shared__ ByteSides sides;
  v.clear_counter(1);
  const int t = static_cast<int>(threadIdx.x), n = v.nz, lane = t % 16;
  const HalfTile half = narrow_half_along_z(v, blockIdx.x);
  if (half.is_outside(v)) return;
  const uint2* line = v.word_line(half.tile);
  bool any = false;
  NearRows<kThreads, false, kStretchOfSites> near;
  for (int r = t; r < n; r += kThreads) {
    const uint2 word = __ldg(line + r);
    const unsigned outside = min(word.y & 0xFFFFu, word.y >> 16);
    any |= has_sites(word);
    near.add(r, word.x != 0 || outside < WindowSites::kFar);
  }
  near.put(near_of_warps);
  if (t == 0) work = 0;
  std::uint16_t* leads = narrow_half(v, half, 0, half.tile.line) + lane;
  const std::int64_t step = std::int64_t{v.ny} * 32;
  const int with_sites = __syncthreads_count(any);  // threads
  if (with_sites == 0) {
    for (int r = t / 16; r < n; r += kThreads / 16) leads[r * step] = Leads::kNone;
    return;
  }
  __shared__ ListedRows filled;
  std::int16_t* list = SparseSitesAlongZ::list_in(window_shared, n);
  if (with_sites * 2 <= kThreads && filled.find(line, n, list, n / kFewSitesShare)) {
    const bool is_done = SparseSitesAlongZ::solve(v, half, filled, window_shared, &work);
    if (!is_done && t == 0) enlist(v.z_list, v.counters, blockIdx.x);
    return;
  }
  if (!near.suffice(near_of_warps, n, 0)) {  // a search would be long
    if (t == 0) enlist(v.z_list, v.counters, blockIdx.x);
    return;
  }
  for (int i = t; i < 256; i += kThreads) {
    sides.left[i] = kByteSides.left[i];
    sides.right[i] = kByteSides.right[i];
  }
  WindowRows<WindowSites> rows(reinterpret_cast<unsigned*>(window_shared), n);
  rows.pad(n);
  __syncthreads();
  const int first = half.first + t % 2 * 8;
#pragma unroll 4
  for (int r = t / 2; r < n; r += kThreads / 2) {
    const uint2 word = __ldg(line + r);
    const EightSites eight(word, first, v.nx - half.tile.word * 32 - first, sides);
    const unsigned* site = eight.site;
    rows.put(r, t % 2 * 2, make_uint4(site[0], site[1], site[2], site[3]));
    rows.put(r, t % 2 * 2 + 1, make_uint4(site[4], site[5], site[6], site[7]));
  }
  __syncthreads();
  bool failed = false;
  int took = 0;
  for (int q0 = t / 32 * 2; !failed && q0 < rows.groups; q0 += kThreads / 16) {
    const int q = q0 + lane_id() / 16;
    GapWindow<WindowSites> window(rows, min(q, rows.groups - 1), lane);
    failed = !window.search(&work, GapWindow<WindowSites>::budget_of(n), &took);
    std::uint16_t* to = leads + q * 8 * step;
#pragma unroll
    for (int j = 0; j < 8; ++j, to += step)
      if (!failed && q * 8 + j < n) *to = static_cast<std::uint16_t>(Leads::of(window.best[j]));
  }
  if (__syncthreads_or(failed) && t == 0) enlist(v.z_list, v.counters, blockIdx.x);
}

}  // namespace fathom::grid::cuda
