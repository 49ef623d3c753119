// The passes of volumes with unequal spacings, which are multiples of a unit: squares in units, of 32 bits.
//
// Between the passes the squares lie where the results will be, so that words are nearly all the memory there is
// besides; unless results are not of 32 bits, or large, in rows that begin inside sectors
// (volume/spaced/squares_aside.cuh). Of a half tile's line along z that has no site, or sites alone, there is one byte
// that says so, and no squares; half tiles along y whose lines are all alike are written at once
// (volume/unequal/alike_lines.cuh). Nearest sites: volume/spaced/sites.cuh. Limits of float distances are seen to
// before they are written, by kernels of their own, since that takes registers.
//
// Both sides of a signed field are solved at once, as two labels (volume/labels.cuh): an element is a site to the other
// side, so that one number for each is enough, and rows beyond the ends of a run of elements of one side are not nearer
// than these ends, whatever they are taken for. What changes along an axis is told by the words of one side.
//
// Work mapping: block = 16 neighbours along x, half a word, by one whole line, in shared memory; half warp = 8 rows,
// lane = column. Phase 1: the window of volume/window.cuh, up to 16 steps. Phase 2, where that does not settle a warp's
// rows: groups of eight rows from near to far, without those that cannot matter because their least value, or that of
// the whole line, is too large from there on.
//
// Source: separable passes (Hirata 1996); departs by searching outwards with bounds in place of an envelope, as the
// general engine does. Cost: one operation per element and step; in phase 2 at worst O(n²/64) bounds for a line of n,
// and the few groups that no bound excludes; tiles along y where these would be many are left to volume/spaced/far.cuh,
// and whole volumes of few rows with sites to volume/spaced/few.cuh.
// 8 bytes are moved per element between the passes, 4 of squares aside.
#pragma once

#include <type_traits>

#include "core/cuda/early_launch.cuh"
#include "grid/cuda/extremes.cuh"
#include "grid/cuda/output/limits.cuh"
#include "grid/cuda/volume/spaced/squares_aside.cuh"
#include "grid/cuda/volume/unequal/alike_lines.cuh"
#include "grid/cuda/volume/unequal/fill_rows.cuh"
#include "grid/cuda/volume/window.cuh"
#include "grid/cuda/volume/writer.cuh"

namespace fathom::grid::cuda {

/// A line's squared distance.
struct WindowSquares {
  using Stored = WindowSquares;
  static constexpr unsigned kNone = kNoneSpaced;
  static constexpr unsigned kSquare = 1;
  static constexpr unsigned kStep = 0;
  static constexpr unsigned kTies = 0;
  static constexpr int kMostSteps = 16;
  static __device__ unsigned from(unsigned stored) { return stored; }
  static __device__ unsigned offer(unsigned value, unsigned square, unsigned best) {
    return __viaddmin_u32(value, square, best);
  }
  static __device__ unsigned largest(const unsigned* eight) { return greatest_of_eight(eight); }
  static __device__ unsigned least(const unsigned* eight) { return least_of_eight(eight); }
};
/// A line's squared distance and the steps to the row that it is from, so that of equally near rows the lowest is
/// least: square · 2⁶ + steps + 32. Rows hold squares alone.
struct WindowWinners {
  using Stored = WindowSquares;
  static constexpr unsigned kSquare = 1u << 6;
  static constexpr unsigned kStep = 1;
  static constexpr unsigned kTies = 1;
  static constexpr int kMostSteps = 16;
  static constexpr unsigned kHere = 32;
  static constexpr unsigned kFar = (1u << 25) - 1;  ///< as far as squares count: what a window settles is nearer
  static_assert((kMostSteps + 1) * (kMostSteps + 1) * kMostMultiple * kMostMultiple < kFar);

