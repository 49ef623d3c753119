// The pass along y where sites are near, which writes results: the search of volume_window.cuh.
//
// Work mapping: block = tile. Tiles with few rows that have sites are solved at once (volume_few_rows.cuh); those whose
// search would be long are left to the envelope (volume_envelope.cuh), by a list.
#pragma once

#include "grid/cuda/volume_few_rows.cuh"

namespace fathom::grid::cuda {

template <int kThreads, Writing kWriting>
__global__ void __launch_bounds__(kThreads, search_blocks(kThreads, is_of_labels(kWriting) || is_general(kWriting)))
    search_along_y(const __grid_constant__ Volume v, const __grid_constant__ Emitter<std::int64_t> emitter) {
  extern __shared__ uint4 window_shared[];
  constexpr bool kLabels = is_of_labels(kWriting);
  v.clear_counter(0);
  __shared__ int work, near_rows, wide_rows, filled_rows;  // the latter: those of wide tiles in the upper half
  const int t = static_cast<int>(threadIdx.x), n = v.ny, lane = t % 16;
  const Volume::Tile tile = v.tile(blockIdx.x, v.nz);
  const std::uint8_t* kinds = v.kinds(tile);
  if (t == 0) near_rows = wide_rows = filled_rows = 0;
  __syncthreads();
  int filled = 0;
  for (int r = t; r < n; r += kThreads) filled += (kinds[r] != kEmpty) + ((kinds[r] == kWide) << 16);
  add_over_block(filled, &filled_rows);
  __syncthreads();
  const VolumeWriter<kWriting> writer(v, emitter, tile);
  const int any_rows = filled_rows & 0xFFFF;
  if constexpr (kWriting == Writing::aligned || kWriting == Writing::unaligned)  // others are short of registers
    if (any_rows > 0 && any_rows <= kFewRows) return FewRows<kThreads>(v, tile).solve(writer);
  const int far_rows = filled_rows >> 16;
  if (far_rows > 0) {
    const RowKinds first_half(v, tile, 0), second_half(v, tile, 1);
    int wide = 0;
    for (int r = t; r < n; r += kThreads) wide += first_half[r] == kWide || second_half[r] == kWide;
    add_over_block(wide, &wide_rows);
    __syncthreads();
  }
  if (wide_rows * 2 > n) {
    if (t == 0) enlist(v.y_list, v.counters + 1, blockIdx.x);
    return;
  }
  // Where rows are mostly far along z, searches are longer, which is worth while if many of them are less than 64 away.
  // Asked for anew each time, as registers are short.
  const auto is_far = [&] { return (filled_rows >> 16) * 2 > n; };
  const auto begin_work = [&] {
    if (t == 0) work = is_far() ? -budget_of(n) / 2 : 0;
  };
  begin_work();
  WindowRows<WindowPairs> rows(reinterpret_cast<unsigned*>(window_shared), n);
  rows.pad(n);
  const auto* squares = reinterpret_cast<const uint4*>(v.narrow_row(tile.item, tile.word, tile.line, 0));
  bool any = false;
  int near = 0;
  __shared__ RunWords<kLabels> run_words;
  const RunEnds ends(run_words, n);
  const std::uint32_t* changes = v.changes_along_y(tile);
  if constexpr (kLabels) any = ends.fill([&](int r) { return make_uint2(__ldg(changes + r), 0); });
  const bool inside = tile.word * 32 + t % 4 * 8 < v.nx;
#pragma unroll 4
  for (int i = t; i < n * 4; i += kThreads) {
    uint4 four = make_uint4(kNone16x2, kNone16x2, kNone16x2, kNone16x2);
    if (kinds[i / 4] != kEmpty) {
      four = __ldcs(squares + i);
      any = true;
    }
    const unsigned least = __vminu2(__vminu2(four.x, four.y), __vminu2(four.z, four.w));
    near += (inside && min(least & 0xFFFFu, least >> 16) < 64u * 64u) ||
            (kLabels && (__ldg(changes + i / 4) >> (i % 4 * 8) & 255) != 0);
    rows.put(i / 4, i % 4, four);
  }
  add_over_block(near, &near_rows);
  if (!__syncthreads_or(any)) {
    for (int q = t / 32; q < rows.groups; q += kThreads / 32) writer.write_none(q * 8, tile.word * 32 + lane_id());
    return;
  }
  if (is_far() ? near_rows * 2 < n : near_rows * 8 < n) {
    if (t == 0) enlist(v.y_list, v.counters + 1, blockIdx.x);
    return;
  }
  // Wide rows are kept where the result goes: with some about, a first round writes nothing, so that the envelope still
  // finds them if the search fails.
  for (int dry = wide_rows > 0; dry >= 0; --dry) {
    bool failed = false;
    for (int q0 = t / 32 * 2; q0 < rows.groups; q0 += kThreads / 16) {
      const int q = q0 + lane_id() / 16;
      Window<WindowPairs> window(rows, min(q, rows.groups - 1), lane);
      if constexpr (kLabels)
        if (__any_sync(kAllLanes, WindowPairs::largest(window.best) > 0))
          ends.bound_pairs(min(q, rows.groups - 1), lane, window.best);
      if (!window.search(&work, dry ? max(budget_of(n) / 4, 2) : budget_of(n))) {
        failed = true;
        break;
      }
      if (dry) continue;
      writer.write_pairs(q * 8, window.best);
    }
    if (__syncthreads_or(failed)) {
      if (t == 0) enlist(v.y_list, v.counters + 1, blockIdx.x);
      return;
    }
    begin_work();
    __syncthreads();
  }
}

}  // namespace fathom::grid::cuda
