// The outwards search of volume/window.cuh, which passes over groups of rows that are too far to better anything: where
// sites are few, most rows hold none near, and between balls lie stretches of such rows.
//
// After sixteen steps a warp looks at the rows of the next group to a side before it takes eight more steps there: if
// neither those nor the ones of the group before, with the least steps to them, could better the farthest element of
// any lane, it takes none. What was passed over is still in the registers that slide outwards, as an older group. Its
// rows are nearer than where they are taken to be: what they offer is too much there, and has not bettered anything
// where they are.
//
// Cost: as there, for the groups that are not passed over, and some 20 operations for eight steps to a side.
#pragma once

#include "grid/cuda/volume/window.cuh"

namespace fathom::grid::cuda::volume {

/// Whether a tile has sites near enough for a search to be worth while: in each stretch of so many rows.
template <int kThreads, int kStretch, int kLongest = kLongestAxis>
class NearRows {
 public:
  /// Of a thread.
  __device__ void add(int row, bool is_near) {
    if (is_near) near_ |= 1u << static_cast<unsigned>(row) / kStretch;
  }
  /// By all threads of the block, before they meet. @param of_warps  shared
  __device__ void put(unsigned* of_warps) const {
    const unsigned near = warp_or(near_);
    if (lane_id() == 0) of_warps[threadIdx.x / 32] = near;
  }
  /// Thereafter. A last stretch that is less than half as long is not asked for.
  __device__ static bool suffice(const unsigned* of_warps, int rows) { return missing(of_warps, rows) == 0; }
  /// The same if one in so many stretches may have none.
  __device__ static bool nearly_suffice(const unsigned* of_warps, int rows, int share) {
    return __popc(missing(of_warps, rows)) * share <= stretches_of(rows);
  }
  /// Whether few stretches without one lie between others of those. From the middle of several that lie together, none is
  /// near along the line, either: each of their rows would take as many steps as it is rows to the nearest other
  /// stretch. What is outside is as far.
  __device__ static bool few_lie_between(const unsigned* of_warps, int rows) {
    constexpr int kShare = 8;  // one stretch in so many is not few
    const int stretches = (rows + kStretch - 1) / kStretch;
    const unsigned far = ~near_ones(of_warps), between = far & (far << 1 | 1u) & (far >> 1 | 1u << 31);
    return __popc(between & (0xFFFFFFFFu >> (32 - stretches))) * kShare < stretches;
  }

 private:
  static_assert(kLongest / kStretch <= 32);

  static __device__ int stretches_of(int rows) { return (rows + kStretch / 2) / kStretch; }
  /// Which stretches have some, and none, in bits.
  static __device__ unsigned near_ones(const unsigned* of_warps) {
    unsigned near = 0;
#pragma unroll
    for (int w = 0; w < kThreads / 32; ++w) near |= of_warps[w];
    return near;
  }
  static __device__ unsigned missing(const unsigned* of_warps, int rows) {
    return ~near_ones(of_warps) & static_cast<unsigned>((std::uint64_t{1} << stretches_of(rows)) - 1);
  }

  unsigned near_ = 0;
};

/// The stretches of a line that is searched along z, from its words before its rows are filled.
template <int kThreads>
using StretchesAlongZ = NearRows<kThreads, longest_line(kThreads) / 32, longest_line(kThreads)>;

/// Eight rows of a word, as Window<Word>.
///
/// Word::kMostSteps: of a search
/// Word::kRight: what steps to higher rows add, however many they are
/// Word::kOffersTwo: whether a step to both sides is offered at once
/// Word::kIsCharged: whether nothing else searches what this leaves, so that steps count and it fails the block
template <class Word, class Rows = WindowRows<Word>>
class GapWindow {
 public:
  __device__ GapWindow(const Rows& rows, int group, int lane) : rows_(rows), group_(group), lane_(lane) {
    const auto own = rows.group(group, lane);
#pragma unroll
    for (int j = 0; j < 8; ++j) best[j] = before_[j] = behind_[j] = own[j];
  }

  /// What the warps of a block may spend on a tile: eight steps to a side are one.
  static __device__ int budget_of(int rows) { return max(row_groups(rows) / 2 * kUsualSides, 4); }

