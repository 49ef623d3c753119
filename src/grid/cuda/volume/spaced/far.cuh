// Half tiles along y of volumes with unequal spacings in a unit whose nearest rows are far away, as of a smooth far
// field: the search of volume/spaced/spaced.cuh leaves them, since it would try all groups of rows on its way. Or whole
// volumes with few sites, which both passes leave (volume/spaced/few.cuh).
//
// Work mapping: persistent blocks, with a thread to each row. Phase 1: squares from where they lie between the passes
// to shared memory. Phase 2: between which rows the nearest of each eight lie (volume/unequal/brackets.cuh). Phase 3,
// half warp = 8 rows, lane = column: squares of these rows alone, in units.
//
// Source and cost: volume/unequal/brackets.cuh, and three operations for each row that is tried for an element.
#pragma once

#include "core/cuda/early_launch.cuh"
#include "grid/cuda/volume/spaced/few.cuh"
#include "grid/cuda/volume/spaced/spaced.cuh"
#include "grid/cuda/volume/unequal/brackets.cuh"

namespace fathom::grid::cuda::volume {

/// A line of squares in units, as Brackets ask for it.
struct LineOfSquares {
  const WindowRows<WindowSquares>& rows;
  float halves_of_unit;

  __device__ unsigned word(int row) const { return rows.get(row, static_cast<int>(threadIdx.x) % 16); }
  __device__ auto group(int q) const { return rows.group(q, static_cast<int>(threadIdx.x) % 16); }
  __device__ bool has_site(unsigned units) const { return units < WindowSquares::kNone; }
  __device__ double square(unsigned units) const { return units; }
  __device__ unsigned halves(unsigned units) const {
    return has_site(units) ? rounded_halves(static_cast<float>(units) * halves_of_unit) : kNoHalves;
  }
};

/// @tparam kAside  squares may lie aside
template <int kThreads, bool kLimited, bool kAside>
__global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, kResidentThreadsAt64 / kThreads))
    solve_spaced_far_along_y(const __grid_constant__ Volume v, const __grid_constant__ Emitter<std::int64_t> emitter,
                             const __grid_constant__ Limits limits) {
  extern __shared__ uint4 window_shared[];
  fathom::cuda::wait_for_last();
  if (is_left_to_few_rows(v)) return solve_few_rows<kThreads, kLimited>(v, emitter, limits);
  const int t = static_cast<int>(threadIdx.x), n = v.ny;
  const WindowRows<WindowSquares> rows(reinterpret_cast<unsigned*>(window_shared), n);
  const LineOfSquares line{rows, 2 / static_cast<float>(v.weight_y)};
  const unsigned count =
      v.counters[1];  // of the pass along y; that along z, whose counter was asked for before, has ended
  rows.pad(n);
  for (unsigned job = blockIdx.x; job < count; job += gridDim.x) {
    const HalfTile half = half_along_y(v, v.y_list[job]);
    const KindsAlongY<kAside> kinds(v, half);
    const SquaresAlongY<kThreads, kAside> squares(v, half);
    const auto ignore = [](unsigned) {};
    if (__syncthreads_and(are_of_kind<kThreads>(kWide, kinds.of_lines, n))) squares.load_wide(rows, ignore);
    else
      squares.load(
          rows, [&](int r) { return kinds[r]; }, ignore);
    __syncthreads();
    Brackets<kThreads> brackets(reinterpret_cast<unsigned*>(window_shared) + window_memory(n) / sizeof(unsigned), n);
    brackets.find(line, v.weight_y);
    const VolumeWriter<Writing::unaligned> writer(v, emitter, half.tile);
    for (int q = t / 16; q < rows.groups; q += kThreads / 16) {
      EightUnits eight(q * 8, v.weight_y);
      brackets.for_rows(q, line, [&](int row, unsigned units) { eight.offer(row, units); });
      write_spaced_column<kLimited>(writer, limits, q * 8, half.x, eight.best, n - q * 8);
    }
  }
}

}  // namespace fathom::grid::cuda::volume
