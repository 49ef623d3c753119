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

// As seen from the lines above and below the band: what lies above the chord of two others on a line is not nearest
// there (plane/prune.cuh).

/// Whether a point lies on or above the chord of its neighbours; p, q: how far they are to the left and right. Heights
/// are squared distances; keeps what rounding leaves in doubt.
__device__ inline bool above_chord(float left, float middle, float right, float p, float q) {
  const float width = p + q;
  return middle * width * 0.999999f >= fmaf(left, q, fmaf(right, p, p * q * width));
}

/// A column, and the squared distances along it from the lines above and below the band.
struct LinePoint {
  float x, upper, lower;
};

struct FromLines : LinePoint {
  int2 of_upper, of_lower;

  __device__ FromLines(const Entry& entry, const Plane& plane)
      : of_upper(entry.column.from_upper(plane.beyond)), of_lower(entry.column.from_lower(plane.beyond)) {
    x = static_cast<float>(entry.x);
    upper = plane.from_line(min(of_upper.x, of_upper.y));
    lower = plane.from_line(min(of_lower.x, of_lower.y));
  }
  // Whether sites on that side may matter to the band, as far as the column by itself tells.
  __device__ bool may_be_above() const { return of_upper.x <= of_upper.y; }
  __device__ bool may_be_below() const { return of_lower.y <= of_lower.x; }
};

/// Whether `middle` lies above the chord of the two others on a line; false unless they are on either side of it.
__device__ inline bool is_above(const LinePoint& left, const LinePoint& middle, const LinePoint& right,
                                float LinePoint::*height) {
  const float p = middle.x - left.x, q = right.x - middle.x;
  return p > 0 && q > 0 && above_chord(left.*height, middle.*height, right.*height, p, q);
}

}  // namespace fathom::grid::cuda::plane