  static __device__ unsigned from(unsigned stored) { return min(stored, kFar) * kSquare + kHere; }
  static __device__ unsigned offer(unsigned value, unsigned square, unsigned best) {
    return __viaddmin_u32(value, square, best);
  }
  static __device__ unsigned largest(const unsigned* eight) { return WindowSquares::largest(eight) / kSquare; }
  static __device__ unsigned square(unsigned word) { return word / kSquare; }
  static __device__ int steps(unsigned word) { return static_cast<int>(word % kSquare) - static_cast<int>(kHere); }
};

/// Whether in most lanes none of a group's rows is as near by itself as those behind a window's last step are at least:
/// hardly ever does one settle the warp's rows then.
__device__ inline bool is_far(const Window<WindowSquares>& window, unsigned weight) {
  constexpr unsigned kSteps = WindowSquares::kMostSteps + 1;
  return __popc(__ballot_sync(kAllLanes, WindowSquares::least(window.best) > weight * (kSteps * kSteps))) > 16;
}

/// Squares are less than this, also in padding, so that no sum of two wraps.
inline constexpr std::int64_t kMostSpaced = 0x70000000;

/// Bytes of dynamic shared memory: the rows, and the least value of each group.
inline __host__ __device__ std::size_t spaced_memory(int rows) {
  return window_memory(rows) + static_cast<std::size_t>(row_groups(rows) + 1) * 16 * sizeof(unsigned);
}

/// Whether a search asks which rows the least are from, too, the lowest of several: as it goes, behind squares below
/// kMostKeyed, or at last, within the groups that it kept.
enum class Winners { none, keyed, sought };
inline constexpr unsigned kMostKeyed = 1u << 28;  ///< sums of two have three bits to spare, for the row of a group

/// The row that is nearest to an element; −1: there is none.
struct Winner {
  unsigned square;
  int row;
};

/// The groups of a tile's rows that have sites, from low to high, where they are few.
struct FewGroups {
  static constexpr int kMost = 4;
  int count, group[kMost];

  /// Whether it is worth while to look at these alone.
  __device__ bool serve(int groups) const { return count <= kMost && groups > 2 * kMost; }
  /// In any order.
  __device__ void add(int g) {
    const int place = atomicAdd(&count, 1);
    if (place < kMost) group[place] = g;
  }
  /// By one thread, after a barrier.
  __device__ void sort() {
    for (int i = 1; i < min(count, kMost); ++i)
      for (int k = i; k > 0 && group[k] < group[k - 1]; --k) {
        const int lower = group[k];
        group[k] = group[k - 1], group[k - 1] = lower;
      }
  }
};

/// Eight rows of a line, from all others.
template <Winners kWinners = Winners::none>
class SpacedSearch {
 public:
  static constexpr unsigned kNone = kWinners == Winners::keyed ? kMostKeyed : WindowSquares::kNone;  ///< and more

  /// @param least  [groups + 1][16]: of the rows' groups
  __device__ SpacedSearch(const WindowRows<WindowSquares>& rows, const unsigned* least, int group, int lane,
                          unsigned weight)
      : rows_(rows), least_(least + lane), group_(group), lane_(lane), weight_(weight) {
    const auto own = rows.group(group, lane);
#pragma unroll
    for (int j = 0; j < 8; ++j) best[j] = own[j], from_[j] = kWinners == Winners::keyed ? group * 8 + j : group;
  }

  /// @param line_least  of all groups
  __device__ void run(unsigned line_least) {
    worst_ = WindowSquares::largest(best);
    if (!hopeful(line_least + weight_)) return;
    offer<0>(0);
    for (int d = 1; d < rows_.groups; ++d) {
      const auto gap = static_cast<unsigned>(8 * d - 7);
      const unsigned cost = weight_ * gap * gap;
      if (!hopeful(line_least + cost)) return;
      if (hopeful(least_of(group_ - d) + cost)) offer<-1>(d);
      if (hopeful(least_of(group_ + d) + cost)) offer<1>(d);
    }
  }

  /// The same where few groups have sites: no bound is asked for.
  __device__ void run(const FewGroups& few) {
#pragma unroll 1
    for (int k = 0; k < few.count; ++k)
      if (few.group[k] == group_) offer<0>(0);
#pragma unroll 1
    for (int k = 0; k < few.count; ++k)
      if (few.group[k] > group_) offer<1>(few.group[k] - group_);
#pragma unroll 1
    for (int k = few.count - 1; k >= 0; --k)
      if (few.group[k] < group_) offer<-1>(group_ - few.group[k]);
  }

  /// The row that best[j], if it is one, is from.
  __device__ int winner(int j) const {
    if constexpr (kWinners == Winners::keyed) return from_[j];
    const auto rows = rows_.group(from_[j], lane_);
    const int first = from_[j] * 8 - (group_ * 8 + j);
    int row = 0;
#pragma unroll
    for (int i = 7; i >= 0; --i)
      if (rows[i] + weight_ * static_cast<unsigned>((first + i) * (first + i)) == best[j]) row = i;
    return from_[j] * 8 + row;
  }

  unsigned best[8];

