// What the passes of volumes with any spacings share: their lines, what solves those that no window does, and
// the ends of runs along them.
#pragma once

#include "grid/cuda/extremes.cuh"
#include "grid/cuda/volume/any/brackets.cuh"
#include "grid/cuda/volume/any/steps.cuh"
#include "grid/cuda/volume/nearest/sites.cuh"
#include "grid/cuda/volume/rows_with_sites.cuh"

namespace fathom::grid::cuda::volume {

/// The least squares of eight rows of a line, in double, from rows that are offered.
/// @tparam kWinners  whether it is remembered which rows they are from: their words have 16 bits
template <bool kWinners>
class EightSquares {
 public:
  /// @param first    of the eight, of a line of so many rows
  /// @param squares  step_squares() along the line
  __device__ EightSquares(int first, int rows, const double* squares) : none_(first + rows), squares_(squares) {
#pragma unroll
    for (int j = 0; j < 8; ++j) best[j] = kNoSquareExact;
  }
  template <class Line>
  __device__ void offer(int row, unsigned word, const Line& line) {
    const double* along_line = squares_ + static_cast<unsigned>(none_ - row);
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
  const int none_;  ///< that of no steps, from row 0
  const double* const squares_;
  unsigned winner_[8];
};

/// The few rows of a line that have sites, for each group all of them.
struct FewOfLine {
  const SortedRows& filled;

  template <class Line, class Offer>
  __device__ void for_rows(int /*group*/, const Line& line, Offer&& offer) const {
#pragma unroll 1
    for (int k = 0; k < filled.count; ++k) offer(filled.row[k], line.word(filled.row[k]));
  }
};

/// Half a tile along an axis: what the passes along both do alike. All functions are called by all threads of the block.
///
/// Of labels and sides, the ends of runs along the lines are taken in, too: an element beyond is nearer than all behind
/// it, whatever these are taken for.
///
/// @tparam Pass  keys(), of steps along the line, and squares() of these; what it does in its own way is
///               said where it is asked for
/// @tparam Line  of the lane, as Brackets ask for it; along(steps), squares of steps along it; kFinds: whether nearest
///               sites are asked for, and no keys are searched; kWinners, of EightSquares
template <class Pass, class Line, int kBlock, int kMostRows, Runs kRuns>
class LinePass {
 public:
  static constexpr int kThreads = kBlock;
  static constexpr bool kHasRuns = kRuns != Runs::none, kFinds = Line::kFinds;
  using Keys = typename Line::Keys;
  using Eight = EightSquares<Line::kWinners>;

  struct Shared {
    int has_ends, far_elements;
    SortedRows filled;
    RunWords<kHasRuns> run_words;
    Keys keys;  ///< where lanes ask for different ones
  };

  /// From the rows that have sites, where these are few: Pass::put_few() puts them. @returns whether they are
  __device__ bool solve_few() const {
    if (kHasRuns || with_sites_ > kFewRows) return false;
    pass().put_few();
    __syncthreads();
    solve(FewOfLine{shared_.filled}, ~0u);
    return true;
  }

  /// Groups of rows that windows settle, if all of a warp's are near and Pass::take(first row, keys) says so.
  /// @returns bit k: whether the warp's groups of round k are left
  __device__ unsigned search() const {
    const KeyRows<Keys> rows(words(), n_);
    unsigned left = 0;
    for (int k = 0, q0 = warp_number() * 2; q0 < groups_; ++k, q0 += kThreads / 16) {
      const int q = q0 + lane_id() / 16, own = min(q, groups_ - 1);
      Window<WindowKeys<Keys>> window(rows, own, lane(), WindowKeys<Keys>(pass().keys()));
      if (has_ends()) bound(own, window.best);
      if (!are_near(window, n_ - q * 8) || !pass().take(q * 8, window.best)) left |= 1u << k;
    }
    return left;
  }

  /// Those, by brackets. In place of keys, rows hold what Pass::put_steps() leaves.
  __device__ void solve_others(unsigned left) {
    pass().put_steps();
    __syncthreads();
    Brackets<kThreads, kMostRows> brackets(words(Line::Rows::memory(n_)), n_);
    brackets.find(line_);
    solve(brackets, left);
  }

 protected:
  __device__ LinePass(const Volume& v, const AnySpacing& spacing, const HalfTile& half, Shared& shared, uint4* memory,
                      int rows)
      : v_(v), spacing_(spacing), half_(half), shared_(shared), memory_(memory), n_(rows) {}

