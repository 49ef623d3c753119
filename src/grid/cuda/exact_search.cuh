// Eight neighbours of a line, from all elements of it, in double: what the passes with any spacings have in common.
//
// Groups of eight from near to far, without those that cannot matter because their least value, or that of the whole
// line, is too large from there on; as rounding keeps the order of sums, bounds need no margin. Where few groups have
// sites, these alone, without bounds.
#pragma once

#include "grid/cuda/volume_spaced.cuh"

namespace fathom::grid::cuda {

inline constexpr double kNoSquareExact = __builtin_inf();

/// Lines of squares in shared memory, eight rows to a group; a last group stands for all outside.
struct ExactRows {
  double* rows;   ///< [groups + 1][8][16]
  double* least;  ///< [groups + 1][16]
  double* cost;   ///< [8 · groups]: of so many steps
  int groups;

  static std::size_t bytes(int n) {
    const auto groups = static_cast<std::size_t>(row_groups(n));
    return ((groups + 1) * 9 * 16 + groups * 8) * sizeof(double);
  }
  __device__ ExactRows(double* memory, int n)
      : rows(memory),
        least(rows + (row_groups(n) + 1) * 128),
        cost(least + (row_groups(n) + 1) * 16),
        groups(row_groups(n)) {}

  /// Costs, and the rows behind the last. By all threads of the block, before a barrier.
  __device__ void prepare(int n, double weight) const {
    for (int i = static_cast<int>(threadIdx.x); i < groups * 8; i += static_cast<int>(blockDim.x))
      cost[i] = weight * static_cast<double>(i * i);
    for (int i = n * 16 + static_cast<int>(threadIdx.x); i < (groups + 1) * 128; i += static_cast<int>(blockDim.x))
      rows[i] = kNoSquareExact;
  }
  __device__ int clamped(int group) const {  // −1 and below: outside
    return static_cast<int>(min(static_cast<unsigned>(group), static_cast<unsigned>(groups)));
  }
  __device__ const double* group(int q, int lane) const { return rows + clamped(q) * 128 + lane; }
};

/// The least of each group of rows, and of the whole line; which groups have sites. By all threads of the block, after
/// a barrier.
template <int kThreads>
__device__ double find_least(const ExactRows& rows, FewGroups& few) {
  // Of numbers that are not negative, the bits ascend with the values.
  __shared__ unsigned long long line_least[16];
  const int t = static_cast<int>(threadIdx.x), lane = t % 16, count = (rows.groups + 1) * 16;
  if (t < 16) line_least[t] = static_cast<unsigned long long>(__double_as_longlong(kNoSquareExact));
  if (t == 0) few.count = 0;
  __syncthreads();
  double mine = kNoSquareExact;
  for (int i = t; i - lane_id() < count; i += kThreads) {  // also a half warp behind the last group
    const double* own = rows.group(i / 16, lane);
    double value = own[0];
#pragma unroll
    for (int j = 1; j < 8; ++j) value = own[j * 16] < value ? own[j * 16] : value;
    if (i < count) rows.least[i] = value;
    mine = value < mine ? value : mine;
    const unsigned filled = __ballot_sync(kAllLanes, value < kNoSquareExact) >> (lane_id() & 16) & 0xFFFFu;
    if (filled != 0 && lane == 0) few.add(i / 16);
  }
  atomicMin(line_least + lane, static_cast<unsigned long long>(__double_as_longlong(mine)));
  __syncthreads();
  if (t == 0 && few.serve(rows.groups)) few.sort();
  __syncthreads();
  return __longlong_as_double(static_cast<long long>(line_least[lane]));
}

/// @tparam kWinners  whether to find out which rows the least are from
template <bool kWinners>
class ExactSearch {
 public:
  __device__ ExactSearch(const ExactRows& rows, int group, int lane) : rows_(rows), group_(group), lane_(lane) {
    const double* own = rows.group(group, lane);
#pragma unroll
    for (int j = 0; j < 8; ++j) best[j] = own[j * 16], row_[j] = group * 8 + j;
    find_worst();
  }

  /// Where groups without sites, the own one too, need not be looked at.
  __device__ ExactSearch(const ExactRows& rows, int group)
      : rows_(rows), group_(group), lane_(static_cast<int>(threadIdx.x) % 16) {
#pragma unroll
    for (int j = 0; j < 8; ++j) best[j] = kNoSquareExact;
  }

  /// @param count  rows of the line from the group's first on: those behind keep no search busy
  __device__ void leave_out_behind(int count) {
    if (count >= 8) return;
#pragma unroll
    for (int j = 0; j < 8; ++j)
      if (j >= count) best[j] = 0;
    find_worst();
  }

  /// @param line_least  of all groups
  __device__ void run(double line_least) {
    if (!hopeful(line_least + rows_.cost[1])) return;
    if (rows_.groups > kShort) foresee(line_least);
    offer(group_);
    for (int d = 1; d < rows_.groups; ++d) {
      const double cost = rows_.cost[8 * d - 7];
      if (!hopeful(line_least + cost)) return;
      if (hopeful(least_of(group_ - d) + cost)) offer(group_ - d);
      if (hopeful(least_of(group_ + d) + cost)) offer(group_ + d);
    }
  }
  /// The same where few groups have sites: no bound is asked for.
  __device__ void run(const FewGroups& few) {
#pragma unroll 1
    for (int k = 0; k < few.count; ++k) offer(few.group[k]);
  }

  /// The row that best[j], if it is one, is from.
  __device__ int winner(int j) const { return row_[j]; }

  double best[8];

 private:
  static constexpr int kShort = 32;  ///< groups of a line in which it is not worth while to foresee anything

  /// Whether what is no less than `bound` may still matter to any lane.
  __device__ bool hopeful(double bound) const { return __any_sync(kAllLanes, bound < worst_); }
  __device__ double least_of(int group) const { return rows_.least[rows_.clamped(group) * 16 + lane_]; }

  /// Bounds results by the least of other groups and the longest way to these, so that groups on the way there are
  /// passed over.
  __device__ void foresee(double line_least) {
    for (int d = 1; d < rows_.groups; ++d) {
      if (!hopeful(line_least + rows_.cost[8 * d - 7])) return;
      const double below = least_of(group_ - d), above = least_of(group_ + d);
      const double bound = (below < above ? below : above) + rows_.cost[8 * d + 7];
      // What is as much still matters.
      if (bound < worst_) worst_ = bound_ = __longlong_as_double(__double_as_longlong(bound) + 1);
    }
  }

  /// All of another group.
  __device__ void offer(int other) {
    const double* others = rows_.group(other, lane_);
    double cost[15];  // from element i of it to element j of these: cost[7 + i − j]
#pragma unroll
    for (int k = 0; k < 15; ++k) cost[k] = rows_.cost[abs(8 * (other - group_) - 7 + k)];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const double value = others[i * 16];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const double sum = value + cost[7 + i - j];
        if (sum < best[j]) {
          best[j] = sum;
          if constexpr (kWinners) row_[j] = other * 8 + i;
        }
      }
    }
    find_worst();
  }

  __device__ void find_worst() {
    worst_ = best[0];
#pragma unroll
    for (int j = 1; j < 8; ++j)
      if (best[j] > worst_) worst_ = best[j];
    if (bound_ < worst_) worst_ = bound_;
  }

  const ExactRows& rows_;
  const int group_, lane_;
  double worst_, bound_ = kNoSquareExact;
  int row_[8];
};

}  // namespace fathom::grid::cuda
