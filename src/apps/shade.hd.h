// How bright a voxel's surface looks. Shared by host and device: same bits everywhere.
#pragma once

#include "apps/voxels.hd.h"

namespace fathom::apps {

inline constexpr int kNormalReach = 3;  ///< voxels around that decide where a surface faces
inline constexpr std::uint8_t kBackground = 255;

/// Sum of the offsets to what is empty around a voxel: it points away from the solid.
FATHOM_HD inline void outward(const Voxels& voxels, const std::int32_t* at, std::int32_t* sum) {
  constexpr int r = kNormalReach;
  sum[0] = sum[1] = sum[2] = 0;
  for (int z = -r; z <= r; ++z)
    for (int y = -r; y <= r; ++y)
      for (int x = -r; x <= r; ++x) {
        if (z * z + y * y + x * x > r * r || voxels.anywhere(at[0] + z, at[1] + y, at[2] + x)) continue;
        sum[0] += z;
        sum[1] += y;
        sum[2] += x;
      }
}

/// @param spacing  of the voxels: the surface's normal is physical
/// @param light    unit vector towards it
FATHOM_HD inline std::uint8_t shade(const Voxels& voxels, const std::int32_t* at, const double* spacing,
                                    const double* light) {
  std::int32_t sum[3];
  outward(voxels, at, sum);
  double along = 0, length2 = 0;
  for (int k = 0; k < 3; ++k) {
    const double normal = sum[k] / spacing[k];
    along += normal * light[k];
    length2 += normal * normal;
  }
  const double cosine = along > 0 ? along / std::sqrt(length2) : 0;
  return static_cast<std::uint8_t>(30.5 + 205 * std::fmin(cosine, 1.0));
}

}  // namespace fathom::apps
