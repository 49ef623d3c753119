// The launches that plane/solve.cuh declares, for the files that compile their kernels.
#pragma once

#include <algorithm>

#include "core/cuda/runtime.h"
#include "grid/cuda/launch.cuh"
#include "grid/cuda/plane/far.cuh"
#include "grid/cuda/plane/launch.cuh"
#include "grid/cuda/plane/near.cuh"
#include "grid/cuda/plane/solve.cuh"

namespace fathom::grid::cuda::plane {

template <Writing kWriting, Spacing kSpaced, class V>
void PlaneKernels<kWriting, kSpaced, V>::solve_near(const Plane& plane, const Emitter<V>& emitter,
                                                    cudaStream_t stream) {
  constexpr int kWidth = kNearWidth<kWriting, kSpaced>;
  dim3 grid = blocks(plane.all_bands, plane.width, kWidth);
  const auto room = static_cast<unsigned>(fathom::cuda::multiprocessors());
  if (2 * grid.x * grid.y <= room) grid.z = 2;
  // Where more blocks waited for the kernel ahead, they would take its room.
  Plane in_turn = plane;
  in_turn.begins_early &= grid.x * grid.y * grid.z <= room;
  launch_in_turn(plane::solve_near<kWriting, kSpaced, V>, grid, kNearWords, 0, stream, in_turn, emitter);
}

// In far tiles floats go one by one: rows need no alignment. Which multiples of a unit spacings are does not matter.
template <Writing kWriting>
inline constexpr Writing kFarWriting = kWriting == Writing::aligned ? Writing::unaligned : kWriting;
template <Spacing kSpaced>
inline constexpr Spacing kFarSpaced = kSpaced == Spacing::unit_along_columns ? Spacing::unit : kSpaced;

template <Writing kWriting, Spacing kSpaced, class V>
void PlaneKernels<kWriting, kSpaced, V>::solve_far(const Plane& plane, const Emitter<V>& emitter, cudaStream_t stream) {
  const std::int64_t tiles = plane.all_bands * plane.tiles();
  const auto persistent = static_cast<unsigned>(std::min<std::int64_t>(
      tiles, fathom::cuda::multiprocessors() * far_blocks(kFarWriting<kWriting>, kFarSpaced<kSpaced>)));
  launch_in_turn(plane::solve_far<kFarWriting<kWriting>, kFarSpaced<kSpaced>, V>, persistent, kFarBlock, 0, stream,
                 plane, emitter);
}

}  // namespace fathom::grid::cuda::plane
