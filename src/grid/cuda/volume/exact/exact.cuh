// The passes of volumes with any unequal spacings, where 32 bits do not hold squares in a unit, or there is no unit.
//
// Along y first, then along z, as the general engine and the CPU add up: squares in double are rounded alike. Between
// the passes lie the steps to the nearest site of the plane (volume/exact/steps.cuh), where the results will be, unless
// these are a part of the input.
//
// Of a half tile of a plane that has no site, or sites alone, the pass along y leaves one byte that says so, and no
// steps; half tiles along z whose planes are all alike are written at once (volume/spaced/alike_lines.cuh). Where few
// rows of a line have sites, these are tried everywhere; along y, where not quite so few have, brackets are of these
// alone.
//
// Labels, and both sides of a signed field, which are solved at once, take in the ends of runs along each line besides,
// as in volume/spaced/spaced.cuh: an element beyond is a site.
//
// Work mapping: block = 16 neighbours along x, half a word, by one whole line, in shared memory, with a thread to each
// row, or to each two (tuning.h); half warp = 8 rows, lane = column. Phase 1: where sites are near, keys of steps, up
// to 63 rows away along y and 23 along z, whose distances stand in a table; those of which it is in doubt, if they are
// few, from squares in double of all rows near, a lane to each. Phase 2, where that does not settle a warp's rows:
// between which rows the nearest lie (volume/exact/brackets.cuh), and squares in double of these.
//
// Source: separable passes (Hirata 1996), where sites are near by searching outwards. Cost: one operation per element
// and step; in phase 2 some 80 per element, and 10 for each row that is tried for it. 8 bytes are moved per element
// between the passes.
#pragma once

#include <algorithm>

#include "grid/cuda/extremes.cuh"
#include "grid/cuda/volume/exact/brackets.cuh"
#include "grid/cuda/volume/exact/sorted_rows.cuh"
#include "grid/cuda/volume/exact/step_rows.cuh"
#include "grid/cuda/volume/exact/steps.cuh"
#include "grid/cuda/volume/few_rows_along_z.cuh"
#include "grid/cuda/volume/gaps.cuh"
#include "grid/cuda/volume/nearest/sites.cuh"
#include "grid/cuda/volume/spaced/alike_lines.cuh"
#include "grid/cuda/volume/spaced/fill_rows.cuh"

namespace fathom::grid::cuda {

/// Blocks of a pass per multiprocessor.
constexpr int exact_blocks(int threads) { return resident_blocks(threads, kResidentThreadsAt64 / threads); }

/// Groups of a tile's rows that no window settles. By all threads of the block, after a barrier.
///
/// @param window  solves group q if all of the warp's are near: window(q), which says whether it did
/// @returns bit k: the warp's groups of round k
template <int kThreads, class OfWindow>
__device__ unsigned left_by_windows(int groups, OfWindow&& window) {
  unsigned left = 0;
  for (int k = 0, q0 = warp_number() * 2; q0 < groups; ++k, q0 += kThreads / 16)
    if (!window(q0 + lane_id() / 16)) left |= 1u << k;
  return left;
}

/// Groups that are left, from squares in double of the rows that brackets have found.
///
/// @param line   of the lane, as Brackets ask for it
/// @param store  takes what has been found: store(q, eight)
template <int kThreads, bool kWinners, int kMostRows, class Line, class Store>
__device__ void solve_left(const Brackets<kThreads, kMostRows>& brackets, const Line& line, int n,
                           const StepSquares& steps, unsigned left, Store&& store) {
  const int groups = row_groups(n);
  for (int k = 0, q0 = warp_number() * 2; q0 < groups; ++k, q0 += kThreads / 16) {
    if (!(left >> k & 1)) continue;
    const int q = q0 + lane_id() / 16;
    EightSquares<kWinners> eight(q * 8, steps);
    brackets.for_rows(min(q, groups - 1), line, [&](int row, unsigned word) { eight.offer(row, word, line); });
    store(q, eight);
  }
}

/// All groups of a tile's rows from the few that have sites, in double. By all threads of the block, after a barrier.
///
/// @param line   of the lane: line.word(row), line.square(word)
/// @param store  takes what has been found: store(q, eight)
template <int kThreads, bool kWinners, class Line, class Store>
__device__ void solve_from_few(const SortedRows& filled, const Line& line, int groups, const StepSquares& steps,
                               Store&& store) {
  for (int q = static_cast<int>(threadIdx.x) / 16; q < groups; q += kThreads / 16) {
    EightSquares<kWinners> eight(q * 8, steps);
#pragma unroll 1
    for (int k = 0; k < filled.count; ++k) eight.offer(filled.row[k], line.word(filled.row[k]), line);
    store(q, eight);
  }
}

/// Eight values of a column, or as many as there are. @param value  value(j)
template <class Value, class Of>
__device__ void store_eight(int count, Value* to, std::int64_t stride, Of&& value) {
  if (count >= 8) {  // not asked of each
#pragma unroll
    for (int j = 0; j < 8; ++j, to += stride) *to = value(j);
  } else {
#pragma unroll
    for (int j = 0; j < 7; ++j, to += stride)
      if (j < count) *to = value(j);
  }
}

/// The ends of runs along the lines of half a tile: an element beyond is nearer than all behind it, whatever these are
/// taken for.
template <Runs kRuns>
class LineEnds {
 public:
  using Words = RunWords<kRuns != Runs::none>;

