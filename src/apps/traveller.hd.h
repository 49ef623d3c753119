// A ray on its way, and what its pixel shows of where it ends. Shared by host and device: same bits everywhere.
#pragma once

#include "apps/frame.hd.h"
#include "apps/shade.hd.h"

namespace fathom::apps {

struct Traveller {
  Ray ray;
  double t;
  std::int32_t at[3];  ///< the voxel it is in
  std::int32_t samples;
  std::int64_t pixel;
};

/// The ray through a pixel, where it enters the volume.
/// @returns whether it does
FATHOM_HD inline bool set_out(Traveller& one, const Frame& frame, const Voxels& voxels, std::int64_t pixel) {
  one = {ray_of(frame, pixel / frame.width, pixel % frame.width), 0, {}, 0, pixel};
  return enter(one.ray, voxels.extents) && find_voxel(one.ray, voxels, 0, one.at);
}

/// Takes a sample: skips `length`, on which nothing is solid, then looks at one unit of the way.
FATHOM_HD inline Met go_on(Traveller& one, const Voxels& voxels, double length) {
  ++one.samples;
  one.t += length;
  const bool inside = length == 0 || (length < HUGE_VAL && find_voxel(one.ray, voxels, one.t, one.at));
  one.t += 1;
  return inside ? walk(one.ray, voxels, one.t, one.at) : Met::end;
}

/// Of a ray that met nothing, unless said otherwise.
struct Sight {
  std::uint8_t shade = kBackground;
  std::int64_t voxel = -1;
  float depth = HUGE_VALF;
};

/// Of a ray that met a solid voxel.
/// @param shaded  whether `shade` is wanted, which takes longest
FATHOM_HD inline Sight sight_of(const Traveller& one, const Frame& frame, const Voxels& voxels, bool shaded) {
  const std::int64_t row = one.at[0] * static_cast<std::int64_t>(voxels.extents[1]) + one.at[1];
  Sight sight;
  sight.voxel = row * voxels.extents[2] + one.at[2];
  sight.depth = static_cast<float>((one.ray.skipped + entry_of(one.ray, voxels, one.at)) * one.ray.unit);
  if (shaded) sight.shade = shade(voxels, one.at, frame.spacing, frame.light);
  return sight;
}

}  // namespace fathom::apps