 private:
  __device__ bool hopeful(unsigned bound) const {
    return __any_sync(kAllLanes, kWinners == Winners::none ? bound < worst_ : bound <= worst_);
  }
  __device__ unsigned least_of(int group) const {
    return least_[min(static_cast<unsigned>(group), static_cast<unsigned>(rows_.groups)) * 16];
  }

  /// All of the group `d` groups away, down (−1), up (1), or of the own one (0).
  template <int kDirection>
  __device__ void offer(int d) {
    constexpr unsigned kUnit = kWinners == Winners::keyed ? 8 : 1;
    constexpr int kSign = kDirection < 0 ? -1 : 1;
    const int group = group_ + kSign * d;
    const auto others = rows_.group(group, lane_);
    unsigned square[15];  // of the steps from the nearest of its rows to the nearest target, and so on
#pragma unroll
    for (int k = 0; k < 15; ++k) {
      const int steps = 8 * d - 7 + k;
      square[k] = weight_ * kUnit * static_cast<unsigned>(steps * steps);
    }
    unsigned found[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) found[j] = kWinners == Winners::none ? best[j] : 0xFFFFFFFFu;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      unsigned value = others[i];
      if constexpr (kWinners == Winners::keyed) value = min(value, kNone) * kUnit + static_cast<unsigned>(i);
#pragma unroll
      for (int j = 0; j < 8; ++j) found[j] = WindowSquares::offer(value, square[7 + kSign * (i - j)], found[j]);
    }
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const unsigned least = found[j] / kUnit;
      // Rows below go before those that are as near; of its own group, the search has the row itself so far.
      if (kWinners != Winners::none && (kDirection > 0 ? least < best[j] : least <= best[j]))
        from_[j] = group * static_cast<int>(kUnit) + static_cast<int>(found[j] % kUnit);
      best[j] = min(best[j], least);
    }
    worst_ = WindowSquares::largest(best);
  }

  const WindowRows<WindowSquares>& rows_;
  const unsigned* least_;
  const int group_, lane_;
  const unsigned weight_;
  unsigned worst_;
  int from_[8];  ///< winners: rows, or groups
};

/// The least of each group of rows, and of the whole line; which groups have sites. By all threads of the block, after
/// a barrier.
template <int kThreads>
__device__ unsigned find_least(const WindowRows<WindowSquares>& rows, unsigned* least, FewGroups& few) {
  __shared__ unsigned line_least[16];
  const int t = static_cast<int>(threadIdx.x), lane = t % 16, count = (rows.groups + 1) * 16;
  if (t < 16) line_least[t] = WindowSquares::kNone;
  if (t == 0) few.count = 0;
  __syncthreads();
  unsigned mine = WindowSquares::kNone;
  for (int i = t; i - lane_id() < count; i += kThreads) {  // also a half warp behind the last group
    const auto own = rows.group(i / 16, lane);
    unsigned value = own[0];
#pragma unroll
    for (int j = 1; j < 8; ++j) value = min(value, own[j]);
    if (i < count) least[i] = value;
    mine = min(mine, value);
    const unsigned filled = __ballot_sync(kAllLanes, value < WindowSquares::kNone) >> (lane_id() & 16) & 0xFFFFu;
    if (filled != 0 && lane == 0) few.add(i / 16);
  }
  mine = min(mine, __shfl_xor_sync(kAllLanes, mine, 16));
  if (lane_id() < 16) atomicMin(line_least + lane, mine);
  __syncthreads();
  if (t == 0 && few.serve(rows.groups)) few.sort();
  __syncthreads();
  return line_least[lane];
}

/// Whether the nearest rows of a tile's lines are many groups away, by the least of groups alone: of a group in
/// each of some columns, half a warp each. By all threads of the block, after a barrier.
inline __device__ bool are_winners_far(const unsigned* least, int groups, unsigned weight, int columns) {
  constexpr unsigned kGroup = kLongestKeyed / 8 - 1;  ///< last bits of squares, in which groups take their place
  __shared__ int way;
  const int t = static_cast<int>(threadIdx.x), lane = t % 16, column = t / 16,
            own = (2 * column + 1) * groups / (2 * columns);
  if (t == 0) way = 0;
  __syncthreads();
  if (column < columns) {
    unsigned best = 0xFFFFFFFFu;
    for (int g = lane; g < groups; g += 16) {
      const auto steps = static_cast<unsigned>(8 * (g - own));
      best = min(best, ((least[g * 16 + column] + weight * steps * steps) & ~kGroup) | static_cast<unsigned>(g));
    }
#pragma unroll
    for (int step = 8; step > 0; step /= 2) best = min(best, __shfl_xor_sync(kAllLanes, best, step));
    if (lane == 0) atomicAdd(&way, abs(static_cast<int>(best & kGroup) - own));
  }
  __syncthreads();
  return way >= columns * kFarGroups;
}

