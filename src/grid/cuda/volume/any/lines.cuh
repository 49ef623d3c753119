// What the passes of volumes with any spacings share: their lines, what solves those that no window does, and
// the ends of runs along them.
#pragma once

#include "grid/cuda/extremes.cuh"
#include "grid/cuda/volume/any/brackets.cuh"
#include "grid/cuda/volume/any/steps.cuh"
#include "grid/cuda/volume/nearest/half_rows.cuh"
#include "grid/cuda/volume/nearest/site_column.cuh"
#include "grid/cuda/volume/rows_with_sites.cuh"

namespace fathom::grid::cuda::volume {

/// The least squares of eight rows of a line, in double, from rows that are offered.
/// @tparam kWinners  whether it is remembered which rows they are from: their words have 16 bits
template <bool kWinners>
class EightSquares {
 public:
  /// @param first  of the eight
  /// @param steps  along the line
  __device__ EightSquares(int first, const StepSquares& steps) : first_(first), steps_(steps) {
#pragma unroll
    for (int j = 0; j < 8; ++j) best[j] = kNoSquareExact;
  }
  template <class Line>
  __device__ void offer(int row, unsigned word, const Line& line) {
    const double* along_line = steps_.from(first_ - row);
    const double square = line.square(word);
    const unsigned both = word << 16 | static_cast<unsigned>(row);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const double sum = square + __ldg(along_line + j);
      if (sum < best[j]) {
        best[j] = sum;
        if constexpr (kWinners) winner_[j] = both;
      }
    }
  }
  /// The row that best[j] is from, if it is one, and its word.
  __device__ int row(int j) const { return static_cast<int>(winner_[j] & 0xFFFFu); }
  __device__ unsigned word(int j) const { return winner_[j] >> 16; }

  double best[8];

 private:
  const int first_;
  const StepSquares steps_;
  unsigned winner_[8];
};

/// Blocks of a pass per multiprocessor.
constexpr int any_blocks(int threads) { return resident_blocks(threads, kResidentThreadsAt64 / threads); }

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

/// Groups that are left, from squares in double of rows that are tried for each.
///
/// @param rows   which: rows.for_rows(group, line, offer), as Brackets have it
/// @param line   of the lane, as Brackets ask for it
/// @param store  takes what has been found: store(q, eight)
template <int kThreads, bool kWinners, class Rows, class Line, class Store>
__device__ void solve_left(const Rows& rows, const Line& line, int n, const StepSquares& steps, unsigned left,
                           Store&& store) {
  const int groups = row_groups(n);
  for (int k = 0, q0 = warp_number() * 2; q0 < groups; ++k, q0 += kThreads / 16) {
    if (!(left >> k & 1)) continue;
    const int q = q0 + lane_id() / 16;
    EightSquares<kWinners> eight(q * 8, steps);
    rows.for_rows(min(q, groups - 1), line, [&](int row, unsigned word) { eight.offer(row, word, line); });
    store(q, eight);
  }
}

/// The few rows of a line that have sites, for each group all of them.
struct FewOfLine {
  const SortedRows& filled;

  template <class Line, class Offer>
  __device__ void for_rows(int /*group*/, const Line& line, Offer&& offer) const {
#pragma unroll 1
    for (int k = 0; k < filled.count; ++k) offer(filled.row[k], line.word(filled.row[k]));
  }
};

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
    if (runs_.fill([&](int row) { return make_uint2(changes_of(row), 0); }, 0xFFFFu << (line_ & 16)))
      atomicOr(has_any, 1);
  }
  /// Steps from eight rows to the nearest one beyond an end, negative upwards, where of two that are as near the upper
  /// one counts; 0: there is none.
  __device__ void nearest(int group, int (&to_end)[8]) const { runs_.nearest(group, line_, kLongestKeyed, to_end); }

  /// A minimum with the keys of eight rows. @param keys  of steps along the line
  template <class KeysOfLine>
  __device__ void bound(int group, unsigned* best, const KeysOfLine& keys) const {
    unsigned to_end[8];
    runs_.steps(group, line_, to_end);
#pragma unroll
    for (int j = 0; j < 8; ++j) best[j] = min(best[j], keys.of[min(to_end[j], KeysOfLine::kSteps)]);
  }

 private:
  RunEnds runs_;
  int line_;
};

