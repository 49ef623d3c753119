// The passes of volumes with any unequal spacings, where 32 bits do not hold squares in a unit, or there is no unit.
//
// Along y first, then along z, as the general engine and the CPU add up: squares in double are rounded alike. Between
// the passes lie the steps to the nearest site of the plane (volume_steps.cuh), where the results will be, unless these
// are a part of the input. Where the other side of a signed field has left results, elements are sites, without a step.
//
// Work mapping: block = 16 neighbours along x, half a word, by one whole line, in shared memory; half warp = 8 rows,
// lane = column. Phase 1: where sites are near, keys of steps, up to 63 rows away along y and 15 along z, whose
// distances stand in a table. Phase 2, where that does not settle a warp's rows: squares in double, by exact_search.cuh.
//
// Source: separable passes (Hirata 1996); departs as volume_spaced.cuh does. Cost: one operation per element and step;
// in phase 2 some four, along y five, per element and row of a group. 8 bytes are moved per element between the passes.
#pragma once

#include "grid/cuda/exact_search.cuh"
#include "grid/cuda/volume_steps.cuh"

namespace fathom::grid::cuda {

/// Bytes of dynamic shared memory.
inline std::size_t exact_memory_along_y(int rows) { return std::max(window_memory(rows), ExactRows::bytes(rows)); }
inline std::size_t exact_memory_along_z(int rows) { return window_memory(rows) + ExactRows::bytes(rows); }

/// All rows of a tile. By all threads of the block, after a barrier.
///
/// @param is_near  whether windows are worth a try
/// @param window   solves group q if all of the warp's are near: window(q), which says whether it did
/// @param fill     of the exact rows
/// @param store    takes a search that is done: store(q, search)
template <int kThreads, bool kWinners, class OfWindow, class Fill, class Store>
__device__ void solve_exact(const ExactRows& rows, int n, bool is_near, OfWindow&& window, Fill&& fill, Store&& store) {
  __shared__ FewGroups few;
  const int first = static_cast<int>(threadIdx.x) / 32 * 2 + lane_id() / 16;
  unsigned left = 0;  // bit k: the warp's groups of round k
  for (int k = 0, q = first; q - lane_id() / 16 < rows.groups; ++k, q += kThreads / 16)
    if (!is_near || !window(q)) left |= 1u << k;
  if (!__syncthreads_or(left != 0)) return;
  fill();
  __syncthreads();
  const double line_least = find_least<kThreads>(rows, few);
  for (int k = 0, q = first; q - lane_id() / 16 < rows.groups; ++k, q += kThreads / 16) {
    if (!(left >> k & 1)) continue;
    ExactSearch<kWinners> search(rows, min(q, rows.groups - 1), static_cast<int>(threadIdx.x) % 16);
    search.leave_out_behind(n - q * 8);
    if (few.serve(rows.groups)) search.run(few);
    else search.run(line_least);
    store(q, search);
  }
}

inline constexpr int kSite = 1 << 16;  ///< what a count of what is near has more for all that has a site at all

/// Steps along x of the rows of a tile along y, of eight neighbours at a time. By all threads of the block.
///
/// @param take  take(row, the first one's column of the half tile, steps)
template <int kThreads, class Take>
__device__ void for_steps_along_x(const Volume& v, const HalfTile& half, const uint2* of_byte, Take&& take) {
  const int t = static_cast<int>(threadIdx.x), first = t % 2 * 8;
  const uint2* words = v.word_line({half.tile.item, half.tile.word, 0}) + half.tile.line;
#pragma unroll 4
  for (int r = t / 2; r < v.ny; r += kThreads / 2) {
    const EightDistances distances(__ldg(words + r * v.depth), half.first + first, of_byte);
    int steps[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) steps[k] = static_cast<int>(distances.pair[k / 2] >> (16 * (k % 2)) & 0xFFFFu);
    take(r, first, steps);
  }
}

/// From keys and rows of squares to words of steps.
struct FoundSteps {
  const ExactSpacing& spacing;
  const StepTables& tables;
  const PlaneKeys& keys_y;  ///< the spacing's, in shared memory: lanes ask for different ones
  const bool has_doubts;    ///< whether any site of a plane is in doubt