/// Leaves no tile.
struct LeaveNone {
  __device__ bool operator()() const { return false; }
};

/// All groups of a tile's rows. By all threads of the block, after a barrier.
///
/// @param is_near  whether windows are worth a try
/// @param window   solves group q if all of the warp's are near: window(q), which says whether it did
/// @param search   solves group q: search(q, look), where look() runs a SpacedSearch
/// @param leave    of a tile of which no window has solved a group, by all threads: whether it is left
template <int kThreads, class OfWindow, class OfSearch, class Leave = LeaveNone>
__device__ void solve_groups(const WindowRows<WindowSquares>& rows, unsigned* least, bool is_near, OfWindow&& window,
                             OfSearch&& search, Leave&& leave = {}) {
  __shared__ FewGroups few;
  const int first = static_cast<int>(threadIdx.x) / 32 * 2 + lane_id() / 16;
  unsigned left = 0;  // bit k: the warp's groups of round k
  bool any_solved = false;
  for (int k = 0, q = first; q - lane_id() / 16 < rows.groups; ++k, q += kThreads / 16) {
    if (!is_near || !window(q)) left |= 1u << k;
    else any_solved = true;
  }
  if (!__syncthreads_or(left != 0)) return;
  const unsigned line_least = find_least<kThreads>(rows, least, few);
  if constexpr (!std::is_same_v<std::decay_t<Leave>, LeaveNone>)
    if (!few.serve(rows.groups) && !__syncthreads_or(any_solved) && leave()) return;
  const auto look = [&](auto& spaced_search) {
    if (few.serve(rows.groups)) spaced_search.run(few);
    else spaced_search.run(line_least);
  };
  for (int k = 0, q = first; q - lane_id() / 16 < rows.groups; ++k, q += kThreads / 16)
    if (left >> k & 1) search(q, look);
}

/// Rows of a group behind the line's last keep no search busy. @param count  rows of the line from the group's first on
__device__ inline void leave_out_behind(unsigned* best, int count) {
  if (count >= 8) return;
#pragma unroll
  for (int j = 0; j < 8; ++j)
    if (j >= count) best[j] = 0;
}

/// All rows of a tile. By all threads of the block, after a barrier.
///
/// @param is_near  whether the window is worth a try
/// @param bound    of runs, takes a minimum of a group's eight values with what is known of them besides:
///                 bound(group, values)
/// @param store    takes eight results of the lane's column: store(first row, values, how many)
/// @param leave    as solve_groups() has it
template <int kThreads, bool kRuns, class Bound, class Store, class Leave = LeaveNone>
__device__ void solve_spaced(const WindowRows<WindowSquares>& rows, unsigned* least, int n, unsigned weight,
                             bool is_near, Bound&& bound, Store&& store, Leave&& leave = {}) {
  const int lane = static_cast<int>(threadIdx.x) % 16, last = rows.groups - 1;
  const auto by_window = [&](int q) {
    Window<WindowSquares> window(rows, min(q, last), lane, weight);
    if constexpr (kRuns) {
      leave_out_behind(window.best, n - q * 8);
      if (__any_sync(kAllLanes, WindowSquares::largest(window.best) > 0)) bound(min(q, last), window.best);
    }
    if (is_far(window, weight) || !window.search()) return false;
    store(q * 8, window.best, n - q * 8);
    return true;
  };
  const auto by_search = [&](int q, auto&& look) {
    SpacedSearch search(rows, least, min(q, last), lane, weight);
    if constexpr (kRuns) {
      leave_out_behind(search.best, n - q * 8);
      bound(min(q, last), search.best);
    }
    look(search);
    store(q * 8, search.best, n - q * 8);
  };
  solve_groups<kThreads>(rows, least, is_near, by_window, by_search, leave);
}