/// The ends of runs that are nearer than what was found in rows of group q, in place of it. Of two that are as near the
/// first counts.
///
/// @param square_of  of so many steps along the line
/// @param to_end     steps to an end that is taken; 0: none is
template <Runs kRuns, class SquareOf>
__device__ void take_nearer_ends(const LineEnds<kRuns>& ends, int q, double (&best)[8], int (&to_end)[8],
                                 SquareOf&& square_of) {
  int steps[8] = {};
  if constexpr (kRuns != Runs::none) ends.nearest(q, steps);
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const double square = square_of(abs(steps[j]));
    const bool is_first = square < best[j] || (square == best[j] && steps[j] < 0);
    to_end[j] = steps[j] != 0 && is_first ? steps[j] : 0;
    if (to_end[j] != 0) best[j] = square;
  }
}

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
    if constexpr (kLabels)
      return own.x != 0 || min(own.y & 0xFFFFu, own.y >> 16) < kNoneInWord || changes(row) != 0 ||
             (sites(row) & half_.bits(v_)) != 0;
    if constexpr (kSides) return (volume::has_sites(own) && volume::has_sites(other(row))) || changes(row) != 0;
    return volume::has_sites(own);
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
  /// Of words that hold changes: steps along x from a column of the half to the nearest element of another label, the
  /// left one of two; 0 for label 0 where that is pinned.
  __device__ int steps_beyond_run(int row, int column) const {
    if constexpr (!kLabels) return 0;
    const int bit = half_.first + column;
    return sites(row) >> bit & 1 ? 0 : volume::steps_beyond_run(word(row), bit);
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
    EightDistances distances(word(row), first_bit, of_byte, kLabels);
    if constexpr (kSides) distances.add(EightDistances(other(row), first_bit, of_byte));
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

/// Steps along x of a column; behind the last row there is no site.
struct StepsOfGroup {
  static constexpr unsigned kNone = ~0u;
  const unsigned* rows;
  int lane;
  __device__ unsigned operator[](int j) const { return reinterpret_cast<const std::uint16_t*>(rows)[j * 16 + lane]; }
};
using StepRows = HalfRows<StepsOfGroup>;

/// What rows along y hold in 16 bits: steps along x to a site, and where sides are told, whether it lies to the right. Of
/// no site they are many.
template <bool kSided>
struct RowSteps {
  static constexpr unsigned kRight = 0x8000u;
  static_assert(kNoneInWord + 32 < kRight);

  static __device__ int of(int steps) { return abs(steps) | (kSided && steps > 0 ? static_cast<int>(kRight) : 0); }
  static __device__ unsigned steps(unsigned word) { return kSided ? word % kRight : word; }
  static __device__ bool is_right(unsigned word) { return word >= kRight; }
};

/// The words of Steps with signs, always as far ones are.
struct SignedSteps {
  static constexpr unsigned kRight = 1u << 23, kBehind = 1u << 24;
  static_assert(kRight > (Steps::kNone ^ Steps::kFar));

  int y, x;

  __device__ explicit SignedSteps(unsigned word) {
    const Steps steps(word);
    y = word & kBehind ? steps.y : -steps.y;
    x = word & kRight ? steps.x : -steps.x;
  }
  /// @param word  RowSteps
  static __device__ unsigned word_of(int y, unsigned word) {
    return Steps::far_word_of(abs(y), static_cast<int>(RowSteps<true>::steps(word))) | (y > 0 ? kBehind : 0) |
           (RowSteps<true>::is_right(word) ? kRight : 0);
  }
};

/// A line along y: rows of RowSteps.
template <bool kSided>
struct LineOfPlane {
  StepRows rows;
  const AnySpacing& spacing;

  __device__ unsigned word(int row) const { return rows.at(row, static_cast<int>(threadIdx.x) % 16); }
  __device__ auto group(int q) const { return rows.group(q, static_cast<int>(threadIdx.x) % 16); }
  __device__ bool has_site(unsigned word) const { return RowSteps<kSided>::steps(word) < kNoneInWord; }
  __device__ double square(unsigned word) const {
    return spacing.square(0, static_cast<int>(RowSteps<kSided>::steps(word)));
  }
  __device__ unsigned halves(unsigned word) const {
    const unsigned steps = RowSteps<kSided>::steps(word);
    const unsigned halves = rounded_halves(small_float(steps * steps) * spacing.halves_y_of_x);
    return has_site(word) ? halves : kNoHalves;
  }
};

/// Of a half tile along y or z, for each plane: kNarrow where the pass along y has left steps.
__device__ inline std::uint8_t* kinds_of_planes(const Volume& v, const HalfTile& half) {
  return v.kind + ((half.tile.item * v.words + half.tile.word) * 2 + half.first / 16) * v.nz;
}

/// A line along z: rows of words of steps.
struct LineOfVolume {
  KeyWindow<VolumeKeys>::Rows rows;
  const AnySpacing& spacing;

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

}  // namespace fathom::grid::cuda::volume
