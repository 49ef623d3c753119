// The passes of volumes with unequal spacings, which are multiples of a unit: squares in units, of 32 bits.
//
// Between the passes the squares lie where the results will be, so that words are all the memory there is besides.
//
// Work mapping: block = 16 neighbours along x, half a word, by one whole line, in shared memory; half warp = 8 rows, lane =
// column. Phase 1: the window of volume_window.cuh, up to 16 steps. Phase 2, where that does not settle a warp's rows:
// groups of eight rows from near to far, without those that cannot matter because their least value, or that of the whole
// line, is too large from there on.
//
// Source: separable passes (Hirata 1996); departs by searching outwards with bounds in place of an envelope, as the general
// engine does. Cost: one operation per element and step; in phase 2 at worst O(n²/64) bounds for a line of n, and the few
// groups that no bound excludes. 8 bytes are moved per element between the passes.
#pragma once

#include "grid/cuda/volume_window.cuh"

namespace fathom::grid::cuda {

/// A line's squared distance.
struct WindowSquares {
  static constexpr unsigned kNone = 0x7FFFFFFFu;
  static constexpr unsigned kSquare = 1;
  static constexpr unsigned kStep = 0;
  static constexpr unsigned kTies = 0;
  static constexpr int kMostSteps = 16;
  static __device__ unsigned offer(unsigned value, unsigned square, unsigned best) {
    return __viaddmin_u32(value, square, best);
  }
  static __device__ unsigned largest(const unsigned* eight) {
    const unsigned a = __vimax3_u32(eight[0], eight[1], eight[2]), b = __vimax3_u32(eight[3], eight[4], eight[5]);
    return __vimax3_u32(a, b, max(eight[6], eight[7]));
  }
};
/// Squares are less than this, also in padding, so that no sum of two wraps.
inline constexpr std::int64_t kMostSpaced = 0x70000000;

/// Bytes of dynamic shared memory: the rows, and the least value of each group.
inline std::size_t spaced_memory(int rows) {
  return window_memory(rows) + static_cast<std::size_t>(row_groups(rows) + 1) * 16 * sizeof(unsigned);
}

/// Eight rows of a line, from all others.
class SpacedSearch {
 public:
  /// @param least  [groups + 1][16]: of the rows' groups
  __device__ SpacedSearch(const WindowRows<WindowSquares>& rows, const unsigned* least, int group, int lane,
                          unsigned weight)
      : rows_(rows), least_(least + lane), group_(group), lane_(lane), weight_(weight) {
    const auto own = rows.group(group, lane);
#pragma unroll
    for (int j = 0; j < 8; ++j) best[j] = own[j];
    worst_ = WindowSquares::largest(best);
  }

  /// @param line_least  of all groups
  __device__ void run(unsigned line_least) {
    if (!hopeful(line_least + weight_)) return;
    offer<1>(0);
    for (int d = 1; d < rows_.groups; ++d) {
      const auto gap = static_cast<unsigned>(8 * d - 7);
      const unsigned cost = weight_ * gap * gap;
      if (!hopeful(line_least + cost)) return;
      if (hopeful(least_of(group_ - d) + cost)) offer<-1>(d);
      if (hopeful(least_of(group_ + d) + cost)) offer<1>(d);
    }
  }

  unsigned best[8];

 private:
  __device__ bool hopeful(unsigned bound) const { return __any_sync(kAllLanes, bound < worst_); }
  __device__ unsigned least_of(int group) const {
    return least_[min(static_cast<unsigned>(group), static_cast<unsigned>(rows_.groups)) * 16];
  }

  /// All of the group `d` groups away.
  template <int kDirection>
  __device__ void offer(int d) {
    const auto others = rows_.group(group_ + kDirection * d, lane_);
    unsigned square[15];  // of the steps from the nearest of its rows to the nearest target, and so on
#pragma unroll
    for (int k = 0; k < 15; ++k) {
      const int steps = 8 * d - 7 + k;
      square[k] = weight_ * static_cast<unsigned>(steps * steps);
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const unsigned value = others[i];
#pragma unroll
      for (int j = 0; j < 8; ++j) best[j] = WindowSquares::offer(value, square[7 + kDirection * (i - j)], best[j]);
    }
    worst_ = WindowSquares::largest(best);
  }

