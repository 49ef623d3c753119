// Which sites lie in a query's cone or cylinder, and which boxes cannot hold one. Shared by host and device.
//
// No angles are computed per site: with t = (s − q)·a for the unit axis a, s is in the cone where t ≥ cos θ · |s − q|,
// which is decided on squares. A box is left out by its bounding sphere: in the half-plane of (t, p), p being the
// distance from the axis, the cone lies on one side of the line p cos θ = t sin θ, so that a sphere farther than its
// radius on the other side misses it.
#pragma once

#include <cmath>

#include "points/measure.hd.h"

namespace fathom::points {

/// A cone as the loops need it.
struct ConeOfQuery {
  double axis[3] = {0, 0, 0};
  double cosine = -2;  ///< of the half-angle, less the thickness of the boundary; −2: everything is inside
  double sine = 0;
  double radius = -1;  ///< of the cylinder; −1: none
};

/// Of an angle in [0, π], to within 2⁻⁵²; another angle has none. The same bits on host and device, which the
/// functions of their libraries do not promise. Taylor's series within π/4 of a multiple of π/2, which has two parts.
struct Turn {
  double cosine, sine;

  FATHOM_HD static Turn by(double angle) {
    constexpr double kHalf = 0x1.921fb54442d18p+0, kHalfRest = 0x1.1a62633145c07p-54;  // π/2
    if (!(angle >= 0 && angle <= 2 * kHalf)) return {NAN, NAN};
    if (angle > 1.5 * kHalf) {
      const Turn rest = near_zero((angle - 2 * kHalf) - 2 * kHalfRest);
      return {-rest.cosine, -rest.sine};
    }
    if (angle <= 0.5 * kHalf) return near_zero(angle);
    const Turn rest = near_zero((angle - kHalf) - kHalfRest);
    return {-rest.sine, rest.cosine};
  }

 private:
  FATHOM_HD static Turn near_zero(double x) {
    const double z = x * x;
    double cosine = 0, sine = 0;
    for (int n = 18; n > 2; n -= 2) {
      cosine = (1 - cosine) * z / (n * (n - 1));
      sine = (1 - sine) * z / (n * (n + 1));
    }
    return {1 - (0.5 * z) * (1 - cosine), x - x * ((1 - sine) * z / 6)};
  }
};

/// Rounding in t and d² must not exclude what lies on the boundary.
inline constexpr double kBoundary = 0x1p-50;

/// Whether the site at `offset` from the query, at squared distance d2, qualifies.
FATHOM_HD inline bool holds(const ConeOfQuery& cone, const double* offset, double d2, int axes) {
  double t = 0;
  for (int k = 0; k < axes; ++k) t += offset[k] * cone.axis[k];
  const double edge = cone.cosine * cone.cosine * d2;
  if (cone.cosine >= 0 ? t >= 0 && t * t >= edge : t >= 0 || t * t <= edge) return true;
  if (cone.radius < 0) return false;
  const double from_axis = t >= 0 ? d2 - t * t : d2;
  return from_axis <= cone.radius * cone.radius + kBoundary * d2;
}

/// False only if no site in the box [query + low, query + high] qualifies.
FATHOM_HD inline bool may_hold(const ConeOfQuery& cone, const double* low, const double* high, int axes) {
  double t = 0, center2 = 0, half2 = 0;
  for (int k = 0; k < axes; ++k) {
    const double center = 0.5 * low[k] + 0.5 * high[k], half = 0.5 * high[k] - 0.5 * low[k];
    t += center * cone.axis[k];
    center2 += center * center;
    half2 += half * half;
  }
  const double p = std::sqrt(larger(0.0, center2 - t * t));
  const double slack = 1e-6 * (std::sqrt(center2) + std::sqrt(half2)), reach = std::sqrt(half2) + slack;
  if (p * cone.cosine - t * cone.sine <= reach) return true;
  if (cone.radius < 0) return false;
  return (t >= 0 ? p : std::sqrt(center2)) <= cone.radius + reach;
}

}  // namespace fathom::points