  /// The memory from so many bytes on.
  __device__ unsigned* words(std::size_t bytes = 0) const {
    return reinterpret_cast<unsigned*>(memory_ + bytes / sizeof(uint4));
  }
  static __device__ int lane() { return thread() % 16; }
  __device__ bool has_ends() const { return kHasRuns && shared_.has_ends; }
  /// Between barriers. @param changes  of a row, what the ends of runs along lines tell from the one before: changes(row)
  template <class Changes>
  __device__ void fill_ends(Changes&& changes) const {
    const auto load = [&](int row) { return make_uint2(changes(row), 0); };
    if (kHasRuns && ends_.fill(load, 0xFFFFu << half_.first)) atomicOr(&shared_.has_ends, 1);
  }

  const Volume& v_;
  const AnySpacing& spacing_;
  const HalfTile& half_;
  Shared& shared_;
  uint4* const memory_;
  const int n_, groups_ = row_groups(n_);
  const Line line_{words(), n_, spacing_};
  int with_sites_ = 0;  ///< rows

 private:
  __device__ const Pass& pass() const { return *static_cast<const Pass*>(this); }

  /// Groups that are left, from squares in double of rows that are tried for each: rows.for_rows(group, line, offer).
  /// Pass::write(first row, eight, to_end) takes what has been found, to_end being steps to an end that is as near; 0:
  /// none is.
  template <class Rows>
  __device__ void solve(const Rows& rows, unsigned left) const {
    for (int k = 0, q0 = warp_number() * 2; q0 < groups_; ++k, q0 += kThreads / 16) {
      if (!(left >> k & 1)) continue;
      const int q = q0 + lane_id() / 16, own = min(q, groups_ - 1);
      Eight eight(q * 8, n_, pass().squares());
      rows.for_rows(own, line_, [&](int row, unsigned word) { eight.offer(row, word, line_); });
      int to_end[8] = {};
      if (has_ends()) take_nearer_ends(own, eight.best, to_end);
      pass().write(q * 8, eight, to_end);
    }
  }
  /// The ends that are nearer than what was found in a group's rows, in place of it. Of two that are as near the upper
  /// one counts.
  __device__ void take_nearer_ends(int group, double (&best)[8], int (&to_end)[8]) const {
    ends_.nearest(group, half_.first + lane(), kLongestKeyed, to_end);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const double square = line_.along(abs(to_end[j]));
      const bool is_first = square < best[j] || (square == best[j] && to_end[j] < 0);
      if (to_end[j] != 0 && is_first) best[j] = square;
      else to_end[j] = 0;
    }
  }
  /// Whether all of the warp's rows are. @param count  of the line, from the group's first on
  static __device__ bool are_near(Window<WindowKeys<Keys>>& window, int count) {
    if (count < 8) {  // those behind keep no search busy
#pragma unroll
      for (int j = 0; j < 8; ++j)
        if (j >= count) window.best[j] = 0;
    }
    // A short search is no use where many lanes have none near. Beside a long one, what one that fails costs is little:
    // it is all of the tile that is solved in another way.
    constexpr int kFar = 24;
    constexpr bool kShort = Keys::kSteps <= 24;
    if (kShort && __popc(__ballot_sync(kAllLanes, least_of_eight(window.best) >= Keys::kEnd)) > kFar) return false;
    return window.search_while([](int m) { return m + 1 < Keys::kSteps / 8; });
  }
  /// A minimum with the keys of the ends around a group's rows.
  __device__ void bound(int group, unsigned* best) const {
    unsigned to_end[8];
    ends_.steps(group, half_.first + lane(), to_end);
#pragma unroll
    for (int j = 0; j < 8; ++j) best[j] = min(best[j], shared_.keys.of[min(to_end[j], Keys::kSteps)]);
  }

