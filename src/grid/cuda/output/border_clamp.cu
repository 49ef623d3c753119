// Borders of sites and the maximum distance, after a transform without them: a minimum with the distance to the array's
// own ends, and a comparison, are all that is missing. Signed fields tell by their sign who looks for the border.
//
// Work mapping: warp = 256 neighbours of a row, lane = 8 of them, 32 apart. Cost: every distance is read once more, and
// written where it changes.
#include <cmath>

#include "core/cuda/runtime.h"
#include "grid/cuda/input/classes.cuh"
#include "grid/cuda/input/layout.cuh"
#include "grid/cuda/output/limits.cuh"
#include "grid/cuda/tuning.h"
#include "grid/cuda/warp.cuh"

namespace fathom::grid::cuda {

namespace {

constexpr int kClampTogether = 8, kClampWidth = 32 * kClampTogether;

/// Float distances over a region, and what borders of sites and a maximum distance make of them.
struct BorderClamp {
  Placed<float> distance;
  // Of axes z, y, x.
  std::int64_t begin[3] = {0, 0, 0}, count[3] = {1, 1, 1};  ///< of the region
  std::int64_t extent[3] = {1, 1, 1};
  bool sites_beyond[3] = {false, false, false};
  std::int32_t multiple[3] = {1, 1, 1};  ///< spacings, in units
  std::int64_t first_item = 0;
  int chunks = 1;          ///< of a row
  std::int64_t warps = 0;  ///< a chunk each
  float unit = 1;
  float farthest = 0;  ///< distances beyond become infinite
  float half = 0;      ///< of signed fields, from an element's centre to its faces, where those have distance 0
  bool is_signed = false;
  bool border_is_inside = false;  ///< of signed fields: it is a site to the others

  static BorderClamp of(const Problem& p, const Batch& batch, std::int64_t first_item, std::int64_t items) {
    BorderClamp clamp{.distance = Placed<float>::of(p.outputs.distance, p.rank, batch.shape, batch.distance),
                      .first_item = first_item,
                      .unit = static_cast<float>(p.unit),
                      .half = p.signed_distance && p.surface == Surface::faces ? 0.5f : 0.0f,
                      .is_signed = p.signed_distance,
                      .border_is_inside = Classes::of(p).border_is_inside};
    for (int k = 0; k < p.rank; ++k) {
      const int axis = 3 - p.rank + k;
      clamp.begin[axis] = p.range(k).begin;
      clamp.count[axis] = p.region_extent(k);
      clamp.extent[axis] = p.extent(k);
      clamp.sites_beyond[axis] = p.border[static_cast<std::size_t>(k)] == Border::sites;
      clamp.multiple[axis] = static_cast<std::int32_t>(p.multiple[static_cast<std::size_t>(k)]);
    }
    clamp.chunks = static_cast<int>((clamp.count[2] + kClampWidth - 1) / kClampWidth);
    clamp.warps = items * clamp.count[0] * clamp.count[1] * clamp.chunks;
    const double kept = std::sqrt(static_cast<double>(largest_kept<std::int64_t>(p))) - static_cast<double>(clamp.half);
    clamp.farthest = drops_any(p) ? static_cast<float>(kept) * clamp.unit : no_value<float>();
    return clamp;
  }

  /// From an element of the region, in units.
  __device__ std::int32_t to_border(int axis, std::int64_t of_region) const {
    const auto at = static_cast<std::int32_t>(of_region + begin[axis]);
    return sites_beyond[axis] ? min(at + 1, static_cast<std::int32_t>(extent[axis]) - at) * multiple[axis] : INT32_MAX;
  }
  /// @param border  steps to the nearest, in units
  __device__ float limited(float d, float border) const {
    const bool looks = border < 1e9f && !(is_signed && (d < 0) == border_is_inside);
    const float least = looks ? fminf(fabsf(d), border * unit - half) : fabsf(d);
    return copysignf(least > farthest ? __int_as_float(0x7F800000) : least, d);
  }
};

__global__ void __launch_bounds__(kClampBlock) clamp_to_border(const __grid_constant__ BorderClamp p) {
  const std::int64_t warp = (std::int64_t{blockIdx.x} * kClampBlock + threadIdx.x) / 32;
  if (warp >= p.warps) return;
  const Division chunk(warp, p.chunks), row(chunk.quotient, p.count[1]), plane(row.quotient, p.count[0]);
  const std::int64_t y = row.remainder, z = plane.remainder, x0 = chunk.remainder * kClampWidth + lane_id();
  float* out = p.distance.row(p.first_item + plane.quotient, z, y) + x0;
  const std::int32_t around = min(p.to_border(0, z), p.to_border(1, y));
  const auto count = static_cast<int>(min(p.count[2] - x0, std::int64_t{kClampWidth}));
  float distance[kClampTogether];  // all are read before any is written, so that the waits are one
#pragma unroll
  for (int k = 0; k < kClampTogether; ++k) distance[k] = 32 * k < count ? out[32 * k] : 0;
#pragma unroll
  for (int k = 0; k < kClampTogether; ++k) {
    const auto border = static_cast<float>(min(around, p.to_border(2, x0 + 32 * k)));
    const float limited = p.limited(distance[k], border);
    if (32 * k < count && limited != distance[k]) out[32 * k] = limited;
  }
}

}  // namespace

void clamp_items(const Problem& p, const Batch& batch, std::int64_t first_item, std::int64_t items,
                 cudaStream_t stream) {
  const BorderClamp clamp = BorderClamp::of(p, batch, first_item, items);
  clamp_to_border<<<blocks_for(clamp.warps * 32, kClampBlock), kClampBlock, 0, stream>>>(clamp);
  fathom::cuda::check_launch("adding borders");
}

}  // namespace fathom::grid::cuda
