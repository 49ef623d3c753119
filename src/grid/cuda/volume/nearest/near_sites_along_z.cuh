// Half tiles along z with sites near, where nearest sites are asked for: the search of volume/gaps.cuh in 16 bits, on
// two columns at once.
//
// Of a site 16 bits hold the square and the steps along z; on which side it lies along x, and how far, is looked up
// behind the search, where the site's row tells. Up to 24 steps fit. Rows for which that is too few are searched again,
// in 32 bits.
//
// Work mapping: block = half a tile, a quarter of a warp = eight rows, lane = two columns; in 32 bits half a warp =
// eight rows, lane = column. Cost: half the operations of a search in 32 bits.
#pragma once

#include "grid/cuda/volume/gaps.cuh"
#include "grid/cuda/volume/nearest/sites.cuh"

namespace fathom::grid::cuda::volume {

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
struct EightSites {
  unsigned pair[4];

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
      // Of two that are as near the left one is less.
      pair[k] = __vimin3_u16x2(to_left << 1, to_right << 1 | 0x10001u, 2 * WindowSites::kFar * 0x10001u);
      if (inside < 8) pair[k] &= inside > 2 * k + 1 ? 0xFFFFFFFFu : inside > 2 * k ? 0xFFFFu : 0u;
    }
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

/// Half a tile in shared memory: eight words to a row, and as many behind each eight rows, so that neighbouring groups
/// of rows meet different banks.
class PairRows {
 public:
  static __host__ __device__ std::size_t memory(int rows) {
    return static_cast<std::size_t>(row_groups(rows) + 1) * kGroup * sizeof(unsigned);
  }

  __device__ PairRows(unsigned* memory, int rows) : groups(row_groups(rows)), memory_(memory) {}

  /// Four words of a row: a half of the eight.
  __device__ void put(int row, int half, uint4 words) const {
    reinterpret_cast<uint4*>(memory_)[row / 8 * (kGroup / 4) + row % 8 * 2 + half] = words;
  }
  /// Rows behind the last, and the group that stands for all outside.
  __device__ void pad(int rows) const {
    constexpr unsigned kNone = SitePairs::kNone;
    for (int i = rows * 2 + static_cast<int>(threadIdx.x); i < (groups + 1) * 16; i += static_cast<int>(blockDim.x))
      put(i / 2, i % 2, make_uint4(kNone, kNone, kNone, kNone));
  }
  struct Group {
    const unsigned* first;
    __device__ unsigned operator[](int j) const { return first[j * 8]; }
  };
  __device__ Group group(int q, int lane) const {
    const unsigned place = min(static_cast<unsigned>(q), static_cast<unsigned>(groups));  // −1 and below: outside
    return {memory_ + place * kGroup + lane};
  }

  const int groups;

 private:
  static constexpr int kGroup = 9 * 8;  ///< words

  unsigned* const memory_;
};

/// The leads of half a tile without steps along z, in shared memory: [row][16]. To a search in 32 bits, sites.
class LeadRows {
 public:
  static __host__ __device__ std::size_t memory(int rows) {
    return static_cast<std::size_t>(row_groups(rows) + 1) * 8 * 16 * sizeof(std::uint16_t);
  }

  __device__ LeadRows(unsigned* memory, int rows)
      : groups(row_groups(rows)), memory_(reinterpret_cast<std::uint16_t*>(memory)) {}

  /// Eight of a row: a half of them.
  __device__ void put(int row, int half, uint4 leads) const {
    reinterpret_cast<uint4*>(memory_)[row * 2 + half] = leads;
  }
  __device__ void pad(int rows) const {
    const unsigned none = WindowSites::kFar << 9, two = none << 16 | none;
    for (int i = rows * 2 + static_cast<int>(threadIdx.x); i < (groups + 1) * 16; i += static_cast<int>(blockDim.x))
      put(i / 2, i % 2, make_uint4(two, two, two, two));
  }
  __device__ unsigned get(int row, int column) const { return memory_[row * 16 + column]; }

  struct Group {
    const std::uint16_t* first;
    __device__ unsigned operator[](int j) const {
      const unsigned lead = first[j * 16], steps = lead >> 9;
      return steps * steps * WindowSites::kSquare + (WindowSites::kHere | (lead & 1));
    }
  };
  __device__ Group group(int q, int lane) const {
    const unsigned place = min(static_cast<unsigned>(q), static_cast<unsigned>(groups));
    return {memory_ + place * 128 + lane};
  }

  const int groups;

 private:
  std::uint16_t* const memory_;
};

/// Where leads of half a tile along z go.
class LeadWriter {
 public:
  __device__ LeadWriter(const Volume& v, const HalfTile& half)
      : rows_(v.nz), step_(v.pairs_of_plane), first_(lead_half(v, half, 0, half.tile.line)) {}

