// Images with any unequal spacings: squares in double, where 31 bits do not hold them in a unit, or there is no unit.
//
// Vertical distances follow from words and carries (plane.cuh); one pass along rows is left. Squares of both axes are
// rounded once, and their sum once, as the general engine and the CPU do it. In a unit they are integers, and exact.
//
// Work mapping: block = row, in shared memory; thread = eight neighbours, by exact_search.cuh; warp = 32 × 8. Where the
// nearest groups do not settle that, a few columns of the whole row give bounds first; then blocks of eight groups are
// looked at, from near to far, and of those that may matter their groups. Results go through shared memory, so that
// neighbours are written by neighbours.
//
// Source: separable passes (Hirata 1996); departs by bounds for groups. Cost: some eight operations per element and
// column of a group; every row reads the words of its band once more, out of the cache.
#pragma once

#include <algorithm>

#include "grid/cuda/exact_search.cuh"
#include "grid/cuda/plane.cuh"

namespace fathom::grid::cuda {

inline constexpr int kMostExactWarps = 8;
inline constexpr int kExactBlocks = 3;  ///< of a multiprocessor, in registers
inline constexpr int kExactSpan = 256;  ///< columns of a warp
inline constexpr int kExactNear = 4;    ///< groups to either side that are looked at one by one first
inline constexpr int kExactProbe = 4;   ///< groups of which one column is tried for a bound

/// A row's vertical distances, squared, in shared memory.
class ExactRow {
 public:
  double* stage;  ///< [warps][288]: results, a place left free after each eight

  __host__ __device__ static int groups_of(int width) { return (width + 7) / 8; }
  /// An odd number, so that the eight arrays begin in different banks.
  __host__ __device__ static int pitch_of(int width) { return (groups_of(width) + 1) | 1; }
  static int warps_of(int width) { return std::min((width + kExactSpan - 1) / kExactSpan, kMostExactWarps); }
  static std::size_t bytes(int width) {
    const auto pitch = static_cast<std::size_t>(pitch_of(width)), warps = static_cast<std::size_t>(warps_of(width));
    return (9 * pitch + pitch / 8 + 1 + 288 * warps) * sizeof(double);
  }
  __device__ ExactRow(double* memory, int width, double weight)
      : stage(memory + 9 * pitch_of(width) + pitch_of(width) / 8 + 1),
        value_(memory),
        least_(memory + 8 * pitch_of(width)),
        block_least_(least_ + pitch_of(width)),
        weight_(weight),
        groups_(groups_of(width)),
        pitch_(pitch_of(width)) {}

  // As ExactSearch wants it.
  __device__ int groups() const { return groups_; }
  __device__ int step() const { return pitch_; }
  __device__ const double* group(int q) const { return value_ + clamped(q); }
  __device__ double least_of(int q) const { return least_[clamped(q)]; }
  __device__ double cost(int steps) const {
    return weight_ * (static_cast<double>(steps) * static_cast<double>(steps));
  }
  __device__ void costs_from(int steps, double (&cost)[15]) const {
    const auto first = static_cast<double>(steps);
#pragma unroll
    for (int k = 0; k < 15; ++k) cost[k] = weight_ * ((first + k) * (first + k));
  }

  /// Blocks of eight groups.
  __device__ int blocks() const { return (groups_ + 7) / 8; }
  __device__ double block_least(int block) const { return block_least_[block]; }

  /// Fills values and minima of groups from row r of a band, whose padding holds no sites. By all threads of the block,
  /// before a barrier.
  __device__ void fill(const Plane& plane, std::int64_t band, int r, double column_weight) const {
    for (int q = static_cast<int>(threadIdx.x); q < pitch_; q += static_cast<int>(blockDim.x)) {
      double smallest = __builtin_inf();
      if (q < groups_) smallest = fill_group(plane, band * plane.pitch + q * 8, q, r, column_weight);
      else
        for (int i = 0; i < 8; ++i) value_[i * pitch_ + q] = __builtin_inf();
      least_[q] = smallest;
    }
  }

  /// Fills minima of blocks. By all threads of the block, between barriers.
  __device__ void fill_blocks() const {
    for (int b = static_cast<int>(threadIdx.x); b < blocks(); b += static_cast<int>(blockDim.x)) {
      double smallest = __builtin_inf();
      for (int q = b * 8; q < min(b * 8 + 8, groups_); ++q) smallest = min(smallest, least_[q]);
      block_least_[b] = smallest;
    }
  }

 private:
  __device__ int clamped(int group) const {  // −1 and below: outside
    return static_cast<int>(min(static_cast<unsigned>(group), static_cast<unsigned>(groups_)));
  }

  /// @param first  the group's first column in all bands
  /// @returns the least value
  __device__ double fill_group(const Plane& plane, std::int64_t first, int q, int r, double column_weight) const {
    alignas(16) std::uint32_t bits[8];
    alignas(16) std::uint16_t above[8], below[8];
    for (int k = 0; k < 2; ++k)
      reinterpret_cast<uint4*>(bits)[k] = __ldg(reinterpret_cast<const uint4*>(plane.bits + first) + k);
    *reinterpret_cast<uint4*>(above) = __ldg(reinterpret_cast<const uint4*>(plane.above + first));
    *reinterpret_cast<uint4*>(below) = __ldg(reinterpret_cast<const uint4*>(plane.below + first));
    double smallest = __builtin_inf();
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int rows = Column{bits[i], above[i], below[i]}.at(r, 0);
      const double square = rows < kNoRow ? column_weight * (static_cast<double>(rows) * static_cast<double>(rows))
                                          : __builtin_inf();
      value_[i * pitch_ + q] = square;
      if (square < smallest) smallest = square;
    }
    return smallest;
  }

