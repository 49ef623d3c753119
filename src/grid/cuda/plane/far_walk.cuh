// The least values of a far tile (plane/far.cuh) whose candidates are convex along every row: no search, but a walk.
//
// A candidate's value at a column is its square along its own column and the square of the columns between. Where the
// first of these and the square of its column together are convex, values fall from candidate to candidate, and then
// rise: the least one is where they no longer fall, and it never moves backwards as the column does. So each row goes
// through columns and candidates once. Lines of sites, level ones or such as fall by whole rows per column, make every
// column a candidate, and are convex; of other lines most columns are no candidates.
//
// Work mapping: warp = 32 columns, lane = row. Phase 1, warp = share of the candidates: whether they are convex. Phase
// 2: by bisection, the least value at the warp's first column. Phase 3: the walk; values follow by differences. Phase
// 4: from lanes that are rows to lanes that are columns. Cost: about 30 operations per element, whatever the number of
// candidates, and ten per candidate and row.
#pragma once

#include "grid/cuda/plane/candidates.cuh"

namespace fathom::grid::cuda::plane {

class RowWalk {
 public:
  static constexpr int kMostCandidates = kCapacity - 1;  ///< there is a guard behind the last one

  /// @param squares  [candidate][row]
  /// @param weight   of squares across columns
  __device__ RowWalk(unsigned* squares, int* columns, int count, std::uint32_t weight)
      : squares_(squares + lane_id()), columns_(columns), last_(count - 1), weight_(static_cast<int>(weight)) {}

  /// A candidate behind the last one that is nearest nowhere. By one warp; the others wait.
  __device__ void put_guard() {
    constexpr unsigned kFarther = 1u << 29;
    squares_[(last_ + 1) * kBand] = square(last_) + kFarther;
    if (lane_id() == 0) columns_[last_ + 1] = columns_[last_] + 1;
  }

  /// Whether a warp's share of the candidates is convex along the lane's row, in which all values are below 2³¹.
  __device__ bool is_convex(int warp, int warps) const {
    const int share = last_ / warps + 1, first = warp * share, end = min(first + share, last_ - 1);
    if (first >= end) return true;
    Step before = step(first);
    bool is_convex = true;
#pragma unroll 4
    for (int k = first + 1; k <= end; ++k) {
      const Step behind = step(k);
      is_convex &= is_less_steep(before, behind);
      before = behind;
      if (k % 4 == 0 && !__all_sync(kAllLanes, is_convex)) return false;
    }
    return is_convex;
  }

  /// The least values of the lane's row at the columns from x on, where all is convex, and of the candidates that have
  /// them the least code.
  /// kCodes: codes are wanted.
  template <bool kCodes>
  __device__ void walk(int x, unsigned (&least)[kBand], unsigned (&codes)[kBand]) const {
    int k = least_at(x);
    const int columns = x - columns_[k];
    unsigned value = square(k) + static_cast<unsigned>(weight_ * columns * columns);
    int slope = weight_ * (2 * columns + 1);  // of the value, to the next column
    int to_next, closer;                      // what the next candidate is more, and how much less at the next column
    const auto look_ahead = [&] {
      const int steps = columns_[k + 1] - columns_[k];
      closer = 2 * weight_ * steps;
      to_next = static_cast<int>(square(k + 1) - square(k)) - steps * (slope - weight_ * (1 + steps));
    };
    look_ahead();
#pragma unroll
    for (int i = 0; i < kBand; ++i) {
      while (to_next < 0) {
        value += static_cast<unsigned>(to_next);
        slope -= closer;
        ++k;
        look_ahead();
      }
      least[i] = value;
      if constexpr (kCodes) {
        codes[i] = ColumnCode::of(value, columns_[k] - x - i);
        for (int as_near = k, more = to_next; more == 0; more = rise(as_near, x + i)) {
          ++as_near;
          codes[i] = min(codes[i], ColumnCode::of(value, columns_[as_near] - x - i));
        }
      }
      value += static_cast<unsigned>(slope);
      slope += 2 * weight_;
      to_next -= closer;
    }
  }

 private:
  /// From a candidate to the next one.
  struct Step {
    int columns = 1, rise = 0;  ///< of the square, and that of the column
  };

  __device__ unsigned square(int k) const { return squares_[k * kBand]; }
  /// What candidate k + 1 is more than k at column x. Sums wrap; the result does not.
  __device__ int rise(int k, int x) const {
    const int columns = columns_[k + 1] - columns_[k];
    return static_cast<int>(square(k + 1) - square(k)) - weight_ * columns * (2 * (x - columns_[k]) - columns);
  }
  __device__ Step step(int k) const { return {columns_[k + 1] - columns_[k], rise(k, columns_[0])}; }
  /// Mostly, steps are as long.
  static __device__ bool is_less_steep(const Step& one, const Step& other) {
    if (one.columns == other.columns) return one.rise <= other.rise;
    return std::int64_t{one.rise} * other.columns <= std::int64_t{other.rise} * one.columns;
  }

  /// The first candidate behind which values rise at column x.
  __device__ int least_at(int x) const {
    int first = 0, last = last_;
    while (first < last) {
      const int middle = (first + last) / 2;
      if (rise(middle, x) < 0) first = middle + 1;
      else last = middle;
    }
    return first;
  }

  unsigned* squares_;
  int* columns_;
  const int last_, weight_;
};

inline constexpr int kTurnedWords = kBand * (kBand + 1);  ///< of a warp's shared memory

/// From lane = row, value = column, to lane = column, value = row.
__device__ inline void turn(unsigned* memory, unsigned (&values)[kBand]) {
  __syncwarp();
#pragma unroll
  for (int i = 0; i < kBand; ++i) memory[lane_id() * (kBand + 1) + i] = values[i];
  __syncwarp();
#pragma unroll
  for (int r = 0; r < kBand; ++r) values[r] = memory[r * (kBand + 1) + lane_id()];
}

}  // namespace fathom::grid::cuda::plane
