// From a pixel to its ray. Shared by host and device: same bits everywhere.
#pragma once

#include "apps/ray.hd.h"

namespace fathom::apps {

/// A camera that stands: physical vectors in the order of the shape. `right` and `down` reach from pixel to pixel, on
/// the plane through the eye where rays are parallel, else on the one at distance 1.
struct Frame {
  double eye[3], forward[3], right[3], down[3], light[3];
  double spacing[3];
  std::int64_t width, height;
  bool parallel;
};

FATHOM_HD inline Ray ray_of(const Frame& frame, std::int64_t row, std::int64_t column) {
  const double u = static_cast<double>(column) + 0.5 - 0.5 * static_cast<double>(frame.width);
  const double v = static_cast<double>(row) + 0.5 - 0.5 * static_cast<double>(frame.height);
  double physical2 = 0, length2 = 0;
  Ray ray;
  for (int k = 0; k < 3; ++k) {
    const double aside = u * frame.right[k] + v * frame.down[k];
    const double direction = frame.parallel ? frame.forward[k] : frame.forward[k] + aside;
    ray.origin[k] = (frame.parallel ? frame.eye[k] + aside : frame.eye[k]) / frame.spacing[k];
    ray.direction[k] = direction / frame.spacing[k];
    physical2 += direction * direction;
    length2 += ray.direction[k] * ray.direction[k];
  }
  const double length = std::sqrt(length2);
  for (int k = 0; k < 3; ++k) {
    ray.direction[k] /= length;
    if (std::fabs(ray.direction[k]) < 1e-12) ray.direction[k] = 0;  // its inverse would pass what numbers hold
    ray.inverse[k] = ray.direction[k] == 0 ? 0 : 1 / ray.direction[k];
  }
  ray.skipped = 0;
  ray.unit = std::sqrt(physical2) / length;
  return ray;
}

}  // namespace fathom::apps