  /// @param line  the lane's
  __device__ LineEnds(Words& words, int rows, int line) : runs_(words, rows), line_(line) {}

  /// By all threads of the block, between barriers. @param changes_of  changes_of(row)
  /// @param has_any  shared; 0
  template <class ChangesOf>
  __device__ void fill(ChangesOf&& changes_of, int* has_any) {
    if constexpr (kRuns == Runs::none) return;
    if (runs_.fill_half(line_ & 16, changes_of)) atomicOr(has_any, 1);
  }
  /// Steps from eight rows to the nearest one beyond an end; 0 behind the last row.
  __device__ void steps(int group, unsigned (&to_end)[8]) const { runs_.steps(group, line_, to_end); }
  /// The same from one row of any lane's line.
  __device__ unsigned steps_of(int row, int lane) const {
    unsigned to_end[8], own = 0;
    runs_.steps(row / 8, line_ / 16 * 16 + lane % 16, to_end);
#pragma unroll
    for (int j = 0; j < 8; ++j)
      if (row % 8 == j) own = to_end[j];
    return own;
  }

  /// A minimum with the keys of eight rows. @param keys  of steps along the line
  template <class KeysOfLine>
  __device__ void bound(int group, unsigned* best, const KeysOfLine& keys) const {
    unsigned to_end[8];
    steps(group, to_end);
#pragma unroll
    for (int j = 0; j < 8; ++j) best[j] = min(best[j], keys.of[min(to_end[j], KeysOfLine::kSteps)]);
  }

 private:
  RunEnds runs_;
  int line_;
};

/// The rows of a tile along y, in words.
template <Runs kRuns>
class RowsOfPlane {
 public:
  __device__ RowsOfPlane(const Volume& v, const HalfTile& half) : v_(v), half_(half) {
    const Volume::Tile first{half.tile.item, half.tile.word, 0};
    words_ = v.word_line(first) + half.tile.line;
    if constexpr (kSides) other_words_ = v.other_line(first) + half.tile.line;
    if constexpr (kLabels) {
      labels_ = v.changes_along_z(first);
      changes_ = v.changes_along_y(half.tile);
    }
  }

