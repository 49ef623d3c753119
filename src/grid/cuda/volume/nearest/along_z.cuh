// The pass along z of volumes with nearest sites: the search of volume/window.cuh where sites are near, else the envelope of
// volume/envelope.cuh, by a list.
//
// Tiles that have sites alone are told at once. Those with sites all along the line are searched in 16 bits, two columns
// at once: these hold the square and up to 24 steps along z; on which side a site lies along x, and how far, is looked up
// behind the search, where the site's row tells. Rows for which that is too few, and other tiles, are searched in 32 bits.
//
// Work mapping: block = half a tile; in 16 bits a quarter of a warp = eight rows, lane = two columns; in 32 bits half a
// warp = eight rows, lane = column. Cost: in 16 bits half the operations of a search in 32 bits; far, as without sites.
#pragma once

#include "grid/cuda/volume/envelope.cuh"
#include "grid/cuda/volume/nearest/sites.cuh"
#include "grid/cuda/volume/window.cuh"

namespace fathom::grid::cuda::volume {

static __device__ const ByteTable<false, 0, true> kByteSites;

/// Two columns' squares and steps along z: square · kWays + steps + kMostSteps.
struct SitePairs : WindowPairs {
  static constexpr int kMostSteps = 24;
  static constexpr unsigned kWays = 2 * kMostSteps + 1, kBoth = 0x10001u;
  static constexpr unsigned kFar = kMostSteps + 1;  ///< steps along x, and more; what a search settles is nearer
  static constexpr unsigned kSquare = kWays * kBoth, kStep = kBoth, kTies = kBoth;
  static constexpr unsigned kHere = kMostSteps * kBoth;
  static constexpr unsigned kNone = kFar * kFar * kSquare + kHere;
  static constexpr bool kIsCharged = false;
  static_assert((kFar * kFar + kMostSteps * kMostSteps) * kWays + kWays < 1u << 16);

  /// Steps to the nearest site along x, at least two columns' squares of them.
  static __device__ unsigned from(unsigned steps) {
    const unsigned capped = __vminu2(steps, kFar * kBoth), low = capped & 0xFFFFu, high = capped >> 16;
    return (low * low + (high * high << 16)) * kWays + kHere;
  }
  /// Of one column, of what a search settled: steps along z and kMostSteps.
  static __device__ unsigned way(unsigned word) {
    constexpr unsigned kShift = 21, kInverse = (1u << kShift) / kWays + 1;
    static_assert(kFar * kFar * kWays * (kInverse * kWays - (1u << kShift)) < 1u << kShift);
    return word - (word * kInverse >> kShift) * kWays;
  }
};

/// The nearest sites along x of 8 neighbours of a row, two to a word: steps · 2, and 1 for those to the right.
struct EightSites : EightOfRow<0, true> {
  /// @param inside   which of them lie inside the volume: the others keep no search busy
  /// @param of_byte  kByteSites
  __device__ EightSites(uint2 word, int first, const uint4& inside, const uint2* of_byte)
      : EightOfRow(word, first, of_byte) {
    const unsigned there[4] = {inside.x, inside.y, inside.z, inside.w};
#pragma unroll
    for (int k = 0; k < 4; ++k) pair[k] = __vminu2(pair[k], WindowSites::kFar * 2 * 0x10001u) & there[k];
  }

  /// As a search in 16 bits compares them.
  __device__ uint4 pairs() const { return make_uint4(of_pair(0), of_pair(1), of_pair(2), of_pair(3)); }
  /// As leads without steps along z.
  __device__ uint4 leads() const { return make_uint4(lead(0), lead(1), lead(2), lead(3)); }
  /// As a search in 32 bits compares them, four from 4 · half on.
  __device__ uint4 sites(int half) const {
    const unsigned a = pair[2 * half], b = pair[2 * half + 1];
    return make_uint4(site(a & 0xFFFFu), site(a >> 16), site(b & 0xFFFFu), site(b >> 16));
  }

