// The columns that can matter to a band, listed by list_columns(), and which of them win.
#pragma once

#include "grid/cuda/plane/plane.cuh"

namespace fathom::grid::cuda::plane {

inline constexpr unsigned kNoBound = 0xFFFFFFFFu;

/// The leftmost of the candidates whose value is the least.
struct Winners {
  static constexpr unsigned kNothing = kNoBound;
  int first, last = first;
  unsigned best = kNothing;

  static __device__ unsigned square(const Plane& plane, int rows, int columns) { return plane.square(rows, columns); }
  static __device__ unsigned rounded(unsigned value) { return value; }
  /// The most that a value may be where `value` is the least.
  static __device__ unsigned most(unsigned value) { return value; }

  /// A candidate behind all others.
  __device__ void offer(unsigned value, int candidate) {
    if (value < best) best = value, first = last = candidate;
  }
  /// The winners of others.
  __device__ void join(unsigned value, int from, int) {
    if (value < best || (value == best && from <= first)) best = value, first = last = from;
  }
};

/// The first and the last of the candidates that may be nearest, as far as rounded values tell.
template <class Rounding>
struct LikelyWinners : Rounding {
  using Rounding::kNothing;
  int first, last = first;
  unsigned best = kNothing;

  explicit __device__ LikelyWinners(int candidate) : first(candidate) {}
  __device__ void offer(unsigned value, int candidate) { join(value, candidate, candidate); }
  __device__ void join(unsigned value, int from, int to) {
    if (value > Rounding::most(best)) return;
    const bool alone = Rounding::most(value) < best;
    first = alone ? from : min(first, from);
    last = alone ? to : max(last, to);
    best = min(best, value);
  }
};

/// Which of several columns that are as near to an element has the site with the lowest index: that of the least code.
///
/// Values are 2 d² + 1 where a column's nearest site is below and none as near above, else 2 d². Of columns with one
/// value, the one with more steps has its site fewer rows away. Above, the lowest row is the farthest, so that the
/// fewest steps are right; below, it is the nearest, so that the most are, and there their bits are turned round. Of as
/// many steps, those to the left are right.
///
/// The code: twice the steps to a column, and 1 if they go to the right; turned round below.
struct ColumnCode {
  static __device__ unsigned of(int steps) { return static_cast<unsigned>(2 * abs(steps)) + unsigned{steps > 0}; }
  /// The bits that are turned round. @param value  1 in its last bit: below
  static __device__ unsigned turned(unsigned value) { return (0u - (value & 1)) & 0x1FFFEu; }
  static __device__ unsigned of(unsigned value, int steps) { return of(steps) ^ turned(value); }
};

/// An entry in registers of a lane.
struct Entry {
  int x = 0;
  Column column{0, kFar, kFar};

  /// Entry k of the band whose columns and list begin at `start`.
  __device__ static Entry load(const Plane& plane, std::int64_t start, int k) {
    const int x = plane.left.list_column[start + k];
    return {x, {plane.bits[start + x], plane.above[start + x], plane.below[start + x]}};
  }
  __device__ Entry from_lane(int lane) const {
    const unsigned carries = __shfl_sync(kAllLanes, column.above | column.below << 16, lane);
    return {__shfl_sync(kAllLanes, x, lane),
            {__shfl_sync(kAllLanes, column.bits, lane), carries & 0xFFFFu, carries >> 16}};
  }
};

}  // namespace fathom::grid::cuda::plane