  __device__ uint2 word(int row) const { return __ldg(words_ + row * v_.depth); }
  /// Of a row, what the ends of runs along y tell from the one before.
  __device__ unsigned changes(int row) const {
    if constexpr (kLabels) return __ldg(changes_ + row);
    else return row ? word(row).x ^ word(row - 1).x : 0;
  }
  /// Whether there is a site to an element of a row: in it or, of another side or label, at its ends along y.
  __device__ bool has_sites(int row) const {
    const uint2 own = word(row);
    if constexpr (kLabels) return cuda::has_sites(own) || changes(row) != 0 || (sites(row) & half_.bits(v_)) != 0;
    if constexpr (kSides) return (cuda::has_sites(own) && cuda::has_sites(other(row))) || changes(row) != 0;
    return cuda::has_sites(own);
  }
  /// Whether all elements are sites, which none is of both sides. By all threads of the block.
  template <int kThreads>
  __device__ bool are_full(int rows) const {
    if constexpr (kSides) return false;
    const unsigned all = half_.bits(v_);
    const auto is_full = [&](int row) { return (sites(row) & all) == all; };
    if (!is_full(0)) return false;  // the same for all threads
    bool are_full = true;
    for (int r = static_cast<int>(threadIdx.x); r < rows; r += kThreads) are_full &= is_full(r);
    return __syncthreads_and(are_full) != 0;
  }
  /// Steps along x, eight neighbours at a time. By all threads of the block.
  /// @param take  take(row, steps): those of EightDistances
  template <int kThreads, class Take>
  __device__ void for_steps(int rows, const uint2* of_byte, Take&& take) const {
    const int t = static_cast<int>(threadIdx.x);
#pragma unroll 4
    for (int r = t / 2; r < rows; r += kThreads / 2) take(r, distances_in(r, half_.first + t % 2 * 8, of_byte).pair);
  }

 private:
  static constexpr bool kSides = kRuns == Runs::of_sides, kLabels = kRuns == Runs::of_labels;

  __device__ uint2 other(int row) const { return __ldg(other_words_ + row * v_.depth); }
  /// A row's elements that have distance 0.
  __device__ unsigned sites(int row) const {
    if constexpr (kLabels) return v_.runs_along_z(half_.tile, labels_ + row * v_.depth, half_.tile.line).y;
    else return word(row).x;
  }
  /// @param of_byte  of labels, to the ends of runs
  __device__ EightDistances distances_in(int row, int first_bit, const uint2* of_byte) const {
    if constexpr (kSides) return distances_to_other_side(word(row), other(row), first_bit, of_byte);
    EightDistances distances(word(row), first_bit, of_byte, kLabels);
    if constexpr (kLabels) {
      const unsigned own = sites(row) >> first_bit;
#pragma unroll
      for (int k = 0; k < 4; ++k)
        distances.pair[k] &= ~((own >> 2 * k & 1) * 0xFFFFu | (own >> (2 * k + 1) & 1) * 0xFFFF0000u);
    }
    return distances;
  }

  const Volume& v_;
  const HalfTile& half_;
  const uint2 *words_, *other_words_ = nullptr;
  const uint2* labels_ = nullptr;
  const std::uint32_t* changes_ = nullptr;
};

/// A line along y: rows of steps along x.
struct LineOfPlane {
  StepRows rows;
  const ExactSpacing& spacing;

  __device__ unsigned word(int row) const { return rows.get(row, static_cast<int>(threadIdx.x) % 16); }
  __device__ auto group(int q) const { return rows.group(q, static_cast<int>(threadIdx.x) % 16); }
  __device__ bool has_site(unsigned steps) const { return steps < kNoneInWord; }
  __device__ double square(unsigned steps) const { return spacing.square(0, static_cast<int>(steps)); }
  __device__ unsigned halves(unsigned steps) const {
    const unsigned halves = rounded_halves(small_float(steps * steps) * spacing.halves_y_of_x);
    return has_site(steps) ? halves : kNoHalves;
  }
};

/// Of a half tile along y or z, for each plane: kNarrow where the pass along y has left steps.
__device__ inline std::uint8_t* kinds_of_planes(const Volume& v, const HalfTile& half) {
  return v.kind + ((half.tile.item * v.words + half.tile.word) * 2 + half.first / 16) * v.nz;
}

/// Words of steps. @param group  of rows, of which these are the least squares
__device__ inline void steps_of_squares(const StepTables& tables, const NearPairs& pairs, int group,
                                        const EightSquares<true>& eight, unsigned (&steps)[8]) {
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    steps[j] = Steps::kNone;
    if (eight.best[j] == kNoSquareExact) continue;
    steps[j] = Steps::word_of(tables, pairs, abs(eight.row(j) - (group * 8 + j)), static_cast<int>(eight.word(j)));
  }
}

