// Tiles whose sites are far, as far as words reach: where a search would be long.
//
// Of the rows of a line, the nearest one to an element never lies before the nearest one to an element further up. So
// in which groups of eight rows the nearest ones of two rows lie bounds those of all rows between. Phase 1 finds them
// for each 64th row, then for the rows halfway between, and again, down to each sixteenth; by the least blocks, whose
// lines have 64 rows at most, for each sixteenth at once. Phase 2 tries, for each sixteen rows, the groups from the
// first to the last that these leave. A group counts for all lines of a tile if it does for one: those of neighbours
// are mostly the same.
//
// Rows as far apart as kReach, 177 or with nearest sites 121, are not taken, since sums would not fit. Where that is
// not enough, the tile is left to the envelope (volume/envelope.cuh).
//
// Work mapping: block = tile, whose rows lie as volume/window.cuh has them. Phase 1, warp = one row, half warp = every
// other group, phase 2, half warp = eight rows; lane = a word's lines: two, or with nearest sites one. All of a warp
// tries as many groups. Source: searching in totally monotone matrices (Aggarwal et al. 1987), by halving. Cost: six
// operations per row that is tried in phase 1 for a word, one in phase 2 per element and row.
#pragma once

#include <algorithm>

#include "grid/cuda/volume/window.cuh"

namespace fathom::grid::cuda::volume {

/// Most steps whose square may be added to any word: no sum wraps, also of words with ways behind their squares.
template <class Word>
constexpr int most_steps_added() {
  const auto wraps = [](std::uint64_t steps) {
    return (Word::kNone + (steps * steps + 1) * Word::kSquare - 1) >> 32 != 0;
  };
  int steps = 0;
  while (!wraps(static_cast<std::uint64_t>(steps + 1))) ++steps;
  return steps;
}

/// What steps from one row to others add to words. Farther ones than may be added, of the last group in reach, count as
/// far as these: what they lead to is not taken.
template <class Word>
struct StepWords {
  static constexpr int kMostSteps = most_steps_added<Word>();
  static constexpr int kMostGroups = (kMostSteps + 7) / 8;  ///< of eight rows, to a side

  constexpr StepWords() : of_() {
    for (int i = 0; i < kCount; ++i) {
      const int steps = std::clamp(i - kNoSteps, -kMostSteps, kMostSteps);
      of_[i] = static_cast<unsigned>(steps * steps) * Word::kSquare + static_cast<unsigned>(steps) * Word::kStep +
               (steps > 0 ? Word::kRight : 0);
    }
  }
  /// From so many steps on, a multiple of eight.
  template <int kWanted>
  __device__ void load(int steps, unsigned (&words)[kWanted]) const {
    const auto* four = reinterpret_cast<const uint4*>(of_ + kNoSteps + steps);
#pragma unroll
    for (int k = 0; k < kWanted; k += 4, ++four) {
      const uint4 some = __ldg(four);
      words[k] = some.x, words[k + 1] = some.y, words[k + 2] = some.z, words[k + 3] = some.w;
    }
  }

 private:
  static constexpr int kNoSteps = 8 * (kMostGroups + 1), kCount = 2 * kNoSteps;
  alignas(16) unsigned of_[kCount];
};
// In global memory: half warps read different entries, which constant memory would hand out one by one.
template <class Word>
static __device__ const StepWords<Word> kStepWords;

/// In shared memory. @tparam kThreads  of the block
template <int kThreads, class Word = WindowPairs>
class NearestGroups {
 public:
  using Rows = WindowRows<Word>;

  /// By all threads, which meet before.
  ///
  /// @param put  takes the words of eight rows, of which there may be none: put(group, words)
  /// @returns whether all are settled; else what was put is right, but not all
  template <class Put>
  __device__ bool solve(const Rows& rows, Put&& put) {
    if (!find(rows)) return false;
    bool is_far = false;
    for (int q0 = warp_number() * 2; q0 < rows.groups && !is_far; q0 += kThreads / 16) {
      const int q = q0 + lane_id() / 16, own = min(q, rows.groups - 1);
      unsigned best[8];
#pragma unroll
      for (unsigned& least : best) least = kFar;
      const int last = min(same(last_[q0 / 2 + 1]), q0 + kMostGroups);
      for (int g = max(same(first_[q0 / 2]), q0 + 1 - kMostGroups); g <= last; ++g)
        offer_eight(rows.group(g, lane_id() % 16), 8 * (g - own), best);
      is_far = __any_sync(kAllLanes, Word::largest(best) >= kReach * kReach);
      if (!is_far) put(q, best);
    }
    return !__syncthreads_or(is_far);
  }

 private:
  static constexpr int kMostGroups = StepWords<Word>::kMostGroups;
  static constexpr int kReach = 8 * kMostGroups - 7;  ///< rows
  static_assert(kReach <= Word::kMostSteps + 1);      // as a search, it settles what words can hold
  static constexpr unsigned kFar = kReach * kReach * Word::kSquare, kNotFar = kFar - Word::kLeast;
  static constexpr int kFirstStep = kThreads == kLeastBlocksOfSites ? 1 : 4;  ///< pairs of groups
  /// Of eight rows, those that are offered two at once: so that both kinds of units have as much to do.
  static constexpr int kByThree = 5;
  static constexpr int kLongest = longest_line(kThreads);
  static_assert(kLongest / 8 <= 256);