  /// A column of eight rows, as far as they are there. @param lead  of the first, the second and so on
  template <class Of>
  __device__ void write_column(int z, int column, Of&& lead) const {
    std::uint16_t* to = first_ + column + z * 2 * step_;
    std::uint16_t leads[8];  // computed before any is stored, without questions between them
#pragma unroll
    for (int j = 0; j < 8; ++j) leads[j] = static_cast<std::uint16_t>(lead(j));
#pragma unroll
    for (int j = 0; j < 8; ++j, to += 2 * step_)
      if (z + j < rows_) *to = leads[j];
  }
  /// Two neighbouring columns, the first of which is even.
  template <class Of>
  __device__ void write_pair(int z, int column, Of&& leads) const {
    std::uint32_t* to = reinterpret_cast<std::uint32_t*>(first_ + column) + z * step_;
#pragma unroll
    for (int j = 0; j < 8; ++j, to += step_)
      if (z + j < rows_) *to = leads(j);
  }

 private:
  const int rows_;
  const std::int64_t step_;  ///< pairs from row to row
  std::uint16_t* const first_;
};

/// A tile's rows for a search in 32 bits. By all threads. @param sites_of  as NearSitesAlongZ::fill() has it
template <int kThreads, class SitesOf>
__device__ void fill_sites(const WindowRows<WindowSites>& rows, int n, SitesOf&& sites_of) {
  const auto t = static_cast<int>(threadIdx.x);
  rows.pad(n);
#pragma unroll 4
  for (int r = t / 2; r < n; r += kThreads / 2) {
    const EightSites eight = sites_of(r, t % 2);
    rows.put(r, t % 2 * 2, eight.sites(0));
    rows.put(r, t % 2 * 2 + 1, eight.sites(1));
  }
  __syncthreads();
}

/// The rows of a warp that a search in 32 bits is for, from group q0 on: those of both halves, a column to each lane.
/// @returns whether they are settled; else nothing is stored
template <class Rows>
__device__ bool search_sites(const Rows& rows, int q0, int n, const LeadWriter& writer, int* work) {
  const int lane = lane_id() % 16, q = q0 + lane_id() / 16;
  GapWindow<WindowSites, Rows> window(rows, min(q, rows.groups - 1), lane);
  if (!window.search(work, window.budget_of(n))) return false;
  writer.write_column(q * 8, lane, [&](int j) { return Leads::of(window.best[j]); });
  return true;
}

/// To shared memory. By all threads.
template <int kThreads>
__device__ void copy_byte_sides(ByteSides& sides) {
  for (int i = static_cast<int>(threadIdx.x); i < 256; i += kThreads) {
    sides.left[i] = kByteSides.left[i];
    sides.right[i] = kByteSides.right[i];
  }
}

/// Bytes of dynamic shared memory: the rows, and the leads.
inline __host__ __device__ std::size_t near_sites_memory(int rows) {
  return PairRows::memory(rows) + LeadRows::memory(rows);
}

template <int kThreads>
class NearSitesAlongZ {
 public:
  __device__ NearSitesAlongZ(uint4* memory, int rows)
      : n_(rows),
        pairs_(reinterpret_cast<unsigned*>(memory), rows),
        leads_(reinterpret_cast<unsigned*>(memory) + PairRows::memory(rows) / sizeof(unsigned), rows) {}

  /// By all threads. @param sites_of  a row's EightSites, the first eight of the half or the others
  template <class SitesOf>
  __device__ void fill(SitesOf&& sites_of) const {
    const auto t = static_cast<int>(threadIdx.x);
    pairs_.pad(n_);
    leads_.pad(n_);
#pragma unroll 4
    for (int r = t / 2; r < n_; r += kThreads / 2) {
      const EightSites eight = sites_of(r, t % 2);
      pairs_.put(r, t % 2, eight.pairs());
      leads_.put(r, t % 2, eight.leads());
    }
    __syncthreads();
  }
  /// Thereafter. @param work  what the warps have spent; shared, 0
  /// @returns whether all rows of the warp are settled
  __device__ bool search(const LeadWriter& writer, int* work) const {
    for (int q0 = warp_number() * 4; q0 < pairs_.groups; q0 += kThreads / 8)
      if (!search_four_groups(q0, writer, work)) return false;
    return true;
  }

 private:
  __device__ bool search_four_groups(int q0, const LeadWriter& writer, int* work) const {
    const int lane = lane_id() % 8, q = q0 + lane_id() / 8;
    GapWindow<SitePairs, PairRows> window(pairs_, min(q, pairs_.groups - 1), lane);
    const unsigned open =
        window.search(nullptr, 0) ? 0 : __ballot_sync(kAllLanes, window.is_open(SitePairs::kMostSteps));
    if ((open >> (lane_id() & 16) & 0xFFFFu) == 0)
      writer.write_pair(q * 8, 2 * lane, [&](int j) {
        const unsigned best = window.best[j];
        return lead(best & 0xFFFFu, q * 8 + j, 2 * lane) | lead(best >> 16, q * 8 + j, 2 * lane + 1) << 16;
      });
    for (int half = 0; half < 2; ++half)
      if ((open >> 16 * half & 0xFFFFu) != 0 && !search_sites(leads_, q0 + 2 * half, n_, writer, work)) return false;
    return true;
  }
  __device__ unsigned lead(unsigned best, int z, int column) const {
    const unsigned way = SitePairs::way(best);
    return leads_.get(z + static_cast<int>(way) - SitePairs::kMostSteps, column) +
           2 * (way + 128 - SitePairs::kMostSteps);
  }

  const int n_;
  const PairRows pairs_;
  const LeadRows leads_;
};

}  // namespace fathom::grid::cuda::volume
