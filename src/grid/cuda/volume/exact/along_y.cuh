// The pass along y of volumes with any unequal spacings (volume/exact/along_z.cuh says how both work): where in its
// plane the nearest site of each element lies, as steps.
#pragma once

#include <algorithm>

#include "grid/cuda/volume/exact/lines.cuh"
#include "grid/cuda/volume/gaps.cuh"

namespace fathom::grid::cuda::volume {

/// Words of steps. @param group  of rows, of which these are the least squares
__device__ inline void steps_of_squares(const StepTables& tables, const NearPairs& pairs, int group,
                                        const EightSquares<true>& eight, unsigned (&steps)[8]) {
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    steps[j] = Steps::kNone;
    if (eight.best[j] == kNoSquareExact) continue;
    steps[j] = Steps::word_of(tables, pairs, abs(eight.row(j) - (group * 8 + j)), static_cast<int>(eight.word(j)));
  }
}

/// From keys, and ends of runs, to words of steps.
struct FoundSteps {
  const ExactSpacing& spacing;
  const StepTables& tables;
  const NearPairs& pairs;   ///< the spacing's, in shared memory: lanes ask for different ones
  const PlaneKeys& keys_y;  ///< likewise

  /// @returns whether none of the warp's is in doubt
  __device__ bool of_keys(const KeyWindow<PlaneKeys>& window, unsigned (&steps)[8]) const {
    if (window.is_all_sites()) {
#pragma unroll
      for (unsigned& word : steps) word = Steps::kAtSite;
      return true;
    }
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const auto y = static_cast<int>(window.best[j] % PlaneKeys::kSteps);
      const int x = PlaneKeys::steps_of(PlaneKeys::square_of(window.best[j] - keys_y.of[y]), spacing.inverse_x);
      steps[j] = __ldg(tables.plane + (y * PlaneKeys::kSteps + x));
    }
    return !__any_sync(kAllLanes, greatest_of_eight(steps) == Steps::kInDoubt);
  }

  /// What is nearer than steps of so large squares. @param to_end  steps along the line
  __device__ void of_ends(const unsigned (&to_end)[8], const double (&squares)[8], unsigned (&steps)[8]) const {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const auto y = static_cast<int>(to_end[j]);
      if (to_end[j] < RunEnds::kNoEnd && spacing.square(y, 0) < squares[j])
        steps[j] = Steps::word_of(tables, pairs, y, 0);
    }
  }
};

/// Bytes of dynamic shared memory of the pass along y: of the window's keys, in place of which steps and brackets come.
inline std::size_t exact_memory_along_y(int rows) {
  return std::max(window_memory(rows), StepRows::memory(rows) + brackets_bytes(rows));
}

