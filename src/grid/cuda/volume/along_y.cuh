// The pass along y where sites are near, which writes results: the search of volume/gaps.cuh.
//
// Work mapping: block = tile. Tiles with few rows that have sites are solved at once (volume/few_rows.cuh); those whose
// search would be long by ranges of rows (volume/ranges.cuh); what these do not settle is left to the envelope
// (volume/envelope.cuh), by a list. Blocks behind those of a signed field's first side turn its words to the other's
// (volume/sides.cuh).
#pragma once

#include "grid/cuda/volume/few_rows.cuh"
#include "grid/cuda/volume/gaps.cuh"
#include "grid/cuda/volume/ranges.cuh"
#include "grid/cuda/volume/sides.cuh"

namespace fathom::grid::cuda::volume {

/// Whether anything changes along a line. By all threads.
template <int kThreads>
__device__ bool has_changes(const std::uint32_t* changes, int rows) {
  bool any = false;
  for (int r = static_cast<int>(threadIdx.x); r < rows; r += kThreads) any |= __ldg(changes + r) != 0;
  return __syncthreads_or(any);
}

/// What is told of a tile's rows: beyond 16 bits is what either half is, far is what both are.
class BothHalves {
 public:
  __device__ BothHalves(const Volume& v, const Volume::Tile& t)
      : kinds_(v.kinds(t)),
        first_(v.beyond_row(t.item, t.word, 0, t.line)),
        second_(v.beyond_row(t.item, t.word, 1, t.line)) {}

  __device__ unsigned operator[](int row) const {
    if (kinds_[row] != kWide) return kinds_[row] == kEmpty ? kFarRows : 0;
    const unsigned first = first_[row], second = second_[row];
    return ((first | second) & kBeyond16) | (first & second & kFarRows);
  }

