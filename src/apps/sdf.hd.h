// Values of a texture's texels. Shared by host and device.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "apps/outline.hd.h"

namespace fathom::apps {

inline constexpr std::int64_t kSitesOfSegment = 3;        ///< its ends, and the middle
inline constexpr int kNearestSites = 4;                   ///< that are looked for
inline constexpr std::int64_t kTexelsOnDevice = 1 << 20;  ///< at a time

/// Where texels lie on the image.
struct Placing {
  double scale = 1;  ///< texels for each pixel
  double y = 0, x = 0;

  FATHOM_HD double row(std::int64_t texel) const { return y + (static_cast<double>(texel) + 0.5) / scale; }
  FATHOM_HD double column(std::int64_t texel) const { return x + (static_cast<double>(texel) + 0.5) / scale; }
};

/// What the values of texels follow from.
struct Texels {
  Shares shares;
  const Segment* segments = nullptr;
  double scale = 1;  ///< texels for each pixel
  double range = 1;

  /// @param sites  [kNearestSites] of the outline, nearest to the place; −1: there are no more
  FATHOM_HD double value(double y, double x, const std::int64_t* sites) const {
    double least = HUGE_VAL;
    for (int k = 0; k < kNearestSites && sites[k] >= 0; ++k) {
      const double squared = squared_distance(segments[sites[k] / kSitesOfSegment], y, x);
      if (squared < least) least = squared;
    }
    const double share = std::sqrt(least) * scale / range;
    return shares.inside(y, x) ? 0.5 + share : 0.5 - share;
  }
};

template <class T>
FATHOM_HD T stored(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    constexpr T kMost = static_cast<T>(-1);  // an unsigned type's largest
    const double cut = value < 0 ? 0 : value > 1 ? 1 : value;
    return static_cast<T>(std::floor(cut * kMost + 0.5));
  }
}

}  // namespace fathom::apps