  /// @returns whether none of the warp's is in doubt
  __device__ bool of_keys(const KeyWindow<PlaneKeys>& window, unsigned (&steps)[8]) const {
    unsigned in_doubt = 0;
    const bool all_sites = window.is_all_sites();
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      steps[j] = 0;
      if (all_sites) continue;
      const auto y = static_cast<int>(window.best[j] % PlaneKeys::kSteps);
      const int x = PlaneKeys::steps_of(PlaneKeys::square_of(window.best[j] - keys_y.of[y]), spacing.inverse_x);
      if (has_doubts) in_doubt |= __ldg(tables.plane_doubt + (y * PlaneKeys::kSteps + x));
      steps[j] = Steps::word_of(tables, y, x);
    }
    return !has_doubts || !__any_sync(kAllLanes, in_doubt);
  }

  /// @param group  of rows, that were searched
  __device__ void of_squares(const ExactRows& rows, int group, const ExactSearch<true>& search,
                             unsigned (&steps)[8]) const {
    const double inverse_x = 1 / spacing.x;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int row = search.winner(j);
      const double square = rows.rows[row * 16 + static_cast<int>(threadIdx.x) % 16];
      steps[j] = Steps::kNone;
      if (square == kNoSquareExact) continue;
      const int x = __float2int_rn(sqrtf(static_cast<float>(square * inverse_x)));
      steps[j] = Steps::word_of(tables, abs(row - (group * 8 + j)), x);
    }
  }
};

/// Blocks of the pass along y per multiprocessor. Of the larger ones, 80 registers leave room for one.
constexpr int exact_blocks_along_y(int threads) {
  return resident_blocks(threads, (threads > 256 ? kResidentThreadsAt64 : kResidentThreadsAt80) / threads);
}

template <int kThreads>
__global__ void __launch_bounds__(kThreads, exact_blocks_along_y(kThreads))
    solve_exact_along_y(const __grid_constant__ Volume v, const __grid_constant__ ExactSpacing spacing) {
  extern __shared__ uint4 window_shared[];
  __shared__ uint2 of_byte[256];
  __shared__ PlaneKeys keys_x, keys_y;
  __shared__ int near_rows;
  const int t = static_cast<int>(threadIdx.x), n = v.ny;
  const HalfTile half = half_along_y(v, blockIdx.x);
  if (half.is_outside(v)) return;
  KeyWindow<PlaneKeys>::Rows rows(reinterpret_cast<unsigned*>(window_shared), n);
  const ExactRows exact(reinterpret_cast<double*>(window_shared), n);  // in their place, when they are done with
  const StepTables& tables = *v.step_tables;
  if (t == 0) near_rows = 0;
  if (t <= PlaneKeys::kSteps) keys_x.of[t] = __ldg(tables.plane_x.of + t), keys_y.of[t] = __ldg(tables.plane_y.of + t);
  for (int i = t; i < 256; i += kThreads) of_byte[i] = kByteDistances.of[i];
  rows.pad(n);
  bool has_doubts = false;
  for (int i = t; i < kTabulateBlocks; i += kThreads) has_doubts |= __ldg(tables.has_plane_doubts + i) != 0;
  has_doubts = __syncthreads_or(has_doubts);
  int near = 0;
  for_steps_along_x<kThreads>(v, half, of_byte, [&](int r, int first, const int(&steps)[8]) {
    unsigned keys[8], least = PlaneKeys::kEnd;
    int fewest = kNoneInWord;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      keys[k] = keys_x.of[min(steps[k], PlaneKeys::kSteps)];
      least = min(least, keys[k]);
      fewest = min(fewest, steps[k]);
    }
    near += (least < PlaneKeys::kEnd) + (fewest < static_cast<int>(kNoneInWord) ? kSite : 0);
    rows.put(r, first / 4, make_uint4(keys[0], keys[1], keys[2], keys[3]));
    rows.put(r, first / 4 + 1, make_uint4(keys[4], keys[5], keys[6], keys[7]));
  });
  add_over_block(near, &near_rows);
  __syncthreads();
  std::uint32_t* column = v.wide.row(v.wide_first_item + half.tile.item, half.tile.line, 0) + half.x;
  const auto store = [&](int y, const unsigned(&steps)[8], int count) {
    if (half.x >= v.nx) return;
    std::uint32_t* to = column + y * v.wide.y_stride;
#pragma unroll
    for (int j = 0; j < 8; ++j, to += v.wide.y_stride)
      if (j < count && (!v.wide_has_results || steps[j] != 0)) *to = steps[j];
  };
  if (near_rows < kSite) {
    constexpr unsigned kNone = Steps::kNone;
    for (int q = t / 16; q < rows.groups; q += kThreads / 16)
      store(q * 8, {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone}, n - q * 8);
    return;
  }
  const FoundSteps found{spacing, tables, keys_y, has_doubts};
  unsigned steps[8];
  const auto by_window = [&](int q) {
    KeyWindow<PlaneKeys> window(rows, min(q, rows.groups - 1), t % 16, spacing.plane_y);
    if (!window.search(n - q * 8) || !found.of_keys(window, steps)) return false;
    store(q * 8, steps, n - q * 8);
    return true;
  };
  const auto fill = [&] {
    exact.prepare(n, spacing.y);
    for_steps_along_x<kThreads>(v, half, of_byte, [&](int r, int first, const int(&along_x)[8]) {
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        const bool is_there = along_x[k] < static_cast<int>(kNoneInWord);
        exact.rows[r * 16 + first + k] = is_there ? spacing.square(0, along_x[k]) : kNoSquareExact;
      }
    });
  };
  const auto store_winners = [&](int q, const ExactSearch<true>& search) {
    found.of_squares(exact, q, search, steps);
    store(q * 8, steps, n - q * 8);
  };
  // A window must settle all of a warp's elements, and may take many rows for it.
  solve_exact<kThreads, true>(exact, n, near_rows % kSite * 16 >= n, by_window, fill, store_winners);
}

