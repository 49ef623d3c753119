// The passes of volumes with any unequal spacings: squares in double, where 32 bits do not hold them in a unit, or
// there is no unit.
//
// Along y first, then along z, as the general engine and the CPU add up: the sums are rounded alike. In a unit they are
// integers, and exact.
//
// Work mapping: block = 16 neighbours along x, half a word, by one whole line, in shared memory; half warp = 8 rows,
// lane = column; each by exact_search.cuh.
//
// Source: separable passes (Hirata 1996); departs as volume_spaced.cuh does. Cost: some four operations per element and
// row of a group; 16 bytes are moved per element between the passes.
#pragma once

#include "grid/cuda/exact_search.cuh"
#include "grid/cuda/volume_window.cuh"

namespace fathom::grid::cuda {

inline constexpr double kNoSquareExact = __builtin_inf();

/// A row of squares between the passes.
__device__ inline double* exact_row(const Volume& v, std::int64_t item, std::int32_t z, std::int32_t y) {
  return v.exact + ((item * v.nz + z) * v.ny + y) * v.nx;
}

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

/// A line of them, as ExactSearch wants it.
struct ExactColumn {
  const ExactRows& rows;
  int lane;

  __device__ int groups() const { return rows.groups; }
  __device__ static constexpr int step() { return 16; }
  __device__ const double* group(int q) const { return rows.group(q, lane); }
  __device__ double least_of(int q) const { return rows.least[rows.clamped(q) * 16 + lane]; }
  __device__ double cost(int steps) const { return rows.cost[steps]; }
  __device__ void costs_from(int steps, double (&cost)[15]) const {
#pragma unroll
    for (int k = 0; k < 15; ++k) cost[k] = rows.cost[abs(steps + k)];
  }
};

/// The least of each group of rows, and of the whole line. By all threads of the block, after a barrier.
template <int kThreads>
__device__ double find_least(const ExactRows& rows) {
  // Of numbers that are not negative, the bits ascend with the values.
  __shared__ unsigned long long line_least[16];
  const int t = static_cast<int>(threadIdx.x), lane = t % 16;
  if (t < 16) line_least[t] = static_cast<unsigned long long>(__double_as_longlong(kNoSquareExact));
  __syncthreads();
  double mine = kNoSquareExact;
  for (int i = t; i < (rows.groups + 1) * 16; i += kThreads) {
    const double* own = rows.group(i / 16, lane);
    double value = own[0];
#pragma unroll
    for (int j = 1; j < 8; ++j) value = own[j * 16] < value ? own[j * 16] : value;
    rows.least[i] = value;
    mine = value < mine ? value : mine;
  }
  atomicMin(line_least + lane, static_cast<unsigned long long>(__double_as_longlong(mine)));
  __syncthreads();
  return __longlong_as_double(static_cast<long long>(line_least[lane]));
}

/// All rows of a tile. By all threads of the block, after a barrier.
///
/// @param store  takes eight results of the lane's column: store(first row, values, how many)
template <int kThreads, class Store>
__device__ void solve_exact(const ExactRows& rows, int n, Store&& store) {
  const double line_least = find_least<kThreads>(rows);
  const int t = static_cast<int>(threadIdx.x);
  for (int q0 = t / 32 * 2; q0 < rows.groups; q0 += kThreads / 16) {
    const int q = q0 + lane_id() / 16;
    ExactSearch search(ExactColumn{rows, t % 16}, min(q, rows.groups - 1));
    search.run(line_least, rows.groups - 1);
    store(q * 8, search.best, n - q * 8);
  }
}

template <int kThreads>
__global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, kResidentThreadsAt64 / kThreads))
    solve_exact_along_y(const __grid_constant__ Volume v, double weight_y, double weight_x) {
  extern __shared__ double exact_shared[];
  __shared__ uint2 of_byte[256];
  const int t = static_cast<int>(threadIdx.x), n = v.ny;
  const HalfTile half = half_along_y(v, blockIdx.x);
  if (half.is_outside(v)) return;
  const ExactRows rows(exact_shared, n);
  for (int i = t; i < 256; i += kThreads) of_byte[i] = kByteDistances.of[i];
  rows.prepare(n, weight_y);
  __syncthreads();
  const uint2* words = v.word_line({half.tile.item, half.tile.word, 0}) + half.tile.line;
#pragma unroll 4
  for (int r = t / 2; r < n; r += kThreads / 2) {
    const EightDistances distances(__ldg(words + r * v.depth), half.first + t % 2 * 8, of_byte);
    double* to = rows.rows + r * 16 + t % 2 * 8;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const auto steps = static_cast<int>(distances.pair[k / 2] >> (16 * (k % 2)) & 0xFFFFu);
      to[k] = steps < static_cast<int>(kNoneInWord) ? weight_x * static_cast<double>(steps * steps) : kNoSquareExact;
    }
  }
  __syncthreads();
  const auto store = [&](int y, const double* values, int count) {
    if (half.x >= v.nx) return;
    double* to = exact_row(v, half.tile.item, half.tile.line, y) + half.x;
#pragma unroll
    for (int j = 0; j < 8; ++j, to += v.nx)
      if (j < count) *to = values[j];
  };
  solve_exact<kThreads>(rows, n, store);
}

/// kSide: of a signed field.
template <int kThreads, bool kSide>
__global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, kResidentThreadsAt64 / kThreads))
    solve_exact_along_z(const __grid_constant__ Volume v, double weight_z) {
  extern __shared__ double exact_shared[];
  const int t = static_cast<int>(threadIdx.x), n = v.nz;
  const HalfTile half = half_along_z(v, blockIdx.x);
  if (half.is_outside(v)) return;
  const ExactRows rows(exact_shared, n);
  rows.prepare(n, weight_z);
  // Beyond the volume's edge the last column again, so that no branch keeps the loads from being in flight together.
  const double* from = exact_row(v, half.tile.item, 0, half.tile.line) + min(half.x, v.nx - 1);
  const std::int64_t step = std::int64_t{v.ny} * v.nx;
#pragma unroll 8
  for (int r = t / 16; r < n; r += kThreads / 16) rows.rows[r * 16 + t % 16] = __ldcs(from + r * step);
  __syncthreads();
  float* column = v.distance.row(v.first_item + half.tile.item, 0, half.tile.line) + half.x;
  const auto store = [&](int z, const double* values, int count) {
    if (half.x >= v.nx) return;
    float* to = column + z * v.distance.z_stride;
#pragma unroll
    for (int j = 0; j < 8; ++j, to += v.distance.z_stride)
      if (j < count && (!kSide || values[j] > 0)) *to = static_cast<float>(sqrt(values[j])) * v.side.scale;
  };
  solve_exact<kThreads>(rows, n, store);
}

}  // namespace fathom::grid::cuda