  static __device__ int same(int in_all_lanes) { return __shfl_sync(kAllLanes, in_all_lanes, 0); }

  /// The groups for each sixteenth row. @returns whether none is too far
  __device__ bool find(const Rows& rows) {
    const int pairs = (rows.groups + 1) / 2;
    if (threadIdx.x == 0) first_[0] = 0, last_[pairs] = static_cast<std::uint8_t>(rows.groups - 1);
    __syncthreads();
    bool is_far = false;
    for (int step = kFirstStep; step > 0; step /= 2) {
      const bool is_first = step == kFirstStep;
      for (int k = (warp_number() * (is_first ? 1 : 2) + 1) * step; k < pairs;
           k += kThreads / 32 * (is_first ? 1 : 2) * step)
        is_far |= find_at(rows, k, same(first_[is_first ? 0 : k - step]),
                          same(last_[is_first ? pairs : min(k + step, pairs)]));
      if (__syncthreads_or(is_far)) return false;
    }
    return true;
  }

  /// What is nearest to a row in a word's lines.
  struct Nearest {
    unsigned word = kFar;
    int low, high;  ///< groups

    __device__ void offer(unsigned other, int other_low, int other_high) {
      const unsigned least = Word::lesser(word, other), changed = least ^ word;
      if ((changed & Word::kFirstLine) != 0) low = other_low;
      if ((changed & Word::kLastLine) != 0) high = other_high;
      word = least;
    }
    /// Whether it is more than a word in some line.
    __device__ bool is_beyond(unsigned other) const { return Word::lesser(word, other) != word; }
  };

  /// The same for the first row of a pair of groups, by a warp. @returns whether that of a line is too far
  __device__ bool find_at(const Rows& rows, int pair, int first, int last) {
    const int own = 2 * pair, half = lane_id() / 16;
    Nearest nearest{.low = own, .high = own};
    const auto may_better = [&](int steps) {
      const auto square = static_cast<unsigned>(min(steps * steps, kReach * kReach)) * Word::kSquare;
      return __any_sync(kAllLanes, nearest.is_beyond(square)) != 0;
    };
    const auto offer = [&](int g) { nearest.offer(least_of(rows.group(g, lane_id() % 16), 8 * (g - own)), g, g); };
#pragma unroll 1
    for (int g = max(own, first); g <= last && may_better(8 * (g - own)); g += 2) offer(min(g + half, last));
#pragma unroll 1
    for (int g = min(own - 1, last); g >= first && may_better(8 * (own - g) - 7); g -= 2) offer(max(g - half, first));
    const int others = __shfl_xor_sync(kAllLanes, nearest.low | nearest.high << 16, 16);
    nearest.offer(__shfl_xor_sync(kAllLanes, nearest.word, 16), others & 0xFFFF, others >> 16);
    const unsigned least = warp_min(static_cast<unsigned>(min(nearest.low, nearest.high)));
    const unsigned greatest = warp_max(static_cast<unsigned>(max(nearest.low, nearest.high)));
    if (lane_id() == 0) {
      first_[pair] = static_cast<std::uint8_t>(least);
      last_[pair] = static_cast<std::uint8_t>(greatest);
    }
    return nearest.is_beyond(kNotFar);
  }

  static __device__ unsigned offer_two(unsigned a, unsigned step_a, unsigned b, unsigned step_b, unsigned best) {
    if constexpr (Word::kOffersTwo) return Word::offer_two(a, step_a, b, step_b, best);
    else return Word::offer(b, step_b, Word::offer(a, step_a, best));
  }

  /// The least of a group's words to a row. @param steps  from there to the group's first
  static __device__ unsigned least_of(const typename Rows::Group& group, int steps) {
    unsigned step[8], least = 0xFFFFFFFFu;
    kStepWords<Word>.load(steps, step);
#pragma unroll
    for (int i = 0; i < 8; i += 2) least = offer_two(group[i], step[i], group[i + 1], step[i + 1], least);
    return least;
  }

  /// Eight rows, for eight others. @param steps  from the first of these to the first of those
  static __device__ void offer_eight(const typename Rows::Group& group, int steps, unsigned (&best)[8]) {
    unsigned step[16];  // of one row to another, whose places among their eight differ by as much as the index by 8
    kStepWords<Word>.load(steps - 8, step);
#pragma unroll
    for (int i = 0; i < 8; i += 2) {
      const unsigned first = group[i], second = group[i + 1];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const unsigned to_first = step[8 + i - j], to_second = step[9 + i - j];
        if (j < kByThree) best[j] = offer_two(first, to_first, second, to_second, best[j]);
        else best[j] = Word::offer(second, to_second, Word::offer(first, to_first, best[j]));
      }
    }
  }

  std::uint8_t first_[kLongest / 16 + 1],
      last_[kLongest / 16 + 1];  ///< for the first row of each pair of groups, and the end
};

}  // namespace fathom::grid::cuda::volume