 private:
  const std::uint8_t *kinds_, *first_, *second_;
};

template <int kThreads, Writing kWriting>
__global__ void __launch_bounds__(kThreads, search_blocks(kThreads, is_of_labels(kWriting) || is_general(kWriting)))
    search_along_y(const __grid_constant__ Volume v, const __grid_constant__ Emitter<std::int64_t> emitter) {
  extern __shared__ uint4 window_shared[];
  constexpr bool kLabels = is_of_labels(kWriting);
  v.clear_counter(0);
  constexpr bool kSide = kWriting == Writing::one_side;
  if constexpr (may_turn_words(kWriting)) {
    const std::int64_t tiles = v.items * v.words * v.nz;
    if (blockIdx.x >= tiles) return turn_row(v, blockIdx.x - tiles);
  }
  __shared__ int work, wide_rows, filled_rows;  // the latter: those of wide tiles in the upper half
  const int t = static_cast<int>(threadIdx.x), n = v.ny, lane = t % 16;
  const Volume::Tile tile = v.tile(blockIdx.x, v.nz);
  const std::uint8_t* kinds = v.kinds(tile);
  __shared__ unsigned wide_pairs[kLongestAxis / 16 / 32];  // of groups: which have wide rows
  if (t == 0) wide_rows = filled_rows = 0;
  if (t < kLongestAxis / 16 / 32) wide_pairs[t] = 0;
  __syncthreads();
  int filled = 0;
  bool is_full = kSide;
  for (int r = t; r < n; r += kThreads) {
    filled += (kinds[r] != kEmpty) + ((kinds[r] == kWide) << 16);
    is_full &= kinds[r] == kFull;
  }
  add_over_block(filled, &filled_rows);
  if constexpr (kSide) {
    if (__syncthreads_and(is_full)) return;  // the other side's
  } else {
    __syncthreads();
  }
  const VolumeWriter<kWriting> writer(v, emitter, tile);
  const int any_rows = filled_rows & 0xFFFF, far_rows = filled_rows >> 16;
  const std::uint32_t* changes = v.changes_along_y(tile);
  if (any_rows <= kFewRows && !(kLabels && has_changes<kThreads>(changes, n))) {
    if (any_rows > 0) return FewRows<kThreads>(v, tile).solve(writer);
    for (int y = t / 32 * 8; y < n; y += kThreads / 4) writer.write_none(y, tile.word * 32 + lane_id());
    return;
  }
  __shared__ unsigned foreseen_of_warps[kThreads / 32];
  bool is_far = false;
  if (far_rows > 0) {
    const BothHalves halves(v, tile);
    int wide = 0;
    NearRows<kThreads, 64> near;
    for (int r = t; r < n; r += kThreads) {
      const unsigned told = halves[r];
      near.add(r, (told & kFarRows) == 0);
      if ((told & kBeyond16) == 0) continue;
      ++wide;
      atomicOr(&wide_pairs[r / 512], 1u << r / 16 % 32);
    }
    add_over_block(wide, &wide_rows);
    near.put(foreseen_of_warps);
    __syncthreads();
    if constexpr (!kLabels) is_far = !near.suffice(foreseen_of_warps, n);
  }
  if (is_far || wide_rows * 8 > n) {  // a search would be long, or take two rounds
    if (t == 0) enlist(v.y_list, v.counters + 1, blockIdx.x);
    return;
  }
  WindowRows<WindowPairs> rows(reinterpret_cast<unsigned*>(window_shared), n);
  rows.pad(n);
  if (t == 0) work = 0;
  const FourPairs narrow(v, tile, t % 4);
  __shared__ RunWords<kLabels> run_words;
  const RunEnds ends(run_words, n);
  if constexpr (kLabels) ends.fill_changes([&](int r) { return __ldg(changes + r); });
  // Without labels, ranges of rows are there for what is less near.
  constexpr int kNearSteps = kLabels ? 64 : kUnrangedAlongY, kStretch = kLabels || kThreads > 512 ? 64 : 32;
  const bool has_columns = tile.word * 32 + t % 4 * 8 < v.nx;
  const unsigned near_square = has_columns ? kNearSteps * kNearSteps : 0;
  __shared__ unsigned near_of_warps[kThreads / 32];
  NearRows<kThreads, kStretch, 32 * kStretch> near;
  const auto fill = [&](auto&& four_of) {
#pragma unroll 4
    for (int i = t; i < n * 4; i += kThreads) {
      const auto kind = static_cast<TileKind>(kinds[i / 4]);
      const unsigned two = kLabels ? kNone16x2 : squares_not_kept(kind);
      uint4 four = make_uint4(two, two, two, two);
      if (keeps_rows(kind)) four = four_of(i / 4);
      const unsigned least = __vminu2(__vminu2(four.x, four.y), __vminu2(four.z, four.w));
      near.add(i / 4, min(least & 0xFFFFu, least >> 16) < near_square ||
                          (kLabels && (__ldg(changes + i / 4) >> (i % 4 * 8) & 255) != 0));
      rows.put(i / 4, i % 4, four);
    }
  };
  if (narrow.are_all()) fill([&](int r) { return narrow.all(r); });
  else fill([&](int r) { return narrow.some(r); });
  near.put(near_of_warps);
  __syncthreads();
  // Wide rows are kept where results go: groups with some are written in a second round, so that the envelope still
  // finds them if the search fails.
  bool failed = kLabels ? !near.suffice(near_of_warps, n) : !near.nearly_suffice(near_of_warps, n, 8);
  for (int round = 0; round <= (wide_rows > 0 ? 1 : 0) && !failed; ++round) {
    for (int q0 = warp_number() * 2; q0 < rows.groups; q0 += kThreads / 16) {
      const bool keeps = (wide_pairs[q0 / 64] >> q0 / 2 % 32 & 1) != 0;
      if (round == 1 && !keeps) continue;
      const int q = q0 + lane_id() / 16;
      GapWindow<WindowPairs> window(rows, min(q, rows.groups - 1), lane);
      if constexpr (kLabels)
        if (__any_sync(kAllLanes, WindowPairs::largest(window.best) > 0))
          ends.bound_pairs(min(q, rows.groups - 1), lane, window.best);
      if (!window.search(&work, GapWindow<WindowPairs>::budget_of(n))) {
        failed = true;
        break;
      }
      if (round == 1 || !keeps) writer.write_pairs(q * 8, window.best);
    }
    failed = __syncthreads_or(failed);
    if (t == 0) work = 0;
    __syncthreads();
  }
  if constexpr (!kLabels) {
    __shared__ NearestGroups<kThreads> nearest;
    const auto put = [&](int group, const unsigned* squares) { writer.write_pairs(group * 8, squares); };
    if (failed && wide_rows == 0) failed = !nearest.solve(rows, put);
  }
  if (failed && t == 0) enlist(v.y_list, v.counters + 1, blockIdx.x);
}

}  // namespace fathom::grid::cuda::volume
