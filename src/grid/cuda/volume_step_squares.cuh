// Squares of steps in double, from a table: so a row that is offered to eight takes eight loads that need not wait for
// each other, in place of eight products of integers that are made doubles first.
#pragma once

#include "grid/cuda/volume.cuh"

namespace fathom::grid::cuda {

/// The squares of steps along an axis, to both sides.
struct StepSquares {
  static constexpr int kMost = kLongestKeyed + 8;  ///< from a row to the last of any group

  double of[2 * kMost];

  /// Of so many steps, below 0 to rows behind, and from there on.
  __device__ const double* from(int steps) const { return of + static_cast<unsigned>(kMost + steps); }
};

}  // namespace fathom::grid::cuda
