// Eight neighbours of a line, from all elements of it, in double: what the passes with any spacings have in common.
//
// Groups of eight from near to far, without those that cannot matter because their least value, or that of the whole
// line, is too large from there on; as rounding keeps the order of sums, bounds need no margin. Callers that know of
// something better to do where sites are far stop it early, and go on by themselves.
#pragma once

#include "grid/cuda/warp.cuh"

namespace fathom::grid::cuda {

/// Line: groups() of eight elements and one more for all outside; group(q)[i · step()] of its elements, least_of(q) of
/// each group; cost(n) of n steps, and costs_from(n, …) of n, n + 1, … steps, backwards if negative. All lanes of a
/// warp search together.
template <class Line>
class ExactSearch {
 public:
  __device__ ExactSearch(const Line& line, int group) : line_(line), group_(group) {
    const double* own = line.group(group);
#pragma unroll
    for (int j = 0; j < 8; ++j) best[j] = own[j * line.step()];
    find_worst();
  }

  /// @param line_least  of all groups
  /// @param most  groups to look at on either side
  /// @returns whether others cannot matter
  __device__ bool run(double line_least, int most) {
    if (!hopeful(line_least + line_.cost(1))) return true;
    offer(group_);
    for (int d = 1; d <= most; ++d) {
      const double cost = line_.cost(8 * d - 7);
      if (!hopeful(line_least + cost)) return true;
      if (hopeful(line_.least_of(group_ - d) + cost)) offer(group_ - d);
      if (hopeful(line_.least_of(group_ + d) + cost)) offer(group_ + d);
    }
    return false;
  }

  /// Whether what is no less than `bound` may still matter to any lane.
  __device__ bool hopeful(double bound) const { return __any_sync(kAllLanes, bound < worst_); }

  /// No result will be more than this.
  __device__ void expect(double bound) {
    if (!(bound < bound_)) return;
    bound_ = __longlong_as_double(__double_as_longlong(bound) + 1);  // what is as much still matters
    worst_ = bound_ < worst_ ? bound_ : worst_;
  }

  /// All of another group.
  __device__ void offer(int other) {
    const double* others = line_.group(other);
    double cost[15];  // from element i of it to element j of these: cost[7 + i − j]
    line_.costs_from(8 * (other - group_) - 7, cost);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const double value = others[i * line_.step()];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const double sum = value + cost[7 + i - j];
        if (sum < best[j]) best[j] = sum;
      }
    }
    find_worst();
  }

  double best[8];

 private:
  __device__ void find_worst() {
    worst_ = best[0];
#pragma unroll
    for (int j = 1; j < 8; ++j)
      if (best[j] > worst_) worst_ = best[j];
    if (bound_ < worst_) worst_ = bound_;
  }

  const Line line_;
  const int group_;
  double worst_, bound_ = __builtin_inf();
};

}  // namespace fathom::grid::cuda