 private:
  __device__ unsigned of_pair(int k) const { return SitePairs::from(pair[k] >> 1 & 0x7FFF7FFFu); }
  __device__ unsigned lead(int k) const { return (pair[k] & 0xFFFEFFFEu) << 8 | (pair[k] & 0x10001u); }
  static __device__ unsigned site(unsigned twice) {
    const unsigned steps = twice >> 1;
    return steps * steps * WindowSites::kSquare + (WindowSites::kHere | (twice & 1));
  }
};

/// Squares of two columns, a word to a lane.
struct PairsOfGroup {
  static constexpr unsigned kNone = SitePairs::kNone;
  const unsigned* rows;
  int lane;
  __device__ unsigned operator[](int j) const { return rows[j * 8 + lane]; }
};
/// Leads without steps along z; to a search in 32 bits, sites of a column.
struct LeadsOfGroup {
  static constexpr unsigned kNone = (WindowSites::kFar << 9) * 0x10001u;
  const unsigned* rows;
  int lane;
  __device__ unsigned operator[](int j) const {
    const unsigned lead = reinterpret_cast<const std::uint16_t*>(rows)[j * 16 + lane], steps = lead >> 9;
    return steps * steps * WindowSites::kSquare + (WindowSites::kHere | (lead & 1));
  }
};
using PairRows = HalfRows<PairsOfGroup>;
using LeadRows = HalfRows<LeadsOfGroup>;

/// Where leads of half a tile along z go.
struct LeadWriter {
  static constexpr int kHalves = 1;  ///< half tiles are left to the envelope

  const Volume& v;
  const HalfTile& half;
  const std::int64_t step = v.pairs_of_plane;  ///< pairs from row to row
  std::uint16_t* const first = v.lead_row(half.tile.item, half.tile.word * 2 + half.first / 16, 0, half.tile.line);

  /// A column of eight rows, as far as they are there. @param lead  of the first, the second and so on
  template <class Of>
  __device__ void write_column(int z, int column, Of&& lead) const {
    std::uint16_t leads[8];  // computed before any is stored
#pragma unroll
    for (int j = 0; j < 8; ++j) leads[j] = static_cast<std::uint16_t>(lead(j));
    store_eight<false>(v.nz - z, first + column + z * 2 * step, 2 * step, [&](int j) { return leads[j]; });
  }
  /// Two neighbouring columns, the first of which is even.
  template <class Of>
  __device__ void write_pair(int z, int column, Of&& leads) const {
    store_eight<false>(v.nz - z, reinterpret_cast<std::uint32_t*>(first + column) + z * step, step, leads);
  }

  /// From what an envelope finds of eight rows from z on, of lines that all have sites: rows of sixteen near ones as near,
  /// so that nothing is looked up for them along y. By whole warps, of which halves may have no rows.
  __device__ void put(int z, const unsigned* winners, int /*count*/) const {
    const bool is_inside = half.x < v.nx;
    unsigned far = 0;  // bits: in which rows a site of the half tile does not fit a lead with the steps to it
#pragma unroll
    for (int j = 0; j < 8; ++j) far |= unsigned{is_inside && winners[j] >> kKeyBits >= Leads::kFarSquare} << j;
    const int of_half = lane_id() & 16;
    far = warp_or(far << of_half) >> of_half;
    const uint2* line = v.word_line(half.tile);
    write_column(z, lane_id() % 16, [&](int j) {
      const unsigned plane = winners[j] & kKeyIndex;
      if (far >> j & 1) return Leads::kFirstFar + plane;
      if (!is_inside) return Leads::kHere;
      return Leads::near(steps_along_x(__ldg(line + plane), half.x % 32), static_cast<int>(plane) - (z + j));
    });
  }
};

/// Bytes of dynamic shared memory: the rows, and the leads.
inline __host__ __device__ std::size_t near_sites_memory(int rows) {
  return PairRows::memory(rows) + LeadRows::memory(rows);
}

/// Half a tile whose sites are near. Both searches are called by all threads.
/// @returns whether all rows of the warp are settled
template <int kThreads>
struct NearSitesAlongZ {
  const Volume& v;
  const HalfTile& half;
  unsigned* const memory;
  const uint2* const of_byte;  ///< kByteSites, shared
  int* const work;             ///< what the warps have spent; shared, 0
  const int n = v.nz;
  const LeadWriter writer{v, half};