  double* value_;  ///< [8][pitch]: of each group of eight neighbours; a last group stands for all outside
  double* least_;  ///< [pitch], of a group
  double* block_least_;
  double weight_;  ///< of a step along the row, squared
  int groups_, pitch_;
};

/// The 256 columns of a warp.
class ExactSpan {
 public:
  __device__ ExactSpan(const ExactRow& row, int first_group)
      : row_(row),
        first_(first_group),
        group_(min(first_group + lane_id(), row.groups() - 1)),
        search_(row, group_) {}

  /// @param row_least  of all groups
  __device__ const double* solve(double row_least) {
    if (search_.run(row_least, kExactNear)) return search_.best;
    probe();
    const int first = first_ / 8, end = min((first_ + 31) / 8 + 1, row_.blocks());
    for (int b = first; b < end; ++b) look(b, row_least);
    bool before = true, behind = true;
    for (int k = 0; before || behind; ++k) {
      before = before && first - 1 - k >= 0 && look(first - 1 - k, row_least);
      behind = behind && end + k < row_.blocks() && look(end + k, row_least);
    }
    return search_.best;
  }

 private:
  /// A bound from a few columns: what they are to the first and the last of the eight, they are at most to all.
  __device__ void probe() {
    double least = __builtin_inf();
    for (int q = 0; q < row_.groups(); q += kExactProbe) {
      const double value = *row_.group(q);
      const double farther = row_.cost(max(abs(8 * (q - group_)), abs(8 * (q - group_) - 7)));
      least = min(least, value + farther);
    }
    search_.expect(least);
  }

  /// From the eight columns to those of another group, or block of groups.
  __device__ int steps_to(int first_group, int groups) const {
    return max(0, max(8 * (first_group - group_) - 7, 8 * (group_ - first_group - groups) + 1));
  }

  /// @returns whether blocks beyond this may matter
  __device__ bool look(int block, double row_least) {
    const double cost = row_.cost(steps_to(block * 8, 8));
    if (!search_.hopeful(row_least + cost)) return false;
    if (!search_.hopeful(row_.block_least(block) + cost)) return true;
    for (int q = block * 8; q < min(block * 8 + 8, row_.groups()); ++q)
      if (search_.hopeful(row_.least_of(q) + row_.cost(steps_to(q, 1)))) search_.offer(q);
    return true;
  }

  const ExactRow& row_;
  const int first_, group_;
  ExactSearch<ExactRow> search_;
};

/// kWriting: unaligned, one_side or general. V: the emitter's, integers where there is a unit.
template <Writing kWriting, class V>
__device__ void write_exact(const Plane& plane, const Emitter<V>& emitter, std::int64_t band, int y, int x,
                            double square) {
  if constexpr (is_general(kWriting)) {
    const std::int64_t at[kMaxSpaceRank] = {y, x};
    const V value = square < __builtin_inf() ? static_cast<V>(square) : no_value<V>();
    if (emitter.in_region(at)) emitter.emit(plane.item_of(band), at, value, -1);
  } else if (kWriting != Writing::one_side || square > 0) {
    plane.row(band, y)[x] = static_cast<float>(sqrt(square)) * plane.side.scale;
  }
}

template <Writing kWriting, class V>
__global__ void __launch_bounds__(kMostExactWarps * 32, kExactBlocks)
    solve_exact_rows(const __grid_constant__ Plane plane, const __grid_constant__ Emitter<V> emitter,
                     double column_weight, double row_weight) {
  extern __shared__ double exact_row_shared[];
  const std::int64_t band = blockIdx.x / kBand;
  const int r = static_cast<int>(blockIdx.x % kBand), y = plane.first_row(band) + r, lane = lane_id();
  if (y >= plane.height) return;
  const ExactRow row(exact_row_shared, plane.width, row_weight);
  row.fill(plane, band, r, column_weight);
  __syncthreads();
  row.fill_blocks();
  __syncthreads();
  double row_least = __builtin_inf();
  for (int b = lane; b < row.blocks(); b += 32) row_least = min(row_least, row.block_least(b));
  for (int step = 16; step > 0; step /= 2) row_least = min(row_least, __shfl_xor_sync(kAllLanes, row_least, step));
  double* stage = row.stage + threadIdx.x / 32 * 288;
  for (int x0 = static_cast<int>(threadIdx.x) / 32 * kExactSpan; x0 < plane.width;
       x0 += static_cast<int>(blockDim.x) / 32 * kExactSpan) {
    ExactSpan span(row, x0 / 8);
    const double* best = span.solve(row_least);
#pragma unroll
    for (int j = 0; j < 8; ++j) stage[lane * 9 + j] = best[j];
    __syncwarp();
#pragma unroll
    for (int k = 0; k < kExactSpan; k += 32)
      if (const int x = x0 + k + lane; x < plane.width)
        write_exact<kWriting>(plane, emitter, band, y, x, stage[k + lane + (k + lane) / 8]);
    __syncwarp();
  }
}

}  // namespace fathom::grid::cuda
