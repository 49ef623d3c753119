// Borders of sites and the maximum distance of images, after the kernels that solve them. What is near in the middle of
// an image has no limit to meet: most cells are not read again.
//
// Work mapping: warp = cell of 32 × 32 elements, lane = column. Cost: where sites are far, or a limit may matter, each
// distance is read once more, and written where it changes.
#pragma once

#include "grid/cuda/limits.cuh"
#include "grid/cuda/plane/near_words.cuh"

namespace fathom::grid::cuda::plane {

/// Whether limits may change distances of a cell that are less than `reach` units.
__device__ inline bool limits_reach(const Limits& limits, int y, int x, float reach) {
  const std::int32_t border = min(limits.to_border(1, y, y + kBand - 1), limits.to_border(2, x, x + 31));
  return static_cast<float>(border) < reach || limits.farthest < reach * limits.unit;
}

static __global__ void __launch_bounds__(kLimitWarps * 32)
    limit_cells(const __grid_constant__ Plane plane, const __grid_constant__ Limits limits) {
  const int cell = static_cast<int>(blockIdx.x) * kLimitWarps + static_cast<int>(threadIdx.x) / 32;
  const std::int64_t band = blockIdx.y;
  const int y0 = plane.first_row(band), rows = min(kBand, plane.height - y0), x = cell * 32 + lane_id();
  if (x >= plane.width) return;
  // Distances of cells that the search for near sites has settled are less than its reach.
  const bool is_near = plane.open_cells[band * plane.cells() + cell] == 0;
  if (is_near && !limits_reach(limits, y0, cell * 32, static_cast<float>(kReach * limits.multiple[2]))) return;
  const auto beside = static_cast<float>(limits.to_border(2, x));
  // Of the other side of a signed field, where there may be nothing yet.
  const unsigned others = limits.is_signed && plane.beyond == 0 ? plane.bits[band * plane.pitch + x] : 0;
  float* to = plane.row(band, y0) + x;
#pragma unroll 8
  for (int r = 0; r < rows; ++r, to += plane.row_stride) {
    if (others >> r & 1) continue;
    const float d = *to, limited = limits.of(d, fminf(beside, static_cast<float>(limits.to_border(1, y0 + r))));
    if (limited != d) *to = limited;
  }
}

}  // namespace fathom::grid::cuda::plane