/// Rows of squared distances along x, from words. By all threads of the block, between barriers.
///
/// @param distances_of  eight of a row: distances_of(row, first bit)
/// @param near_of    counts half a row by its least square: near_of(least)
/// @param pinned_of  of a row: the elements that have distance 0 besides
/// @returns what the thread's halves of rows count
template <int kThreads, class DistancesOf, class NearOf, class PinnedOf>
__device__ int load_squares(WindowRows<WindowSquares>& rows, DistancesOf&& distances_of, int n, int first_bit,
                            unsigned weight, NearOf&& near_of, PinnedOf&& pinned_of) {
  const int t = static_cast<int>(threadIdx.x);
  int count = 0;
#pragma unroll 4
  for (int r = t / 2; r < n; r += kThreads / 2) {
    const EightDistances distances = distances_of(r, first_bit + t % 2 * 8);
    const unsigned pinned = pinned_of(r) >> (first_bit + t % 2 * 8);
    unsigned squares[8], least = WindowSquares::kNone;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const unsigned steps = distances.pair[k / 2] >> (16 * (k % 2)) & 0xFFFFu;
      squares[k] = pinned >> k & 1 ? 0 : steps < kNoneInWord ? weight * steps * steps : WindowSquares::kNone;
      least = min(least, squares[k]);
    }
    count += near_of(least);
    rows.put(r, t % 2 * 2, make_uint4(squares[0], squares[1], squares[2], squares[3]));
    rows.put(r, t % 2 * 2 + 1, make_uint4(squares[4], squares[5], squares[6], squares[7]));
  }
  return count;
}

/// Whether the volume has so few rows with sites that both passes leave all of it to volume/spaced/few.cuh.
__device__ inline bool is_left_to_few_rows(const Volume& v) { return v.y_list && __ldg(v.counters) <= kFewRows; }

__host__ __device__ constexpr Runs runs_of(Writing writing) {
  return is_of_labels(writing) ? Runs::of_labels : writing == Writing::both_sides ? Runs::of_sides : Runs::none;
}
template <Runs kRuns>
using SpacedRunWords = RunWords<kRuns != Runs::none, kRuns == Runs::of_sides ? kLongestAxis : kLongestKeyed>;

/// The squares of a row of half a tile: one behind the other, from where its results will be. The pass along y reads
/// all of half a tile before it writes any.
__device__ inline std::uint32_t* squares_between_passes(const Volume& v, const HalfTile& half, int z, int y) {
  return v.wide.row(v.wide_first_item + half.tile.item, z, y) + (half.tile.word * 32 + half.first) * v.wide_x_stride;
}

/// Whether a line of words has a site. By all threads of the block.
template <int kThreads>
__device__ bool has_any_site(const uint2* words, int n) {
  bool any = false;
  for (int r = static_cast<int>(threadIdx.x); r < n; r += kThreads) any |= has_sites(__ldg(words + r));
  return __syncthreads_or(any);
}

/// Whether all rows of a line of words have sites in some columns. By all threads of the block.
/// @param columns  bits
template <int kThreads>
__device__ bool has_sites_alone(const uint2* words, int n, unsigned columns) {
  const auto is_full = [&](int r) { return (__ldg(&words[r].x) & columns) == columns; };
  if (!is_full(0)) return false;
  bool all = true;
  for (int r = static_cast<int>(threadIdx.x); r < n; r += kThreads) all &= is_full(r);
  return __syncthreads_and(all);
}

