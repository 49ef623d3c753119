// Rays in index space, where voxel i of an axis reaches from i − ½ to i + ½, and the faces they cross. Shared by host
// and device: same bits everywhere.
//
// The parameter at which a ray crosses a face follows from the face alone, not from the way there. So what a ray passes
// is one sequence of voxels, in which it may begin anywhere.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/root.hd.h"

namespace fathom::apps {

/// From `origin` along the unit vector `direction`; the parameter t is the length of the way.
struct Ray {
  double origin[3];
  double direction[3];
  double inverse[3];  ///< 1 / direction; where that is 0, the ray crosses no face of the axis
  double skipped;     ///< length from the eye to the origin
  double unit;        ///< physical length of t = 1
};

/// An index along one axis: where the ray begins, the way it goes, and what it reaches beyond the last.
struct Course {
  std::int32_t first, sign, end;
};

FATHOM_HD inline Course course_of(const Ray& ray, int axis, std::int32_t extent) {
  return ray.direction[axis] < 0 ? Course{extent - 1, -1, -1} : Course{0, 1, extent};
}

/// Parameter at which the ray leaves index `at` of the axis. Never falls as it goes on.
FATHOM_HD inline double exit_of(const Ray& ray, int axis, std::int32_t at) {
  if (ray.direction[axis] == 0) return HUGE_VAL;
  const double face = at + (ray.direction[axis] < 0 ? -0.5 : 0.5);
  return (face - ray.origin[axis]) * ray.inverse[axis];
}

/// The first index of the axis that the ray leaves after parameter t; the course's end if there is none.
FATHOM_HD inline std::int32_t index_at(const Ray& ray, int axis, double t, std::int32_t extent) {
  const Course course = course_of(ray, axis, extent);
  const double place = std::floor(ray.origin[axis] + t * ray.direction[axis] + 0.5);  // right, or next to it
  auto at = static_cast<std::int32_t>(place < 0 ? 0 : place > extent - 1 ? extent - 1 : place);
  if (ray.direction[axis] == 0) return at;
  while (at != course.first && exit_of(ray, axis, at - course.sign) > t) at -= course.sign;
  while (at != course.end && exit_of(ray, axis, at) <= t) at += course.sign;
  return at;
}

/// Moves the ray's origin to where it enters the volume. False: it does not.
FATHOM_HD inline bool enter(Ray& ray, const std::int32_t* extents) {
  double in = 0, out = HUGE_VAL;
  for (int k = 0; k < 3; ++k) {
    const double low = -0.5 - ray.origin[k], high = extents[k] - 0.5 - ray.origin[k];
    if (ray.direction[k] == 0) {
      if (low > 0 || high < 0) return false;
      continue;
    }
    const double a = low * ray.inverse[k], b = high * ray.inverse[k];
    in = std::fmax(in, std::fmin(a, b));
    out = std::fmin(out, std::fmax(a, b));
  }
  if (!(in < out)) return false;
  for (int k = 0; k < 3; ++k) ray.origin[k] += in * ray.direction[k];
  ray.skipped = in;
  return true;
}

}  // namespace fathom::apps
