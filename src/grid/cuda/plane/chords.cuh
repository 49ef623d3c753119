// Candidates of a band as seen from the lines above and below it: those above the chord of two others on a line are not
// nearest there (plane/prune.cuh).
#pragma once

#include "grid/cuda/plane/candidates.cuh"

namespace fathom::grid::cuda::plane {

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
  int upper_up, upper_down;  ///< rows from the upper line up and down to the nearest site
  int lower_up, lower_down;

  __device__ FromLines(const Entry& entry, const Plane& plane) {
    const Column& c = entry.column;
    const int beyond = plane.beyond;
    upper_up = static_cast<int>(c.above) - 1;
    upper_down = c.bits ? __ffs(static_cast<int>(c.bits)) - 1 + beyond : static_cast<int>(c.below);
    lower_up = c.bits ? __clz(static_cast<int>(c.bits)) + beyond : static_cast<int>(c.above) + 31;
    lower_down = static_cast<int>(c.below) - 32;
    x = static_cast<float>(entry.x);
    upper = plane.from_line(min(upper_up, upper_down));
    lower = plane.from_line(min(lower_up, lower_down));
  }
  // Whether sites on that side may matter to the band, as far as the column by itself tells.
  __device__ bool may_be_above() const { return upper_up <= upper_down; }
  __device__ bool may_be_below() const { return lower_down <= lower_up; }
};

/// Whether `middle` lies above the chord of the two others on a line; false unless they are on either side of it.
__device__ inline bool is_above(const LinePoint& left, const LinePoint& middle, const LinePoint& right,
                                float LinePoint::*height) {
  const float p = middle.x - left.x, q = right.x - middle.x;
  return p > 0 && q > 0 && above_chord(left.*height, middle.*height, right.*height, p, q);
}

}  // namespace fathom::grid::cuda::plane