/// @tparam kAside  squares may lie aside
template <int kThreads, Runs kRuns, bool kAside>
__global__ void __launch_bounds__(kThreads, search_blocks(kThreads, kRuns != Runs::none || kAside))
    solve_spaced_along_z(const __grid_constant__ Volume v) {
  extern __shared__ uint4 window_shared[];
  constexpr bool kLabels = kRuns == Runs::of_labels, kSides = kRuns == Runs::of_sides;
  __shared__ int near_rows;
  __shared__ int has_ends;  // there, because registers are short
  __shared__ uint2 of_byte[256];
  __shared__ SpacedRunWords<kRuns> run_words;
  v.clear_counter(1);
  const bool is_left = kRuns == Runs::none && is_left_to_few_rows(v);
  const int t = static_cast<int>(threadIdx.x), n = v.nz;
  const HalfTile half = half_along_z(v, blockIdx.x);
  if (half.is_outside(v)) return;
  auto* memory = reinterpret_cast<unsigned*>(window_shared);
  WindowRows<WindowSquares> rows(memory, n);
  const uint2 *words = v.word_line(half.tile), *changes = v.changes_along_z(half.tile);
  const auto tell = [&](TileKind kind) {
    if (kRuns == Runs::none && t == 0) kinds_of_half(v, half.tile, half.first / 16)[half.tile.line] = kind;
  };
  if constexpr (kRuns == Runs::none)
    if (has_sites_alone<kThreads>(words, n, half.bits(v))) return tell(kFull);
  if (t == 0) near_rows = has_ends = 0;
  for (int i = t; i < 256; i += kThreads) of_byte[i] = byte_distances(i, kLabels);
  rows.pad(n);
  const RunEnds ends(run_words, n);
  bool any = false;
  if constexpr (kLabels) any = ends.fill_half(half.first, [&](int r) { return __ldg(&changes[r].x); });
  if constexpr (kSides)
    any = ends.fill_half(half.first, [&](int r) { return r ? __ldg(&words[r].x) ^ __ldg(&words[r - 1].x) : 0; });
  __syncthreads();
  if (is_left) return tell(kEmpty);  // asked for before, and not waited for
  if (any) atomicOr(&has_ends, 1);
  const auto distances_of = [&](int r, int first) {
    if constexpr (!kSides) return EightDistances(__ldg(words + r), first, of_byte, kLabels);
    else return distances_to_other_side(__ldg(words + r), __ldg(v.other_line(half.tile) + r), first, of_byte);
  };
  const auto pinned_of = [&](int r) { return kLabels ? v.runs_along_z(half.tile, changes, r).y : 0u; };
  constexpr int kFitting = 1 << 16;  ///< of a half row that has squares of 16 bits
  const auto near_of = [&](unsigned least) {
    return int{least < v.weight_z * (64 * 64)} + (kAside && SquaresAside::fits(least) ? kFitting : 0);
  };
  const int near = load_squares<kThreads>(rows, distances_of, n, half.first, v.weight_x, near_of, pinned_of);
  add_over_block(near, &near_rows);
  __syncthreads();
  const auto bound = [&](int group, unsigned* squares) {
    if (has_ends) ends.bound(group, half.first + t % 16, squares, v.weight_z);
  };
  std::uint32_t* column = squares_between_passes(v, half, 0, half.tile.line) + t % 16;
  const SquaresAside aside(v, half);
  const bool is_narrow = kAside && aside.serve(near_rows / kFitting, 2 * n);
  const auto store = [&](int z, const unsigned* values, int count) {
    if (is_narrow && aside.keep(z, values, count)) return;
    if (half.x >= v.nx) return;
    std::uint32_t* to = column + z * v.wide.z_stride;
#pragma unroll
    for (int j = 0; j < 8; ++j, to += v.wide.z_stride)
      if (j < count) *to = values[j];
  };
  if constexpr (kRuns == Runs::none)
    if (near_rows == 0 && !has_any_site<kThreads>(words, n)) return tell(kEmpty);
  tell(is_narrow ? kNarrow : kWide);
  solve_spaced<kThreads, kRuns != Runs::none>(rows, memory + window_memory(n) / sizeof(unsigned), n, v.weight_z,
                                              near_rows % kFitting * 16 >= n, bound, store);
}

/// Kinds of the rows of half a tile along y, as the pass along z told of them.
/// @tparam kAside  squares may lie aside
template <bool kAside>
class KindsAlongY {
 public:
  /// @param are_told  else none is asked for
  __device__ KindsAlongY(const Volume& v, const HalfTile& half, bool are_told = true)
      : of_lines(are_told ? kinds_of_half(v, half.tile, half.first / 16) : nullptr), aside_(v, half) {}

  __device__ TileKind operator[](int row) const {
    const auto kind = static_cast<TileKind>(__ldg(of_lines + row));
    return kAside ? aside_.kind(row, kind) : kind;
  }

  /// Keeps those of the thread's rows, one in kThreads. @returns whether all are `first`
  template <int kThreads>
  __device__ bool keep(std::uint8_t* kept, TileKind first, int rows) const {
    constexpr int kRows = (longest_alike_line(kThreads) + kThreads - 1) / kThreads;
    const auto row = [&](int k) { return min(static_cast<int>(threadIdx.x) + k * kThreads, rows - 1); };
    TileKind own[kRows];
#pragma unroll
    for (int k = 0; k < kRows; ++k) own[k] = (*this)[row(k)];  // without a branch, so that the waits are one
    bool all = true;
#pragma unroll
    for (int k = 0; k < kRows; ++k) kept[row(k)] = own[k], all &= own[k] == first;
    return all;
  }

  const std::uint8_t* of_lines;

 private:
  const SquaresAside aside_;
};

/// Squares of half a tile along y. All functions are called by all threads of the block.
/// @tparam kAside  some may lie aside
template <int kThreads, bool kAside>
class SquaresAlongY {
 public:
  using Rows = WindowRows<WindowSquares>;