/// Distances of near sites, from the tables. @returns whether none of the warp's is in doubt
__device__ inline bool tabulated_distances(const ExactSpacing& spacing, const StepTables& tables,
                                           const KeyWindow<VolumeKeys>& window, float (&distances)[8]) {
  int in_doubt = 0;  // less than 0
  const bool all_sites = window.is_all_sites();
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    distances[j] = 0;
    if (all_sites) continue;
    const unsigned pair = window.best[j] % kPairs;
    const int square = VolumeKeys::square_of(window.best[j] - __ldg(tables.pair + pair));
    const int z = VolumeKeys::steps_of(square, spacing.inverse_z);
    distances[j] = __ldg(tables.distance + (static_cast<unsigned>(z) * kPairs + pair));
    in_doubt |= __float_as_int(distances[j]);
  }
  return !__any_sync(kAllLanes, in_doubt < 0);
}

/// √squares as roots_of() has them, also of 0 and of infinity.
__device__ inline void any_roots_of(const double (&squares)[8], float (&roots)[8]) {
  const auto is_ordinary = [](double square) { return square > 0 && square < kNoSquareExact; };
  const auto ordinary = [&](double square) { return is_ordinary(square) ? square : 1; };
#pragma unroll
  for (int j = 0; j < 8; j += 2) {  // two at a time, for the registers
    float two[2];
    roots_of({ordinary(squares[j]), ordinary(squares[j + 1])}, two);
#pragma unroll
    for (int k = 0; k < 2; ++k)
      roots[j + k] = is_ordinary(squares[j + k]) ? two[k] : static_cast<float>(squares[j + k]);
  }
}

/// The groups of rows that have sites. By all threads of the block, after a barrier.
template <int kThreads>
__device__ void find_filled(const KeyWindow<VolumeKeys>::Rows& rows, FewGroups& few) {
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) few.count = 0;
  __syncthreads();
  for (int q = t / 16; q - lane_id() / 16 < rows.groups; q += kThreads / 16) {
    const auto own = rows.group(q, t % 16);
    bool is_filled = false;
#pragma unroll
    for (int j = 0; j < 8; ++j) is_filled |= own[j] != Steps::kNone;
    const unsigned filled = __ballot_sync(kAllLanes, is_filled && q < rows.groups) >> (lane_id() & 16) & 0xFFFFu;
    if (filled != 0 && t % 16 == 0) few.add(q);
  }
  __syncthreads();
}