  const RunEnds ends_{shared_.run_words, n_};
};

/// A pass's kernel. @param target  where the results of the last one go
template <class Pass>
__global__ void __launch_bounds__(Pass::kThreads,
                                  resident_blocks(Pass::kThreads, kResidentThreadsAt64 / Pass::kThreads))
    solve_any(const __grid_constant__ Volume v, const __grid_constant__ AnySpacing spacing,
              const __grid_constant__ typename Pass::Target target) {
  extern __shared__ uint4 any_shared[];
  __shared__ typename Pass::Shared shared;
  const HalfTile half = Pass::half_of(v, blockIdx.x);
  if (half.is_outside(v)) return;
  Pass pass(v, spacing, target, half, shared, any_shared);
  if (pass.look() || pass.solve_few()) return;
  unsigned left = ~0u;
  if (pass.fill())
    if constexpr (!Pass::kFinds) left = pass.search();
  if (Pass::kFinds || __syncthreads_or(left != 0)) pass.solve_others(left);
}

/// The rows of a tile along y, in words.
template <Runs kRuns>
class RowsOfPlane {
 public:
  __device__ RowsOfPlane(const Volume& v, const HalfTile& half) : v_(v), half_(half) {}

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
    for (int r = thread(); r < rows; r += kThreads) are_full &= is_full(r);
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
    const int t = thread();
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
  const Volume::Tile first_{half_.tile.item, half_.tile.word, 0};
  const uint2* const words_ = v_.word_line(first_) + half_.tile.line;
  const uint2* const other_words_ = v_.other_line(first_) + half_.tile.line;
  const uint2* const labels_ = v_.changes_along_z(first_);
  const std::uint32_t* const changes_ = v_.changes_along_y(half_.tile);
};

/// Steps along x of a column; behind the last row there is no site.
struct StepsOfGroup {
  static constexpr unsigned kNone = 0x7FFF7FFFu;
  const unsigned* rows;
  int lane;
  __device__ unsigned operator[](int j) const { return reinterpret_cast<const std::uint16_t*>(rows)[j * 16 + lane]; }
};
using StepRows = HalfRows<StepsOfGroup>;

/// A lane's line in shared memory.
template <class RowsOfLine, class KeysOfLine>
struct StepLine {
  using Rows = RowsOfLine;
  using Keys = KeysOfLine;

  __device__ unsigned word(int row) const { return rows.get(row, thread() % 16); }
  __device__ auto group(int q) const { return rows.group(q, thread() % 16); }

  unsigned* memory;
  int n;
  const AnySpacing& spacing;
  const Rows rows{memory, n};
};

/// A line along y: rows of steps along x in 16 bits. Of no site they are many.
/// @tparam kSided  they have signs
template <bool kSided>
struct LineOfPlane : StepLine<StepRows, PlaneKeys> {
  static_assert(kNoneInWord + 32 < 1 << 15);
  static __device__ int steps(unsigned word) {
    return kSided ? static_cast<std::int16_t>(word) : static_cast<int>(word);
  }
  static constexpr bool kFinds = kSided, kWinners = true;

  __device__ double weight() const { return spacing.y; }
  __device__ double along(int steps) const { return spacing.times_y * squared(steps); }
  __device__ bool has_site(unsigned word) const {
    return static_cast<unsigned>(kSided ? abs(steps(word)) : steps(word)) < kNoneInWord;
  }
  __device__ double square(unsigned word) const { return spacing.square(0, steps(word)); }
  __device__ unsigned halves(unsigned word) const {
    const unsigned halves = rounded_halves(small_float(squared(steps(word))) * spacing.halves_y_of_x);
    return has_site(word) ? halves : kNoHalves;
  }
};

/// A line along z: rows of words of steps.
template <bool kFindsSites>
struct LineOfVolume : StepLine<KeyRows<VolumeKeys>, VolumeKeys> {
  static constexpr bool kFinds = kFindsSites, kWinners = kFindsSites;

  __device__ double weight() const { return spacing.z; }
  __device__ double along(int steps) const { return spacing.times_z * squared(steps); }
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

/// Distances from squares, by roots_of(); also of 0 and, with kInfinite, of infinity.
template <bool kInfinite>
__device__ inline void any_distances(const double (&squares)[8], float scale, float (&distances)[8]) {
  constexpr double kNothing = 0x1p-1000;  // beside squares; its root is 0 as a float
#pragma unroll
  for (int j = 0; j < 8; j += 2) {  // two at a time, for the registers
    float two[2];
    roots_of({squares[j] + kNothing, squares[j + 1] + kNothing}, two);
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const bool is_none = kInfinite && squares[j + k] == kNoSquareExact;
      distances[j + k] = (is_none ? __builtin_inff() : two[k]) * scale;
    }
  }
}

}  // namespace fathom::grid::cuda::volume