  __device__ SquaresAlongY(const Volume& v, const HalfTile& half)
      : wide_{squares_between_passes(v, half, half.tile.line, 0), v.wide.y_stride,
              v.nx - half.tile.word * 32 - half.first},
        narrow_(kAside ? SquaresAside(v, half).two_of_first() : nullptr),
        rows_(v.ny),
        aside_(v, half) {}

  /// Where all rows are wide. @param take  takes each square, by the thread that has filled it: take(square)
  template <class Take>
  __device__ void load_wide(const Rows& rows, Take&& take) const {
    fill_rows<kThreads>(rows, rows_, wide_, take);
  }
  /// The same, whatever they are. @param kind_of  of a row
  template <class KindOf, class Take>
  __device__ void load(const Rows& rows, KindOf&& kind_of, Take&& take) const {
    if constexpr (!kAside) return fill_rows<kThreads>(rows, rows_, wide_, kind_of, take);
    const int lane = static_cast<int>(threadIdx.x) % 16;
    const std::uint32_t* wide = wide_.at(0, lane);
    const auto square_of = [&](int r) {  // by one load, wherever it lies
      const TileKind kind = kind_of(r);
      const bool is_narrow = kind == kNarrow;
      const std::uint32_t* at = (is_narrow ? narrow_ : wide) + r * (is_narrow ? SquaresAside::kStep : wide_.stride);
      unsigned square = kind == kFull ? 0 : WindowSquares::kNone;
      if (keeps_rows(kind)) square = __ldcs(at);
      return is_narrow ? SquaresAside::own_of(square) : square;
    };
    const auto put = [&](int r, unsigned square) {
      take(square);
      rows.put(r, lane, square);
    };
    take_rows<8>(static_cast<int>(threadIdx.x) / 16, kThreads / 16, rows_, square_of, put);
  }
  /// Where all lie aside, eight neighbours by a thread.
  template <class Take>
  __device__ void load_narrow(const Rows& rows, Take&& take) const {
    const int t = static_cast<int>(threadIdx.x);
    const auto put = [&](int r, int quarter, unsigned pair, unsigned next) {
      const uint4 four = make_uint4(pair & 0xFFFFu, pair >> 16, next & 0xFFFFu, next >> 16);
      take(four.x), take(four.y), take(four.z), take(four.w);
      rows.put(r, quarter, four);
    };
#pragma unroll 4
    for (int r = t / 2; r < rows_; r += kThreads / 2) {
      const uint4 eight = aside_.eight(r, t % 2);
      put(r, t % 2 * 2, eight.x, eight.y);
      put(r, t % 2 * 2 + 1, eight.z, eight.w);
    }
  }

 private:
  const RowsOfHalf wide_;
  const std::uint32_t* narrow_;
  const int rows_;
  const SquaresAside aside_;
};

/// Writes a column's rows, of squares in units, as VolumeWriter::write_column() does, within limits if there are any.
template <bool kLimited, Writing kWriting>
__device__ void write_spaced_column(const VolumeWriter<kWriting>& writer, const Limits& limits, int y, int x,
                                    const unsigned* squares, int count) {
  if constexpr (kLimited) {
    const std::int32_t around = min(limits.to_border(0, writer.tile.line), limits.to_border(2, writer.v.first_x + x));
    writer.template write_column<true>(y, x, squares, count, [&](float distance, int row) {
      return limits.of(distance, static_cast<float>(min(around, limits.to_border(1, row))));
    });
  } else {
    writer.template write_column<true>(y, x, squares, count);
  }
}

/// One square for all rows of half a tile. By all threads. @param store  as solve_spaced() has it
template <int kThreads, class Store>
__device__ void store_same(unsigned square, int n, Store&& store) {
  const unsigned eight[8] = {square, square, square, square, square, square, square, square};
  for (int y = static_cast<int>(threadIdx.x) / 16 * 8; y < n; y += kThreads / 2) store(y, eight, n - y);
}