  /// @param work  of the block: what its warps have spent so far
  /// @param took  steps that the warp's rows before took, and what these did: whether they are settled is not asked
  ///              before half as many. Null: it is asked always
  /// @returns whether the warp's rows are settled
  __device__ bool search(int* work, int budget, int* took = nullptr) {
    const int unasked = took ? *took / 2 : 0;
    const auto is_done = [&](int steps) {
      if (steps < unasked || !is_settled(steps)) return false;
      if (took) *took = steps;
      return true;
    };
    if (is_done(0)) return true;
#pragma unroll
    for (int m = 0; m < 2; ++m) {
      const auto left = rows_.group(group_ - 1 - m, lane_), right = rows_.group(group_ + 1 + m, lane_);
#pragma unroll
      for (int s = 1; s <= 8; ++s) {
        step_both(left, right, s, 8 * m + s);
        const bool look = s == 4 || s == 8 || (m == 0 && (s <= 3 || s == 6));
        if (look && is_done(8 * m + s)) return true;
      }
      if (!may_spend(2, work, budget)) return false;
    }
    unsigned least_left = Word::least(before_), least_right = Word::least(behind_);
    for (int m = 2; m < Word::kMostSteps / 8; ++m) {
      const bool to_left = may_better(m, -1, least_left), to_right = may_better(m, 1, least_right);
      if (!to_left && !to_right) {
        if (is_done(8 * m + 8)) return true;
        continue;
      }
      if (!may_spend(to_left + to_right, work, budget)) return false;
#pragma unroll
      for (int half = 0; half < 8; half += 4) {
        if (to_right) four_steps(m, half, 1);
        if (to_left) four_steps(m, half, -1);
        if (is_done(8 * m + half + 4)) return true;
      }
    }
    return Word::kIsCharged && may_spend(1 << 24, work, budget);  // for the other warps
  }
  /// Of this lane's rows, whether some are farther than such steps may tell.
  __device__ bool is_open(int steps) const {
    const unsigned next = square_of(steps + 1) - Word::kTies;
    return Word::most(best, next) != next;
  }

  unsigned best[8];

 private:
  /// Of eight rows, those that are offered two at once: so that both kinds of units have as much to do.
  static constexpr int kByThree = 5;

  /// What so many steps add, without the way.
  static __device__ unsigned square_of(int steps) { return static_cast<unsigned>(steps * steps) * Word::kSquare; }
  static __device__ unsigned way_of(int steps) { return static_cast<unsigned>(steps) * Word::kStep; }
  /// The same with the way.
  static __device__ unsigned to_right(int steps) { return square_of(steps) + way_of(steps) + Word::kRight; }
  static __device__ unsigned to_left(int steps) { return square_of(steps) - way_of(steps); }

  __device__ bool is_settled(int steps) const { return !__any_sync(kAllLanes, is_open(steps)); }
  /// Whether steps 8 m + 1 … 8 m + 8 to a side may better an element of the warp.
  /// @param least  of the group that the steps before went to, and the next one's
  __device__ bool may_better(int m, int side, unsigned& least) const {
    const unsigned most = Word::most(best), next = Word::least(rows_.group(group_ + side * (m + 1), lane_));
    const unsigned steps = square_of(8 * m + 1) - way_of(8 * m + 8);
    const unsigned nearest = Word::offer(Word::lesser(least, next), steps, most);
    least = next;
    return __any_sync(kAllLanes, nearest != most) != 0;
  }
  __device__ static bool may_spend(int sides, int* work, int budget) {
    if (!Word::kIsCharged) return true;
    int spent = 0;
    if (lane_id() == 0) spent = atomicAdd(work, sides);
    return __shfl_sync(kAllLanes, spent, 0) + sides <= budget;
  }

  /// A step to both sides.
  /// @param s  1 … 8, of the steps into a group
  __device__ void step_both(const typename Rows::Group& before, const typename Rows::Group& behind, int s, int steps) {
    if constexpr (Word::kOffersTwo) {
      behind_[s - 1] = behind[s - 1], before_[8 - s] = before[8 - s];
      const unsigned right = to_right(steps), left = to_left(steps);
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const unsigned on_right = behind_[(j + s) & 7], on_left = before_[(j - s) & 7];
        if (j < kByThree) best[j] = Word::offer_two(on_right, right, on_left, left, best[j]);
        else best[j] = Word::offer(on_right, right, Word::offer(on_left, left, best[j]));
      }
    } else {
      step_right(behind, s, steps);
      step_left(before, s, steps);
    }
  }
  /// Steps 8 m + half + 1 … 8 m + half + 4 to a side.
  __device__ void four_steps(int m, int half, int side) {
    const auto from = rows_.group(group_ + side * (m + 1), lane_);
#pragma unroll
    for (int s = half + 1; s <= half + 4; ++s) {
      if (side > 0) step_right(from, s, 8 * m + s);
      else step_left(from, s, 8 * m + s);
    }
  }
  /// A step to one side.
  __device__ void step_right(const typename Rows::Group& from, int s, int steps) {
    behind_[s - 1] = from[s - 1];
#pragma unroll
    for (int j = 0; j < 8; ++j) best[j] = Word::offer(behind_[(j + s) & 7], to_right(steps), best[j]);
  }
  __device__ void step_left(const typename Rows::Group& from, int s, int steps) {
    before_[8 - s] = from[8 - s];
#pragma unroll
    for (int j = 0; j < 8; ++j) best[j] = Word::offer(before_[(j - s) & 7], to_left(steps), best[j]);
  }

  const Rows& rows_;
  const int group_, lane_;
  unsigned before_[8], behind_[8];
};

}  // namespace fathom::grid::cuda::volume