/// From keys, and ends of runs, to words of steps.
struct FoundSteps {
  const ExactSpacing& spacing;
  const StepTables& tables;
  const NearPairs& pairs;   ///< the spacing's, in shared memory: lanes ask for different ones
  const PlaneKeys& keys_y;  ///< likewise

  /// @returns whether none of the warp's is in doubt
  __device__ bool of_keys(const KeyWindow<PlaneKeys>& window, unsigned (&steps)[8]) const {
    if (window.is_all_sites()) {
#pragma unroll
      for (unsigned& word : steps) word = Steps::kAtSite;
      return true;
    }
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const auto y = static_cast<int>(window.best[j] % PlaneKeys::kSteps);
      const int x = PlaneKeys::steps_of(PlaneKeys::square_of(window.best[j] - keys_y.of[y]), spacing.inverse_x);
      steps[j] = __ldg(tables.plane + (y * PlaneKeys::kSteps + x));
    }
    return !__any_sync(kAllLanes, greatest_of_eight(steps) == Steps::kInDoubt);
  }

  /// What is nearer than steps of so large squares. @param to_end  steps along the line
  __device__ void of_ends(const unsigned (&to_end)[8], const double (&squares)[8], unsigned (&steps)[8]) const {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const auto y = static_cast<int>(to_end[j]);
      if (to_end[j] < RunEnds::kNoEnd && spacing.square(y, 0) < squares[j])
        steps[j] = Steps::word_of(tables, pairs, y, 0);
    }
  }
};

/// Bytes of dynamic shared memory of the pass along y: of the window's keys, in place of which steps and brackets come.
inline std::size_t exact_memory_along_y(int rows) {
  return std::max(window_memory(rows), StepRows::memory(rows) + brackets_bytes(rows));
}