  const WindowRows<WindowSquares>& rows_;
  const unsigned* least_;
  const int group_, lane_;
  const unsigned weight_;
  unsigned worst_;
};

/// All rows of a tile. By all threads of the block, after a barrier.
///
/// @param is_near  whether the window is worth a try
/// @param store    takes eight results of the lane's column: store(first row, values, how many)
template <int kThreads, class Store>
__device__ void solve_spaced(const WindowRows<WindowSquares>& rows, unsigned* least, int n, unsigned weight,
                             bool is_near, Store&& store) {
  const int t = static_cast<int>(threadIdx.x), lane = t % 16, first = t / 32 * 2 + lane_id() / 16;
  const auto group = [&](int q) { return min(q, rows.groups - 1); };
  unsigned left = 0;  // bit k: the warp's groups of round k
  for (int k = 0, q = first; q - lane_id() / 16 < rows.groups; ++k, q += kThreads / 16) {
    if (is_near) {
      Window<WindowSquares> window(rows, group(q), lane, weight);
      if (window.search()) {
        store(q * 8, window.best, n - q * 8);
        continue;
      }
    }
    left |= 1u << k;
  }
  if (!__syncthreads_or(left != 0)) return;
  for (int i = t; i < (rows.groups + 1) * 16; i += kThreads) {
    const auto own = rows.group(i / 16, lane);
    unsigned value = own[0];
#pragma unroll
    for (int j = 1; j < 8; ++j) value = min(value, own[j]);
    least[i] = value;
  }
  __syncthreads();
  unsigned line_least = WindowSquares::kNone;
  for (int g = 0; g < rows.groups; ++g) line_least = min(line_least, least[g * 16 + lane]);
  for (int k = 0, q = first; q - lane_id() / 16 < rows.groups; ++k, q += kThreads / 16) {
    if (!(left >> k & 1)) continue;
    SpacedSearch search(rows, least, group(q), lane, weight);
    search.run(line_least);
    store(q * 8, search.best, n - q * 8);
  }
}

template <int kThreads>
__global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, kResidentThreads / kThreads))
    solve_spaced_along_z(const __grid_constant__ Volume v) {
  extern __shared__ uint4 window_shared[];
  __shared__ int near_rows;
  __shared__ uint2 of_byte[256];
  const int t = static_cast<int>(threadIdx.x), n = v.nz;
  const HalfTile half(v.tile(blockIdx.x / 2, v.ny), blockIdx.x);
  const uint2* line = v.word_line(half.tile);
  if (half.is_outside(v)) return;
  auto* memory = reinterpret_cast<unsigned*>(window_shared);
  WindowRows<WindowSquares> rows(memory, n);
  if (t == 0) near_rows = 0;
  for (int i = t; i < 256; i += kThreads) of_byte[i] = kByteDistances.of[i];
  rows.pad(n);
  __syncthreads();
  int near = 0;
#pragma unroll 4
  for (int r = t / 2; r < n; r += kThreads / 2) {
    const EightDistances distances(__ldg(line + r), half.first + t % 2 * 8, of_byte);
    unsigned squares[8], least = WindowSquares::kNone;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const unsigned steps = distances.pair[k / 2] >> (16 * (k % 2)) & 0xFFFFu;
      squares[k] = steps < kNoneInWord ? v.weight_x * steps * steps : WindowSquares::kNone;
      least = min(least, squares[k]);
    }
    near += least < v.weight_z * (64 * 64);
    rows.put(r, t % 2 * 2, make_uint4(squares[0], squares[1], squares[2], squares[3]));
    rows.put(r, t % 2 * 2 + 1, make_uint4(squares[4], squares[5], squares[6], squares[7]));
  }
  add_over_block(near, &near_rows);
  __syncthreads();
  std::uint32_t* column = v.wide.row(v.wide_first_item + half.tile.item, 0, half.tile.line) + half.x;
  const auto store = [&](int z, const unsigned* values, int count) {
    if (half.x >= v.nx) return;
    std::uint32_t* to = column + z * v.wide.z_stride;
#pragma unroll
    for (int j = 0; j < 8; ++j, to += v.wide.z_stride)
      if (j < count) *to = values[j];
  };
  solve_spaced<kThreads>(rows, memory + window_memory(n) / sizeof(unsigned), n, v.weight_z, near_rows * 16 >= n, store);
}

template <int kThreads>
__global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, kResidentThreads / kThreads))
    solve_spaced_along_y(const __grid_constant__ Volume v) {
  extern __shared__ uint4 window_shared[];
  __shared__ int near_elements;
  const int t = static_cast<int>(threadIdx.x), n = v.ny;
  const HalfTile half(v.tile(blockIdx.x / 2, v.nz), blockIdx.x);
  if (half.is_outside(v)) return;
  auto* memory = reinterpret_cast<unsigned*>(window_shared);
  WindowRows<WindowSquares> rows(memory, n);
  if (t == 0) near_elements = 0;
  rows.pad(n);
  __syncthreads();
  // Beyond the volume's edge the last column again, so that no branch keeps the loads from being in flight together.
  const std::uint32_t* from = v.wide.row(v.wide_first_item + half.tile.item, half.tile.line, 0) + min(half.x, v.nx - 1);
  int near = 0;
#pragma unroll 8
  for (int r = t / 16; r < n; r += kThreads / 16) {
    const unsigned square = __ldcs(from + r * v.wide.y_stride);
    near += square < v.weight_y * (64 * 64);
    rows.put(r, t % 16, square);
  }
  add_over_block(near, &near_elements);
  __syncthreads();
  float* column = v.distance.row(v.first_item + half.tile.item, half.tile.line, 0) + half.x;
  const auto store = [&](int y, const unsigned* values, int count) {
    if (half.x >= v.nx) return;
    float* to = column + y * v.distance.y_stride;
#pragma unroll
    for (int j = 0; j < 8; ++j, to += v.distance.y_stride)
      if (j < count) *to = values[j] >= WindowSquares::kNone ? __int_as_float(0x7F800000) : root_of(values[j]) * v.unit;
  };
  solve_spaced<kThreads>(rows, memory + window_memory(n) / sizeof(unsigned), n, v.weight_y, near_elements * 2 >= n,
                         store);
}

}  // namespace fathom::grid::cuda