/// kSide: of a signed field.
template <int kThreads, bool kSide>
__global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, kResidentThreadsAt64 / kThreads))
    solve_exact_along_z(const __grid_constant__ Volume v, const __grid_constant__ ExactSpacing spacing) {
  extern __shared__ uint4 window_shared[];
  __shared__ int near_elements;
  __shared__ FewGroups few;
  const int t = static_cast<int>(threadIdx.x), n = v.nz;
  const HalfTile half = half_along_z(v, blockIdx.x);
  if (half.is_outside(v)) return;
  KeyWindow<VolumeKeys>::Rows rows(reinterpret_cast<unsigned*>(window_shared), n);
  const ExactRows exact(reinterpret_cast<double*>(window_shared + window_memory(n) / sizeof(uint4)), n);
  if (t == 0) near_elements = 0;
  rows.pad(n);
  __syncthreads();
  // Beyond the volume's edge the last column again, so that no branch keeps the loads from being in flight together.
  const std::uint32_t* from = v.wide.row(v.wide_first_item + half.tile.item, 0, half.tile.line) + min(half.x, v.nx - 1);
  const int column_of_word = min(half.x, v.nx - 1) % 32;
  const uint2* sites = v.word_line(half.tile);
  int near = 0;
#pragma unroll 8
  for (int r = t / 16; r < n; r += kThreads / 16) {
    unsigned word = __ldcs(from + r * v.wide.z_stride);
    if (kSide && v.wide_has_results && __ldg(&sites[r].x) >> column_of_word & 1) word = 0;
    near += (word < VolumeKeys::kEnd) + (word == Steps::kNone ? 0 : kSite);
    rows.put(r, t % 16, word);
  }
  add_over_block(near, &near_elements);
  __syncthreads();
  float* column = v.distance.row(v.first_item + half.tile.item, 0, half.tile.line) + half.x;
  const auto store = [&](int z, const float(&distances)[8], int count) {
    if (half.x >= v.nx) return;
    float* to = column + z * v.distance.z_stride;
#pragma unroll
    for (int j = 0; j < 8; ++j, to += v.distance.z_stride)
      if (j < count && (!kSide || distances[j] > 0)) *to = distances[j] * v.side.scale;
  };
  if (near_elements < kSite) {
    constexpr float kNone = __builtin_inff();
    for (int q = t / 16; q < rows.groups; q += kThreads / 16)
      store(q * 8, {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone}, n - q * 8);
    return;
  }
  float distances[8];
  const auto by_window = [&](int q) {
    KeyWindow<VolumeKeys> window(rows, min(q, rows.groups - 1), t % 16, spacing.volume_z);
    if (!window.search(n - q * 8) || !tabulated_distances(spacing, *v.step_tables, window, distances)) return false;
    store(q * 8, distances, n - q * 8);
    return true;
  };
  const auto fill_rows = [&](int first, int end) {
    for (int i = first * 16 + t; i < end * 16; i += kThreads) {
      const unsigned word = rows.get(i / 16, i % 16);
      const Steps steps(word);
      exact.rows[i] = word == Steps::kNone ? kNoSquareExact : spacing.square(steps.y, steps.x);
    }
  };
  const auto fill = [&] {
    exact.prepare(n, spacing.z);
    fill_rows(0, n);
  };
  const auto store_roots = [&](int q, const ExactSearch<false>& search) {
    any_roots_of(search.best, distances);
    store(q * 8, distances, n - q * 8);
  };
  if (near_elements / kSite <= FewGroups::kMost * 128) {
    find_filled<kThreads>(rows, few);
    if (few.serve(rows.groups)) {
      exact.prepare(n, spacing.z);
      for (int k = 0; k < few.count; ++k) fill_rows(few.group[k] * 8, min(few.group[k] * 8 + 8, n));
      __syncthreads();
      for (int q = t / 16; q - lane_id() / 16 < rows.groups; q += kThreads / 16) {
        ExactSearch<false> search(exact, min(q, rows.groups - 1));
        search.run(few);
        store_roots(q, search);
      }
      return;
    }
  }
  solve_exact<kThreads, false>(exact, n, near_elements % kSite * 8 >= n * 16, by_window, fill, store_roots);
}

}  // namespace fathom::grid::cuda