template <int kThreads, int kMostRows, Runs kRuns>
__global__ void __launch_bounds__(kThreads, exact_blocks(kThreads))
    solve_exact_along_y(const __grid_constant__ Volume v, const __grid_constant__ ExactSpacing spacing) {
  extern __shared__ uint4 window_shared[];
  constexpr bool kHasRuns = kRuns != Runs::none;
  __shared__ uint2 of_byte[256];
  __shared__ PlaneKeys keys_x, keys_y;
  __shared__ NearPairs pairs;  // the spacing's, as these keys
  __shared__ int has_ends;
  __shared__ unsigned near_of_warps[kThreads / 32];
  __shared__ SortedRows filled;
  __shared__ typename LineEnds<kRuns>::Words run_words;
  const int t = static_cast<int>(threadIdx.x), n = v.ny;
  const HalfTile half = half_along_y(v, blockIdx.x);
  if (half.is_outside(v)) return;
  const RowsOfPlane<kRuns> plane(v, half);
  const int with_sites = filled.find<kThreads, kMostRows>(n, [&](int row) { return plane.has_sites(row); });
  const TileKind kind = with_sites == 0 ? kEmpty : plane.template are_full<kThreads>(n) ? kFull : kNarrow;
  if (t == 0) kinds_of_planes(v, half)[half.tile.line] = kind;
  if (kind != kNarrow) return;
  KeyWindow<PlaneKeys>::Rows rows(reinterpret_cast<unsigned*>(window_shared), n);
  const StepTables& tables = *v.step_tables;
  if (t <= VolumeKeys::kSteps) pairs.first[t] = spacing.pairs.first[t];
  std::uint32_t* column = v.wide.row(v.wide_first_item + half.tile.item, half.tile.line, 0) + half.x;
  const auto store = [&](int y, const unsigned(&steps)[8], int count) {
    if (half.x >= v.nx) return;
    store_eight(count, column + y * v.wide.y_stride, v.wide.y_stride, [&](int j) { return steps[j]; });
  };
  unsigned steps[8];
  const LineOfPlane line{StepRows(window_shared), spacing};
  Brackets<kThreads, kMostRows> brackets(
      reinterpret_cast<unsigned*>(window_shared + StepRows::memory(n) / sizeof(uint4)), n);
  if (!kHasRuns && SortedRows::are_few(with_sites, n)) {
    for (int i = t; i < 16 * with_sites; i += kThreads) {
      const int row = filled.row[i / 16];
      line.rows.put(row, t % 16, abs(steps_along_x(plane.word(row), half.first + t % 16)));
    }
    __syncthreads();
    const auto store_squares = [&](int q, const auto& eight) {
      steps_of_squares(tables, pairs, q, eight, steps);
      store(q * 8, steps, n - q * 8);
    };
    if (with_sites <= kFewRows)
      return solve_from_few<kThreads, true>(filled, line, rows.groups, tables.along_y(v.nz, n), store_squares);
    if (brackets.find_among(filled, line))
      return solve_left<kThreads, true>(brackets, line, n, tables.along_y(v.nz, n), ~0u, store_squares);
  }
  if (t == 0) has_ends = 0;
  for (int i = t; i <= PlaneKeys::kSteps; i += kThreads) {
    keys_x.of[i] = __ldg(tables.plane_x.of + i);
    keys_y.of[i] = __ldg(tables.plane_y.of + i);
  }
  for (int i = t; i < 256; i += kThreads) of_byte[i] = byte_distances(i, kRuns == Runs::of_labels);
  rows.pad(n);
  __syncthreads();
  LineEnds<kRuns> ends(run_words, n, half.first + t % 16);
  ends.fill([&](int r) { return plane.changes(r); }, &has_ends);
  static_assert(kUnbracketedSteps < PlaneKeys::kSteps);
  constexpr unsigned kNear = PlaneKeys::of_steps(kUnbracketedSteps);
  NearRows<kThreads, 64, kLongestKeyed> near;
  static_assert(kThreads / 2 % 16 == 0);  // so that each sixteenth is among a thread's rows
  unsigned* own = each_sixteenth(reinterpret_cast<unsigned*>(window_shared), t / 2, t % 2 * 8);
  plane.template for_steps<kThreads>(n, of_byte, [&](int r, const unsigned(&along_x)[4]) {
    unsigned keys[8], least = PlaneKeys::kEnd;
#pragma unroll
    for (int k = 0; k < 8; k += 2) {
      const unsigned two = __vminu2(along_x[k / 2], PlaneKeys::kSteps * 0x10001u);
      keys[k] = keys_x.of[two & 0xFFFFu], keys[k + 1] = keys_x.of[two >> 16];
      least = min(least, min(keys[k], keys[k + 1]));
    }
    near.add(r, least < kNear);
    auto* to = reinterpret_cast<uint4*>(own + r * 16);
    to[0] = make_uint4(keys[0], keys[1], keys[2], keys[3]);
    to[1] = make_uint4(keys[4], keys[5], keys[6], keys[7]);
  });
  near.put(near_of_warps);
  __syncthreads();
  const FoundSteps found{spacing, tables, pairs, keys_y};
  unsigned left = ~0u;
  // A window must settle all of a warp's elements, and may take many rows for it. Ends of runs bound these.
  if ((kHasRuns && has_ends) || near.nearly_suffice(near_of_warps, n, 8))
    left = left_by_windows<kThreads>(rows.groups, [&](int q) {
      KeyWindow<PlaneKeys> window(rows, min(q, rows.groups - 1), t % 16, spacing.plane_y);
      if (kHasRuns && has_ends) ends.bound(min(q, rows.groups - 1), window.best, keys_y);
      if (!window.search(n - q * 8) || !found.of_keys(window, steps)) return false;
      store(q * 8, steps, n - q * 8);
      return true;
    });
  if (!__syncthreads_or(left != 0)) return;
  line.rows.pad(n);
  plane.template for_steps<kThreads>(n, of_byte,
                                     [&](int r, const unsigned(&along_x)[4]) { line.rows.put(r, t % 2, along_x); });
  __syncthreads();
  brackets.find(line, spacing.y);
  solve_left<kThreads, true>(brackets, line, n, tables.along_y(v.nz, n), left, [&](int q, const auto& eight) {
    steps_of_squares(tables, pairs, q, eight, steps);
    if (kHasRuns && has_ends) {
      unsigned to_end[8];
      ends.steps(min(q, rows.groups - 1), to_end);
      found.of_ends(to_end, eight.best, steps);
    }
    store(q * 8, steps, n - q * 8);
  });
}

