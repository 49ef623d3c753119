// Squares of steps in double, from a table: so a row that is offered to eight takes eight loads that need not wait for
// each other, in place of eight products of integers that are made doubles first.
#pragma once

namespace fathom::grid::cuda::volume {

/// The squares of steps along lines of so many rows, to both sides.
class StepSquares {
 public:
  static constexpr __host__ __device__ int count(int rows) { return none(rows) + rows + 16; }

  /// @param of  so many squares
  __device__ StepSquares(const double* of, int rows) : of_(of), none_(none(rows)) {}

  /// Of so many steps, below 0 to rows behind, and from there on.
  __device__ const double* from(int steps) const { return of_ + static_cast<unsigned>(none_ + steps); }

  /// The place of no steps. Behind a line's last row, a group of eight may end, and a warp have one more.
  static constexpr __host__ __device__ int none(int rows) { return rows; }

 private:
  const double* of_;
  const int none_;
};

}  // namespace fathom::grid::cuda::volume
