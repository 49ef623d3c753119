// Images with any unequal spacings: squares in double, where 31 bits do not hold them in a unit, or there is no unit.
//
// Vertical distances follow from words and carries (plane.cuh); one pass along rows is left. Squares of both axes are
// rounded once, and their sum once, as the general engine and the CPU do it. In a unit they are integers, and exact.
//
// Work mapping: block = row, in shared memory; thread = eight neighbours, warp = 32 × 8. Groups of eight columns from
// near to far, without those that cannot matter because their least value, or that of the whole row, is too large from
// there on; as rounding keeps the order of sums, bounds need no margin. Results go through shared memory, so that
// neighbours are written by neighbours.
//
// Source: separable passes (Hirata 1996); departs by bounds for groups. Cost: some eight operations per element and
// column of a group; every row reads the words of its band once more, out of the cache.
#pragma once

#include <algorithm>

#include "grid/cuda/plane.cuh"
#include "grid/cuda/warp.cuh"

namespace fathom::grid::cuda {

inline constexpr int kMostExactWarps = 16;
inline constexpr int kExactSpan = 256;  ///< columns of a warp

/// A row's vertical distances, squared, in shared memory.
class ExactRow {
 public:
  double* value;  ///< [8][pitch]: of each group of eight neighbours; a last group stands for all outside
  double* least;  ///< [pitch], of a group
  double* stage;  ///< [warps][288]: results, a place left free after each eight
  double weight;  ///< of a step along the row, squared
  int groups, pitch;

  __host__ __device__ static int groups_of(int width) { return (width + 7) / 8; }
  /// An odd number, so that the eight arrays begin in different banks.
  __host__ __device__ static int pitch_of(int width) { return (groups_of(width) + 1) | 1; }
  static int warps_of(int width) { return std::min((width + kExactSpan - 1) / kExactSpan, kMostExactWarps); }
  static std::size_t bytes(int width) {
    return (9 * static_cast<std::size_t>(pitch_of(width)) + 288 * static_cast<std::size_t>(warps_of(width))) *
           sizeof(double);
  }
  __device__ ExactRow(double* memory, int width, double weight_of_row)
      : value(memory),
        least(memory + 8 * pitch_of(width)),
        stage(least + pitch_of(width)),
        weight(weight_of_row),
        groups(groups_of(width)),
        pitch(pitch_of(width)) {}

  __device__ double cost(int steps) const { return weight * (static_cast<double>(steps) * static_cast<double>(steps)); }
  __device__ int clamped(int group) const {  // −1 and below: outside
    return static_cast<int>(min(static_cast<unsigned>(group), static_cast<unsigned>(groups)));
  }

  /// Fills values and minima from row r of a band, whose padding holds no sites. By all threads of the block, before a
  /// barrier.
  __device__ void fill(const Plane& plane, std::int64_t band, int r, double column_weight) const {
    for (int q = static_cast<int>(threadIdx.x); q < pitch; q += static_cast<int>(blockDim.x)) {
      double smallest = __builtin_inf();
      if (q < groups) smallest = fill_group(plane, band * plane.pitch + q * 8, q, r, column_weight);
      else
        for (int i = 0; i < 8; ++i) value[i * pitch + q] = __builtin_inf();
      least[q] = smallest;
    }
  }

 private:
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
      value[i * pitch + q] = square;
      if (square < smallest) smallest = square;
    }
    return smallest;
  }
};

/// Eight neighbours of a row, from all others.
class ExactRowSearch {
 public:
  __device__ ExactRowSearch(const ExactRow& row, int group) : row_(row), group_(group) {
#pragma unroll
    for (int j = 0; j < 8; ++j) best[j] = row.value[j * row.pitch + group];
    find_worst();
  }

  /// @param row_least  of all groups
  __device__ void run(double row_least) {
    if (!hopeful(row_least + row_.cost(1))) return;
    offer<1>(0);
    for (int d = 1; d < row_.groups; ++d) {
      const double cost = row_.cost(8 * d - 7);
      if (!hopeful(row_least + cost)) return;
      if (hopeful(row_.least[row_.clamped(group_ - d)] + cost)) offer<-1>(d);
      if (hopeful(row_.least[row_.clamped(group_ + d)] + cost)) offer<1>(d);
    }
  }

  double best[8];

 private:
  __device__ bool hopeful(double bound) const { return __any_sync(kAllLanes, bound < worst_); }
  __device__ void find_worst() {
    worst_ = best[0];
#pragma unroll
    for (int j = 1; j < 8; ++j)
      if (best[j] > worst_) worst_ = best[j];
  }

  /// All of the group `d` groups away.
  template <int kDirection>
  __device__ void offer(int d) {
    const double* others = row_.value + row_.clamped(group_ + kDirection * d);
    double cost[15];  // of the steps from the nearest of its columns to the nearest target, and so on
    const auto first = static_cast<double>(8 * d - 7);
#pragma unroll
    for (int k = 0; k < 15; ++k) cost[k] = row_.weight * ((first + k) * (first + k));
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const double value = others[i * row_.pitch];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const double sum = value + cost[7 + kDirection * (i - j)];
        if (sum < best[j]) best[j] = sum;
      }
    }
    find_worst();
  }

  const ExactRow& row_;
  const int group_;
  double worst_;
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
__global__ void __launch_bounds__(kMostExactWarps * 32)
    solve_exact_rows(const __grid_constant__ Plane plane, const __grid_constant__ Emitter<V> emitter,
                     double column_weight, double row_weight) {
  extern __shared__ double exact_row_shared[];
  const std::int64_t band = blockIdx.x / kBand;
  const int r = static_cast<int>(blockIdx.x % kBand), y = plane.first_row(band) + r, lane = lane_id();
  if (y >= plane.height) return;
  const ExactRow row(exact_row_shared, plane.width, row_weight);
  row.fill(plane, band, r, column_weight);
  __syncthreads();
  double row_least = __builtin_inf();
  for (int q = lane; q < row.groups; q += 32) row_least = min(row_least, row.least[q]);
  for (int step = 16; step > 0; step /= 2) row_least = min(row_least, __shfl_xor_sync(kAllLanes, row_least, step));
  double* stage = row.stage + threadIdx.x / 32 * 288;
  for (int x0 = static_cast<int>(threadIdx.x) / 32 * kExactSpan; x0 < plane.width;
       x0 += static_cast<int>(blockDim.x) / 32 * kExactSpan) {
    ExactRowSearch search(row, min(x0 / 8 + lane, row.groups - 1));
    search.run(row_least);
#pragma unroll
    for (int j = 0; j < 8; ++j) stage[lane * 9 + j] = search.best[j];
    __syncwarp();
#pragma unroll
    for (int k = 0; k < kExactSpan; k += 32)
      if (const int x = x0 + k + lane; x < plane.width)
        write_exact<kWriting>(plane, emitter, band, y, x, stage[k + lane + (k + lane) / 8]);
    __syncwarp();
  }
}

}  // namespace fathom::grid::cuda
