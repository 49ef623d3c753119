// The ends of runs of equal labels along rows, and label 0: what is missing to distances along columns and across (see
// plane/labels.cuh). An element asks for them before its search if it is near, and with its result if it is far.
//
// Cost: some 15 operations per element; for each word the changes beside it, or of a far one those up to the ends of
// the runs that cross it, are read by 32 lanes together.
#pragma once

#include "grid/cuda/plane/plane.cuh"

namespace fathom::grid::cuda::plane {

/// Steps along a row from an element to the nearest ones to the left and right of its run.
struct RunSteps {
  unsigned left, right;
  __device__ unsigned least() const { return min(left, right); }
  /// To the nearer one, that to the left if they are equally near.
  __device__ int nearest() const { return left <= right ? -static_cast<int>(left) : static_cast<int>(right); }
};

/// Of signed labels: whether the distance of row r, column x of a band is negative.
__device__ inline bool is_inside(const Plane& plane, std::int64_t band, int r, int x) {
  return !plane.runs.pins &&
         !(plane.runs.background[(band * kBand + r) * plane.runs.row_words + x / 32] >> (x % 32) & 1);
}

/// A word of a row and those beside it: ends of runs that are less than 32 steps away.
class NearRuns {
 public:
  /// @param r, w  row of the band, and word of the row, also behind its last
  __device__ NearRuns(const Plane& plane, std::int64_t band, int r, int w) {
    const int words = plane.runs.row_words;
    if (w >= words) return;
    const std::int64_t place = (band * kBand + r) * words + w;
    own_ = plane.runs.changes[place];
    if (w > 0) before_ = plane.runs.changes[place - 1];
    if (w + 1 < words) behind_ = plane.runs.changes[place + 1];
    if (plane.runs.pins) pinned_ = plane.runs.background[place];
  }

  /// Of an element; 32 or more: there is none so near. 0 where it is pinned.
  __device__ RunSteps steps(int bit) const {
    if (pinned_ >> bit & 1) return {0, 0};
    const unsigned up_to = __funnelshift_l(before_, own_, static_cast<unsigned>(31 - bit)),
                   beyond = __funnelshift_rc(own_, behind_, static_cast<unsigned>(bit + 1));
    return {1 + static_cast<unsigned>(__clz(static_cast<int>(up_to))),
            beyond ? static_cast<unsigned>(__ffs(static_cast<int>(beyond))) : 33};
  }

 private:
  unsigned own_ = 0, before_ = 0, behind_ = 0, pinned_ = 0;
};

/// A word of a row, and the nearest changes around it.
struct alignas(16) RowRuns {
  static constexpr int kNoChange = 1 << 20;  ///< farther than any column
  unsigned changes, background;
  int left = -kNoChange, right = kNoChange;  ///< columns of the nearest changes before and behind the word

  /// By a warp, lane = word. @param row  its words @param w0  the first of 32 of them
  static __device__ RowRuns of(const Plane& plane, std::int64_t row, int w0) {
    const int words = plane.runs.row_words, w = w0 + lane_id();
    const auto changes_of = [&](int at) { return at >= 0 && at < words ? plane.runs.changes[row + at] : 0u; };
    RowRuns runs{.changes = changes_of(w), .background = 0};
    if (w < words) runs.background = plane.runs.background[row + w];
    // Away from these words, the nearest 32 that have changes.
    for (int at = w0; at > 0 && runs.left == -kNoChange;)
      at -= 32, runs.left = last_change(changes_of(at + lane_id()), at, kAllLanes);
    for (int at = w0; at + 32 < words && runs.right == kNoChange;)
      at += 32, runs.right = first_change(changes_of(at + lane_id()), at, kAllLanes);
    runs.left = max(runs.left, last_change(runs.changes, w0, lanes_before(lane_id())));
    runs.right = min(runs.right, first_change(runs.changes, w0, ~lanes_before(lane_id()) & ~(1u << lane_id())));
    return runs;
  }

  /// Of an element; more than the width: there is none. 0 where it is pinned. @param w  the word's number in the row
  __device__ RunSteps steps(int w, int bit, bool pins) const {
    if (pins && background >> bit & 1) return {0, 0};
    const unsigned up_to = 0xFFFFFFFFu >> (31 - bit), before = changes & up_to, behind = changes & ~up_to;
    const int x0 = w * 32, from = before ? x0 + 31 - __clz(static_cast<int>(before)) : left,
              to = behind ? x0 + __ffs(static_cast<int>(behind)) - 1 : right;
    return {static_cast<unsigned>(x0 + bit - from + 1), static_cast<unsigned>(to - x0 - bit)};
  }

 private:
  /// Of the words of some lanes; word 0 begins at column 32 · `w0`.
  static __device__ int last_change(unsigned word, int w0, unsigned lanes) {
    const unsigned filled = __ballot_sync(kAllLanes, word != 0) & lanes;
    const int lane = 31 - __clz(static_cast<int>(filled | 1u));
    const unsigned bits = __shfl_sync(kAllLanes, word, lane);
    return filled ? (w0 + lane) * 32 + 31 - __clz(static_cast<int>(bits)) : -kNoChange;
  }
  static __device__ int first_change(unsigned word, int w0, unsigned lanes) {
    const unsigned filled = __ballot_sync(kAllLanes, word != 0) & lanes;
    const int lane = __ffs(static_cast<int>(filled | 0x80000000u)) - 1;
    const unsigned bits = __shfl_sync(kAllLanes, word, lane);
    return filled ? (w0 + lane) * 32 + __ffs(static_cast<int>(bits)) - 1 : kNoChange;
  }
};

}  // namespace fathom::grid::cuda::plane
