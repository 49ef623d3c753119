// The walk along convex rows (plane/far_walk.cuh) in double, for spacings that have no small unit: the least values of
// a far tile without a search.
//
// Values are as rounded as everywhere (plane/exact.cuh), and are computed anew at each column. That they fall no more
// is asked of rounded values: where the step behind is steeper by a weight for each column, that is far more than
// doubles round, and what has begun to rise does not fall again.
//
// Work mapping: as there. Cost: about 30 operations per element, and twice as many per candidate and row.
#pragma once

#include "grid/cuda/plane/far_walk.cuh"
#include "grid/cuda/plane/plane.cuh"

namespace fathom::grid::cuda {

class ExactRowWalk {
 public:
  /// @param rows  [candidate][row]: to a candidate's site
  __device__ ExactRowWalk(const Plane& plane, const unsigned* rows, const int* columns, int count)
      : plane_(plane), rows_(rows + lane_id()), columns_(columns), last_(count - 1) {}

  /// Whether a warp's share of the candidates is convex along the lane's row, by more than doubles round.
  __device__ bool is_convex(int warp, int warps) const {
    const int share = last_ / warps + 1, first = warp * share, end = min(first + share, last_ - 1);
    if (first >= end) return true;
    Candidate middle = candidate(first + 1);
    Step before = step(candidate(first), middle);
    bool is_convex = true;
    for (int k = first + 1; k <= end; ++k) {
      const Candidate next = candidate(k + 1);
      const Step behind = step(middle, next);
      const double more = plane_.exact_column_weight * before.columns * behind.columns;
      is_convex &= before.rise * behind.columns + more <= behind.rise * before.columns;
      middle = next;
      before = behind;
      if (k % 4 == 0 && !__all_sync(kAllLanes, is_convex)) return false;
    }
    return is_convex;
  }

  /// The least values of the lane's row at the columns from x on, where all is convex.
  __device__ void walk(int x, double (&least)[kBand]) const {
    int k = least_at(x);
    Candidate best = candidate(k), next = candidate(k + 1);
#pragma unroll
    for (int i = 0; i < kBand; ++i) {
      double value = at(best, x + i), other = at(next, x + i);
      while (other < value) {
        value = other;
        best = next;
        next = candidate(++k + 1);
        other = at(next, x + i);
      }
      least[i] = value;
    }
  }

 private:
  struct Candidate {
    double along;  ///< its square along the column
    int x;
  };
  /// From a candidate to the next one.
  struct Step {
    double rise;  ///< of the square, and that of the column
    double columns;
  };

  /// Behind the last one, one that is nearest nowhere.
  __device__ Candidate candidate(int k) const {
    if (k > last_) return {__builtin_inf(), columns_[last_]};
    return {plane_.along_exactly(static_cast<int>(rows_[k * kBand])), columns_[k]};
  }
  __device__ double at(const Candidate& one, int x) const { return one.along + plane_.across_exactly(x - one.x); }
  __device__ Step step(const Candidate& one, const Candidate& next) const {
    const double columns = next.x - one.x, sum = next.x + one.x;
    return {next.along - one.along + plane_.exact_column_weight * columns * sum, columns};
  }

  /// The first candidate behind which values rise at column x.
  __device__ int least_at(int x) const {
    int first = 0, last = last_;
    while (first < last) {
      const int middle = (first + last) / 2;
      if (at(candidate(middle + 1), x) < at(candidate(middle), x)) first = middle + 1;
      else last = middle;
    }
    return first;
  }

  const Plane& plane_;
  const unsigned* rows_;
  const int* columns_;
  const int last_;
};

/// turn() of doubles, a half at a time.
__device__ inline void turn(unsigned* memory, double (&values)[kBand]) {
  unsigned lower[kBand], upper[kBand];
#pragma unroll
  for (int i = 0; i < kBand; ++i) {
    lower[i] = static_cast<unsigned>(__double2loint(values[i]));
    upper[i] = static_cast<unsigned>(__double2hiint(values[i]));
  }
  turn(memory, lower);
  turn(memory, upper);
#pragma unroll
  for (int i = 0; i < kBand; ++i) values[i] = __hiloint2double(static_cast<int>(upper[i]), static_cast<int>(lower[i]));
}

}  // namespace fathom::grid::cuda