/// @tparam kAside  squares may lie aside
/// @param limits    of float distances
template <int kThreads, Writing kWriting, bool kLimited, bool kAside>
__global__ void __launch_bounds__(kThreads, search_blocks(kThreads, runs_of(kWriting) != Runs::none))
    solve_spaced_along_y(const __grid_constant__ Volume v, const __grid_constant__ Emitter<std::int64_t> emitter,
                         const __grid_constant__ Limits limits) {
  extern __shared__ uint4 window_shared[];
  constexpr bool kLeaves = kWriting == Writing::unaligned;
  if constexpr (kLeaves) fathom::cuda::let_next_begin();
  constexpr Runs kRuns = runs_of(kWriting);
  __shared__ int near_elements;
  __shared__ int has_ends;
  __shared__ SpacedRunWords<kRuns> run_words;
  const bool is_left = kLeaves && is_left_to_few_rows(v);
  const int t = static_cast<int>(threadIdx.x), n = v.ny;
  const HalfTile half = half_along_y(v, blockIdx.x);
  if (half.is_outside(v)) return;
  auto* memory = reinterpret_cast<unsigned*>(window_shared);
  WindowRows<WindowSquares> rows(memory, n);
  const KindsAlongY<kAside> kinds(v, half, kRuns == Runs::none);
  const TileKind first_kind = kRuns == Runs::none ? kinds[0] : kWide;
  unsigned* least = memory + window_memory(n) / sizeof(unsigned);
  // In shared memory, as long as there is nothing else, so that squares need not wait for them.
  auto* own_kinds = reinterpret_cast<std::uint8_t*>(least);
  // The thread's rows. With runs, none is told of, and all have squares.
  bool are_alike = true;
  if constexpr (kAside) {
    are_alike = kinds.template keep<kThreads>(own_kinds, first_kind, n);
  } else if constexpr (kRuns == Runs::none) {
    are_alike = are_of_kind<kThreads>(first_kind, kinds.of_lines, n);
  }
  if (t == 0) near_elements = has_ends = 0;
  rows.pad(n);
  const RunEnds ends(run_words, n);
  bool any = false;
  if constexpr (kRuns == Runs::of_labels) {
    const std::uint32_t* changes = v.changes_along_y(half.tile);
    any = ends.fill_half(half.first, [&](int r) { return __ldg(changes + r); });
  }
  if constexpr (kRuns == Runs::of_sides) {
    const uint2* words = v.word_line({half.tile.item, half.tile.word, 0}) + half.tile.line;
    const auto bits = [&](int r) { return __ldg(&words[std::int64_t{r} * v.depth].x); };
    any = ends.fill_half(half.first, [&](int r) { return r ? bits(r) ^ bits(r - 1) : 0; });
  }
  are_alike = __syncthreads_and(are_alike);
  if (is_left) return;
  if (any) atomicOr(&has_ends, 1);
  const auto bound = [&](int group, unsigned* squares) {
    if (has_ends) ends.bound(group, half.first + t % 16, squares, v.weight_y);
  };
  const VolumeWriter<kWriting> writer(v, emitter, half.tile);
  const auto store = [&](int y, const unsigned* values, int count) {
    write_spaced_column<kLimited>(writer, limits, y, half.x, values, count);
  };
  if constexpr (kRuns == Runs::none)
    if (are_alike && !keeps_rows(first_kind)) {
      if constexpr (!is_general(kWriting) && !kLimited) {
        const AlikeLines lines{first_kind, kinds.of_lines, writer.row_of(0) + half.first, v.distance.y_stride, n};
        const float result = first_kind == kFull ? 0 : v.side.none();
        if (!lines.begin_sectors()) return lines.write<kThreads>(result, half.tile.word * 32 + half.first, v.nx);
      }
      return store_same<kThreads>(first_kind == kFull ? 0 : WindowSquares::kNone, n, store);
    }
  int near = 0;
  const auto count_near = [&](unsigned square) { near += square < v.weight_y * (64 * 64); };
  const SquaresAlongY<kThreads, kAside> squares(v, half);
  if (are_alike && first_kind == kWide) squares.load_wide(rows, count_near);
  else if (kAside && are_alike) squares.load_narrow(rows, count_near);
  else
    squares.load(
        rows, [&](int r) { return kAside ? static_cast<TileKind>(own_kinds[r]) : kinds[r]; }, count_near);
  add_over_block(near, &near_elements);
  __syncthreads();
  const bool is_near = near_elements * (v.y_list ? kNearShareToLeave : kNearShare) >= n * 16;
  if constexpr (kLeaves) {
    const auto leave = [&] {
      if (!v.y_list || !are_winners_far(least, rows.groups, v.weight_y, min(16, kThreads / 16))) return false;
      if (t == 0) enlist(v.y_list, v.counters + 1, blockIdx.x);
      return true;
    };
    solve_spaced<kThreads, false>(rows, least, n, v.weight_y, is_near, bound, store, leave);
  } else {
    solve_spaced<kThreads, kRuns != Runs::none>(rows, least, n, v.weight_y, is_near, bound, store);
  }
}

}  // namespace fathom::grid::cuda