template <int kThreads, int kMostRows, Runs kRuns>
__global__ void __launch_bounds__(kThreads, exact_blocks(kThreads))
    solve_exact_along_y(const __grid_constant__ Volume v, const __grid_constant__ ExactSpacing spacing) {
  extern __shared__ uint4 window_shared[];
  constexpr bool kHasRuns = kRuns != Runs::none;
  __shared__ uint2 of_byte[256];
  __shared__ PlaneKeys keys_x, keys_y;
  __shared__ NearPairs pairs;  // the spacing's, as these keys
  __shared__ int has_ends;
  __shared__ unsigned near_of_warps[kThreads / 32];
  __shared__ SortedRows filled;
  __shared__ typename LineEnds<kRuns>::Words run_words;
  const int t = static_cast<int>(threadIdx.x), n = v.ny;
  const HalfTile half = half_along_y(v, blockIdx.x);
  if (half.is_outside(v)) return;
  const RowsOfPlane<kRuns> plane(v, half);
  const int with_sites = filled.find<kThreads, kMostRows>(n, [&](int row) { return plane.has_sites(row); });
  const TileKind kind = with_sites == 0 ? kEmpty : plane.template are_full<kThreads>(n) ? kFull : kNarrow;
  if (t == 0) kinds_of_planes(v, half)[half.tile.line] = kind;
  if (kind != kNarrow) return;
  KeyWindow<PlaneKeys>::Rows rows(reinterpret_cast<unsigned*>(window_shared), n);
  const StepTables& tables = *v.step_tables;
  if (t <= VolumeKeys::kSteps) pairs.first[t] = spacing.pairs.first[t];
  std::uint32_t* column = v.wide.row(v.wide_first_item + half.tile.item, half.tile.line, 0) + half.x;
  const auto store = [&](int y, const unsigned(&steps)[8], int count) {
    if (half.x >= v.nx) return;
    store_eight(count, column + y * v.wide.y_stride, v.wide.y_stride, [&](int j) { return steps[j]; });
  };
  unsigned steps[8];
  const LineOfPlane line{StepRows(window_shared), spacing};
  Brackets<kThreads, kMostRows> brackets(
      reinterpret_cast<unsigned*>(window_shared + StepRows::memory(n) / sizeof(uint4)), n);
  if (!kHasRuns && SortedRows::are_few(with_sites, n)) {
    for (int i = t; i < 16 * with_sites; i += kThreads) {
      const int row = filled.row[i / 16];
      line.rows.put(row, t % 16, abs(steps_along_x(plane.word(row), half.first + t % 16)));
    }
    __syncthreads();
    const auto store_squares = [&](int q, const auto& eight) {
      steps_of_squares(tables, pairs, q, eight, steps);
      store(q * 8, steps, n - q * 8);
    };
    if (with_sites <= kFewRows)
      return solve_from_few<kThreads, true>(filled, line, rows.groups, tables.along_y(v.nz, n), store_squares);
    if (brackets.find_among(filled, line))
      return solve_left<kThreads, true>(brackets, line, n, tables.along_y(v.nz, n), ~0u, store_squares);
  }
  if (t == 0) has_ends = 0;
  for (int i = t; i <= PlaneKeys::kSteps; i += kThreads) {
    keys_x.of[i] = __ldg(tables.plane_x.of + i);
    keys_y.of[i] = __ldg(tables.plane_y.of + i);
  }
  for (int i = t; i < 256; i += kThreads) of_byte[i] = byte_distances(i, kRuns == Runs::of_labels);
  rows.pad(n);
  __syncthreads();
  LineEnds<kRuns> ends(run_words, n, half.first + t % 16);
  ends.fill([&](int r) { return plane.changes(r); }, &has_ends);
  static_assert(kUnbracketedSteps < PlaneKeys::kSteps);
  constexpr unsigned kNear = PlaneKeys::of_steps(kUnbracketedSteps);
  NearRows<kThreads, 64, kLongestKeyed> near;
  static_assert(kThreads / 2 % 16 == 0);  // so that each sixteenth is among a thread's rows
  unsigned* own = each_sixteenth(reinterpret_cast<unsigned*>(window_shared), t / 2, t % 2 * 8);
  plane.template for_steps<kThreads>(n, of_byte, [&](int r, const unsigned(&along_x)[4]) {
    unsigned keys[8], least = PlaneKeys::kEnd;
#pragma unroll
    for (int k = 0; k < 8; k += 2) {
      const unsigned two = __vminu2(along_x[k / 2], PlaneKeys::kSteps * 0x10001u);
      keys[k] = keys_x.of[two & 0xFFFFu], keys[k + 1] = keys_x.of[two >> 16];
      least = min(least, min(keys[k], keys[k + 1]));
    }
    near.add(r, least < kNear);
    auto* to = reinterpret_cast<uint4*>(own + r * 16);
    to[0] = make_uint4(keys[0], keys[1], keys[2], keys[3]);
    to[1] = make_uint4(keys[4], keys[5], keys[6], keys[7]);
  });
  near.put(near_of_warps);
  __syncthreads();
  const FoundSteps found{spacing, tables, pairs, keys_y};
  unsigned left = ~0u;
  // A window must settle all of a warp's elements, and may take many rows for it. Ends of runs bound these.
  if ((kHasRuns && has_ends) || near.nearly_suffice(near_of_warps, n, 8))
    left = left_by_windows<kThreads>(rows.groups, [&](int q) {
      KeyWindow<PlaneKeys> window(rows, min(q, rows.groups - 1), t % 16, spacing.plane_y);
      if (kHasRuns && has_ends) ends.bound(min(q, rows.groups - 1), window.best, keys_y);
      if (!window.search(n - q * 8) || !found.of_keys(window, steps)) return false;
      store(q * 8, steps, n - q * 8);
      return true;
    });
  if (!__syncthreads_or(left != 0)) return;
  line.rows.pad(n);
  plane.template for_steps<kThreads>(n, of_byte,
                                     [&](int r, const unsigned(&along_x)[4]) { line.rows.put(r, t % 2, along_x); });
  __syncthreads();
  brackets.find(line, spacing.y);
  solve_left<kThreads, true>(brackets, line, n, tables.along_y(v.nz, n), left, [&](int q, const auto& eight) {
    steps_of_squares(tables, pairs, q, eight, steps);
    if (kHasRuns && has_ends) {
      unsigned to_end[8];
      ends.steps(min(q, rows.groups - 1), to_end);
      found.of_ends(to_end, eight.best, steps);
    }
    store(q * 8, steps, n - q * 8);
  });
}

}  // namespace fathom::grid::cuda::volume