/// Distances of near sites, from the tables; less than 0 where in doubt. @returns the rows where they are, in bits
__device__ inline unsigned tabulated_distances(const ExactSpacing& spacing, const StepTables& tables,
                                               const KeyWindow<VolumeKeys>& window, float (&distances)[8]) {
  if (window.is_all_sites()) {
#pragma unroll
    for (float& distance : distances) distance = 0;
    return 0;
  }
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const unsigned pair = window.best[j] % kPairs;
    const int square = VolumeKeys::square_of(window.best[j] - __ldg(tables.pair + pair));
    const int z = VolumeKeys::steps_of(square, spacing.inverse_z);
    distances[j] = __ldg(tables.distance + (static_cast<unsigned>(z) * kPairs + pair));
  }
  unsigned bits[8], in_doubt = 0;
#pragma unroll
  for (int j = 0; j < 8; ++j) bits[j] = __float_as_uint(distances[j]);
  if (greatest_of_eight(bits) >> 31)
#pragma unroll
    for (int j = 0; j < 8; ++j) in_doubt |= (bits[j] >> 31) << j;
  return in_doubt;
}

/// Other distances in place of those in doubt, one at a time, unless they are many. By whole warps.
///
/// @param in_doubt     rows of the lane's eight, in bits
/// @param first        of these
/// @param distance_of  of an element, by the warp: distance_of(row, lane whose element it is)
/// @returns whether none is in doubt any more
template <class DistanceOf>
__device__ bool settle_doubts(unsigned in_doubt, int first, float (&distances)[8], DistanceOf&& distance_of) {
  constexpr int kMany = 16;
  if (!__any_sync(kAllLanes, in_doubt != 0)) return true;
  if (warp_sum(__popc(in_doubt)) > kMany) return false;
  for (unsigned lanes; (lanes = __ballot_sync(kAllLanes, in_doubt != 0)) != 0;) {
    const int lane = __ffs(static_cast<int>(lanes)) - 1;
    const int row = __shfl_sync(kAllLanes, first + __ffs(static_cast<int>(in_doubt)) - 1, lane);
    const float distance = distance_of(row, lane);
    if (lane_id() != lane) continue;
#pragma unroll
    for (int j = 0; j < 8; ++j)
      if (first + j == row) distances[j] = distance;
    in_doubt &= in_doubt - 1;
  }
  return true;
}

/// Least of a warp's values.
__device__ inline double warp_least(double value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    const double other = __shfl_xor_sync(kAllLanes, value, step);
    value = other < value ? other : value;
  }
  return value;
}

/// √squares as roots_of() has them, also of 0 and, with kInfinite, of infinity.
template <bool kInfinite>
__device__ inline void any_roots_of(const double (&squares)[8], float (&roots)[8]) {
  constexpr double kNothing = 0x1p-1000;  // beside squares; its root is 0 as a float
#pragma unroll
  for (int j = 0; j < 8; j += 2) {  // two at a time, for the registers
    float two[2];
    roots_of({squares[j] + kNothing, squares[j + 1] + kNothing}, two);
    roots[j] = two[0], roots[j + 1] = two[1];
  }
  if constexpr (kInfinite)
#pragma unroll
    for (int j = 0; j < 8; ++j)
      if (squares[j] == kNoSquareExact) roots[j] = __builtin_inff();
}

/// A line along z: rows of words of steps.
struct LineOfVolume {
  const KeyWindow<VolumeKeys>::Rows& rows;
  const ExactSpacing& spacing;

  __device__ unsigned word(int row) const { return rows.get(row, static_cast<int>(threadIdx.x) % 16); }
  __device__ auto group(int q) const { return rows.group(q, static_cast<int>(threadIdx.x) % 16); }
  __device__ bool has_site(unsigned word) const { return word != Steps::kNone; }
  __device__ double square(unsigned word) const {
    const Steps steps(word);
    return spacing.square(steps.y, steps.x);
  }
  __device__ unsigned halves(unsigned word) const {
    const Steps steps(word);
    const float halves = fmaf(small_float(squared(steps.y)), spacing.halves_z_of_y,
                              small_float(squared(steps.x)) * spacing.halves_z_of_x);
    return has_site(word) ? rounded_halves(halves) : kNoHalves;
  }
};