  /// In 16 bits, and what is left in 32.
  __device__ bool search_pairs() const {
    const PairRows pairs(memory, n);
    const LeadRows leads(memory + PairRows::memory(n) / sizeof(unsigned), n);
    pairs.pad(n);
    leads.pad(n);
    for_rows([&](int r, int part, const EightSites& eight) {
      pairs.put(r, part, eight.pairs());
      leads.put(r, part, eight.leads());
    });
    for (int q0 = warp_number() * 4; q0 < pairs.groups; q0 += kThreads / 8)
      if (!search_four_groups(pairs, leads, q0)) return false;
    return true;
  }
  /// In 32 bits, where a search would often be too long for 16.
  __device__ bool search_sparse() const {
    const WindowRows<WindowSites> rows(memory, n);
    rows.pad(n);
    for_rows([&](int r, int part, const EightSites& eight) {
      rows.put(r, part * 2, eight.sites(0));
      rows.put(r, part * 2 + 1, eight.sites(1));
    });
    for (int q0 = warp_number() * 2; q0 < rows.groups; q0 += kThreads / 16)
      if (!search_two_groups(rows, q0)) return false;
    return true;
  }

 private:
  /// Fills rows: put(row, part of it, the first eight or the others, of which these are the sites).
  template <class Put>
  __device__ void for_rows(Put&& put) const {
    const int t = thread(), part = t % 2, first = half.first + part * 8;
    const uint2* line = v.word_line(half.tile);
    const uint4 inside = pairs_inside(v.nx - half.tile.word * 32 - first);
#pragma unroll 4
    for (int r = t / 2; r < n; r += kThreads / 2) put(r, part, EightSites(__ldg(line + r), first, inside, of_byte));
    __syncthreads();
  }
  __device__ bool search_four_groups(const PairRows& pairs, const LeadRows& leads, int q0) const {
    const int lane = lane_id() % 8, q = q0 + lane_id() / 8;
    Window<SitePairs, PairRows> window(pairs, min(q, pairs.groups - 1), lane);
    const unsigned open =
        window.search(nullptr, 0) ? 0 : __ballot_sync(kAllLanes, window.is_open(SitePairs::kMostSteps));
    const auto lead = [&](unsigned best, int z, int column) {
      const unsigned way = SitePairs::way(best);
      return leads.at(z + static_cast<int>(way) - SitePairs::kMostSteps, column) +
             2 * (way + 128 - SitePairs::kMostSteps);
    };
    if ((open >> (lane_id() & 16) & 0xFFFFu) == 0)
      writer.write_pair(q * 8, 2 * lane, [&](int j) {
        const unsigned best = window.best[j];
        return lead(best & 0xFFFFu, q * 8 + j, 2 * lane) | lead(best >> 16, q * 8 + j, 2 * lane + 1) << 16;
      });
    for (int k = 0; k < 2; ++k)
      if ((open >> 16 * k & 0xFFFFu) != 0 && !search_two_groups(leads, q0 + 2 * k)) return false;
    return true;
  }
  /// In 32 bits, a column to each lane. If it fails, nothing is stored.
  template <class Rows>
  __device__ bool search_two_groups(const Rows& rows, int q0) const {
    const int lane = lane_id() % 16, q = q0 + lane_id() / 16;
    Window<WindowSites, Rows> window(rows, min(q, rows.groups - 1), lane);
    if (!window.search(work, window.budget_of(n))) return false;
    writer.write_column(q * 8, lane, [&](int j) { return Leads::of(window.best[j]); });
    return true;
  }
};

template <int kThreads>
__global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, kResidentThreadsAt64 / kThreads))
    search_sites_along_z(const __grid_constant__ Volume v) {
  extern __shared__ uint4 window_shared[];
  __shared__ int work;
  __shared__ unsigned near_of_warps[kThreads / 32], in_tile_of_warps[kThreads / 32];
  __shared__ uint2 of_byte[256];
  v.clear_counter(1);
  const int t = thread(), n = v.nz;
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
  if (!any) return leave_along_z(v, kEmpty);
  if ((__ldg(&line->x) & all) == all && __syncthreads_and(is_full)) return leave_along_z(v, kFull);
  if (!stretches.few_lie_between(near_of_warps, n)) return leave_along_z(v, kWide, false);  // a search would be long
  copy_byte_table<kThreads>(of_byte, kByteSites.of);
  const NearSitesAlongZ<kThreads> near_sites{v, half, reinterpret_cast<unsigned*>(window_shared), of_byte, &work};
  __syncthreads();
  const bool is_near = in_tile.nearly_suffice(in_tile_of_warps, n, 8);
  const bool is_done = __syncthreads_and(is_near ? near_sites.search_pairs() : near_sites.search_sparse());
  leave_along_z(v, is_done ? kNarrow : kWide, is_done);
}

}  // namespace fathom::grid::cuda::volume