/// Runs of sides: both, of a signed field.
template <int kThreads, int kMostRows, Runs kRuns>
__global__ void __launch_bounds__(kThreads, exact_blocks(kThreads))
    solve_exact_along_z(const __grid_constant__ Volume v, const __grid_constant__ ExactSpacing spacing) {
  extern __shared__ uint4 window_shared[];
  constexpr bool kSides = kRuns == Runs::of_sides, kHasRuns = kRuns != Runs::none;
  __shared__ int far_elements, has_ends;
  __shared__ SortedRows filled;
  __shared__ VolumeKeys keys_z;  // the spacing's: lanes ask for different ones
  __shared__ typename LineEnds<kRuns>::Words run_words;
  const int t = static_cast<int>(threadIdx.x), n = v.nz;
  const HalfTile half = half_along_z(v, blockIdx.x);
  if (half.is_outside(v)) return;
  KeyWindow<VolumeKeys>::Rows rows(reinterpret_cast<unsigned*>(window_shared), n);
  if (t == 0) far_elements = has_ends = 0;
  if (kHasRuns && t <= VolumeKeys::kSteps) keys_z.of[t] = spacing.volume_z.of[t];
  rows.pad(n);
  const StepTables& tables = *v.step_tables;
  const std::uint8_t* kinds = kinds_of_planes(v, half);
  const auto kind_of = [&](int r) { return static_cast<TileKind>(__ldg(kinds + r)); };
  const int first_x = half.tile.word * 32 + half.first;
  const RowsOfHalf from{v.wide.row(v.wide_first_item + half.tile.item, 0, half.tile.line) + first_x, v.wide.z_stride,
                        v.nx - first_x};
  // Rows on their way while their kinds are counted; not where those may be all alike, or few have sites.
  const bool begins = !kSides && kind_of(0) == kNarrow && from.are_fours();
  if (begins) begin_rows<kThreads, 4>(rows, n, from, kind_of);
  const int with_sites = filled.find<kThreads, kMostRows>(n, [&](int row) { return kind_of(row) != kEmpty; });
  int full_rows = 0;
  if constexpr (!kSides)
    for (int first = 0; first < kMostRows; first += kThreads)
      full_rows += __syncthreads_count(first + t < n && kind_of(first + t) == kFull);
  LineEnds<kRuns> ends(run_words, n, half.first + t % 16);
  const uint2* words = v.word_line(half.tile);
  const uint2* labels = v.changes_along_z(half.tile);
  const auto changes_of = [&](int r) {
    if constexpr (kSides) return r ? __ldg(&words[r].x) ^ __ldg(&words[r - 1].x) : 0;
    else return __ldg(&labels[r].x);
  };
  ends.fill(changes_of, &has_ends);
  float* column = v.distance.row(v.first_item + half.tile.item, 0, half.tile.line) + half.x;
  const auto is_inside = [&](int z, int lane) {
    return kSides && !(__ldg(&words[z].x) >> (half.first + lane % 16) & 1);
  };
  const auto store = [&](int z, const float(&distances)[8], int count) {
    if (half.x >= v.nx) return;
    store_eight(count, column + z * v.distance.z_stride, v.distance.z_stride,
                [&](int j) { return is_inside(z + j, t) ? -distances[j] : distances[j]; });
  };
  const auto store_same = [&](float distance) {
    for (int q = t / 16; q < rows.groups; q += kThreads / 16)
      store(q * 8, {distance, distance, distance, distance, distance, distance, distance, distance}, n - q * 8);
  };
  if constexpr (!kSides)
    if (full_rows == n || (!kHasRuns && with_sites == 0)) {
      const TileKind kind = with_sites == 0 ? kEmpty : kFull;
      const AlikeLines lines{kind, kinds, column - t % 16, v.distance.z_stride, n};
      const float result = kind == kFull ? 0 : __builtin_inff();
      if (lines.begin_sectors()) return store_same(result);
      return lines.write<kThreads>(result, first_x, v.nx);
    }
  float distances[8];
  const LineOfVolume line{rows, spacing};
  const auto store_roots = [&](int q, EightSquares<false>& eight) {
    if (kHasRuns && has_ends) {
      unsigned to_end[8];
      ends.steps(min(q, rows.groups - 1), to_end);
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const double square = spacing.square(static_cast<int>(to_end[j]), 0, 0);
        if (to_end[j] < RunEnds::kNoEnd && square < eight.best[j]) eight.best[j] = square;
      }
    }
    any_roots_of<kHasRuns>(eight.best, distances);
#pragma unroll
    for (float& distance : distances) distance *= spacing.scale;
    store(q * 8, distances, n - q * 8);
  };
  if (!kHasRuns && with_sites <= kFewRows) {
    if (begins) {
      fathom::cuda::wait_for_copies();
      __syncthreads();
    }
    if (t < 16 * with_sites) {
      const int row = filled.row[t / 16];
      rows.put(row, t % 16, Steps::far(tables, kind_of(row) == kNarrow ? *from.at(row, t % 16) : Steps::kAtSite));
    }
    __syncthreads();
    return solve_from_few<kThreads, false>(filled, line, rows.groups, tables.along_z(n), store_roots);
  }
  unsigned far = 0;
  const auto count_far = [&](unsigned word) { far += word / Steps::kFar; };
  static_assert(Steps::kAtSite == 0);  // as full rows are filled
  if (begins) finish_rows<kThreads, 4>(rows, n, count_far);
  else if (with_sites < n || full_rows > 0) fill_rows<kThreads>(rows, n, from, kind_of, count_far);
  else fill_rows<kThreads>(rows, n, from, count_far);
  add_over_block(static_cast<int>(far), &far_elements);
  __syncthreads();
  if (kHasRuns && with_sites == 0 && !has_ends) return store_same(__builtin_inff());
  const auto distance_near = [&](int z, int lane) {
    double least = kNoSquareExact;
    const int last = min(z + VolumeKeys::kSteps, n - 1);
    for (int r = max(z - VolumeKeys::kSteps, 0) + lane_id(); r <= last; r += 32) {
      const unsigned word = rows.get(r, lane % 16);
      if (word == Steps::kNone) continue;
      const Steps steps(Steps::far(tables, word));
      least = min(least, spacing.square(abs(r - z), steps.y, steps.x));
    }
    if (kHasRuns && has_ends) {
      const unsigned to_end = ends.steps_of(z, lane);
      if (to_end < RunEnds::kNoEnd) least = min(least, spacing.square(static_cast<int>(to_end), 0, 0));
    }
    return root_of_exact(warp_least(least)) * spacing.scale;
  };
  unsigned left = ~0u;
  if (far_elements <= n * 12)  // of 16 n
    left = left_by_windows<kThreads>(rows.groups, [&](int q) {
      KeyWindow<VolumeKeys> window(rows, min(q, rows.groups - 1), t % 16, spacing.volume_z);
      if (kHasRuns && has_ends) ends.bound(min(q, rows.groups - 1), window.best, keys_z);
      if (!window.search(n - q * 8)) return false;
      const unsigned in_doubt = tabulated_distances(spacing, tables, window, distances);
      if (!settle_doubts(in_doubt, min(q, rows.groups - 1) * 8, distances, distance_near)) return false;
      store(q * 8, distances, n - q * 8);
      return true;
    });
  if (!__syncthreads_or(left != 0)) return;
  // Where each sixteenth row is, so that none is looked for: some threads may have none.
  constexpr int kRows = kThreads / 16, kStep = kRows < 16 ? 16 : kRows / 16 * 16;
  for (int first = t / 16; first < kStep; first += kRows) {
    unsigned* own = each_sixteenth(reinterpret_cast<unsigned*>(window_shared), first, t % 16);
    for (int r = first; r < n; r += kStep) own[r * 16] = Steps::far(tables, own[r * 16]);
  }
  __syncthreads();
  Brackets<kThreads, kMostRows> brackets(reinterpret_cast<unsigned*>(window_shared + window_memory(n) / sizeof(uint4)),
                                         n);
  brackets.find(line, spacing.z);
  solve_left<kThreads, false>(brackets, line, n, tables.along_z(n), left, store_roots);
}

}  // namespace fathom::grid::cuda
