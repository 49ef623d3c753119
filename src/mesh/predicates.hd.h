// Exact signs for lines along x that meet triangles. Shared by host and device: same answers everywhere.
//
// What decides is a point moved by (ε, ε², ε³) with an ε smaller than any number: it lies on no face, its line meets no
// edge and no vertex, and closed surfaces are left as often as they are entered. Moving costs nothing but a look at the
// next term where a determinant is 0.
// Each sign is that of a determinant, in float64 where its error bound leaves no doubt, else as an exact sum.
//
// Source: Shewchuk, Adaptive precision floating-point arithmetic and fast robust geometric predicates, 1997 (error
// bounds of orient2d and orient3d, sums of floats that do not overlap); Edelsbrunner & Mücke, Simulation of simplicity,
// 1990.
// Departs: two stages in place of four, the exact one adding all products to one sum.
#pragma once

#include "mesh/triangle.hd.h"

namespace fathom::mesh {

/// Coordinates below 2⁻²⁸⁸ become multiples of 2⁻³⁴⁰ (1e-102), as all others are: products of three differences then
/// are multiples of 2⁻¹⁰²⁰ and never underflow. All coordinates that predicates get must have gone through it, which
/// keeps their order.
inline constexpr double kGrain = 0x1p-340;
FATHOM_HD inline double snapped(double x) {
  constexpr double kShift = 0x1.8p-288;
  return std::fabs(x) < 0x1p-288 ? (x + kShift) - kShift : x;
}
FATHOM_HD inline Vec3 snapped(Vec3 p) { return {snapped(p.x), snapped(p.y), snapped(p.z)}; }

FATHOM_HD inline int sign_of(double x) { return (x > 0) - (x < 0); }

/// A number as the sum of two floats, the second what rounding left of it.
struct TwoFloats {
  double part[2];
};

FATHOM_HD inline TwoFloats two_sum(double a, double b) {
  const double sum = a + b, of_b = sum - a;
  return {{sum, (a - (sum - of_b)) + (b - of_b)}};
}
FATHOM_HD inline TwoFloats two_product(double a, double b) {
  const double product = a * b;
  return {{product, std::fma(a, b, -product)}};
}

/// An exact sum: floats that do not overlap, in ascending order of magnitude, none 0.
class ExactSum {
 public:
  /// Shewchuk's Grow-Expansion.
  FATHOM_HD void add(double x) {
    if (x == 0) return;  // as what rounding left of most differences is
    int kept = 0;
    for (int i = 0; i < count_; ++i) {
      const TwoFloats sum = two_sum(x, parts_[i]);
      if (sum.part[1] != 0) parts_[kept++] = sum.part[1];
      x = sum.part[0];
    }
    if (x != 0) parts_[kept++] = x;
    count_ = kept;
  }
  FATHOM_HD void add_product(double a, double b) {
    const TwoFloats product = two_product(a, b);
    add(product.part[1]);
    add(product.part[0]);
  }
  FATHOM_HD void add_product(double a, double b, double c) {
    const TwoFloats product = two_product(a, b);
    add_product(product.part[1], c);
    add_product(product.part[0], c);
  }
  FATHOM_HD int sign() const { return count_ == 0 ? 0 : sign_of(parts_[count_ - 1]); }

 private:
  double parts_[192];  ///< 6 products of 3 differences, of 2 floats each: 4 floats for each of 48
  int count_ = 0;
};

/// Sign of u.y·v.z − u.z·v.y, both less p: on which side of the line from u to v p lies in the plane of y and z.
FATHOM_HD inline int orientation_in_yz(Vec3 u, Vec3 v, Vec3 p) {
  constexpr double kError = (3 + 16 * 0x1p-53) * 0x1p-53;
  const double left = (u.y - p.y) * (v.z - p.z), right = (u.z - p.z) * (v.y - p.y);
  const double determinant = left - right, bound = kError * (std::fabs(left) + std::fabs(right));
  if (std::fabs(determinant) > bound || bound == 0) return sign_of(determinant);
  const TwoFloats uy = two_sum(u.y, -p.y), uz = two_sum(u.z, -p.z), vy = two_sum(v.y, -p.y), vz = two_sum(v.z, -p.z);
  ExactSum sum;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      sum.add_product(uy.part[i], vz.part[j]);
      sum.add_product(-uz.part[i], vy.part[j]);
    }
  return sum.sign();
}

/// The same after p has moved. 0 only where u and v are one point in that plane.
FATHOM_HD inline int moved_orientation_in_yz(Vec3 u, Vec3 v, Vec3 p) {
  if (const int sign = orientation_in_yz(u, v, p)) return sign;
  if (const int sign = sign_of(u.z - v.z)) return sign;
  return sign_of(v.y - u.y);
}

/// Whether the line along x through p, moved, passes through the triangle: sign of the x of (b − a) × (c − a), or 0.
FATHOM_HD inline int passing(Vec3 a, Vec3 b, Vec3 c, Vec3 p) {
  const int side = moved_orientation_in_yz(a, b, p);
  return side != 0 && side == moved_orientation_in_yz(b, c, p) && side == moved_orientation_in_yz(c, a, p) ? side : 0;
}

/// Sign of the determinant of a, b and c, all less p: positive where (b − a) × (c − a) points away from p's side.
FATHOM_HD inline int orientation(Vec3 a, Vec3 b, Vec3 c, Vec3 p) {
  constexpr double kError = (7 + 56 * 0x1p-53) * 0x1p-53;
  const Vec3 u = a - p, v = b - p, w = c - p;
  const double vw = v.y * w.z, wv = w.y * v.z, wu = w.y * u.z, uw = u.y * w.z, uv = u.y * v.z, vu = v.y * u.z;
  const double determinant = (u.x * (vw - wv) + v.x * (wu - uw)) + w.x * (uv - vu);
  const double bound =
      kError * ((std::fabs(u.x) * (std::fabs(vw) + std::fabs(wv)) + std::fabs(v.x) * (std::fabs(wu) + std::fabs(uw))) +
                std::fabs(w.x) * (std::fabs(uv) + std::fabs(vu)));
  if (std::fabs(determinant) > bound || bound == 0) return sign_of(determinant);
  const TwoFloats less[3][3] = {{two_sum(a.x, -p.x), two_sum(a.y, -p.y), two_sum(a.z, -p.z)},
                                {two_sum(b.x, -p.x), two_sum(b.y, -p.y), two_sum(b.z, -p.z)},
                                {two_sum(c.x, -p.x), two_sum(c.y, -p.y), two_sum(c.z, -p.z)}};
  ExactSum sum;
  for (int of_x = 0; of_x < 3; ++of_x)
    for (int parts = 0; parts < 8; ++parts) {
      const int next = (of_x + 1) % 3, last = (of_x + 2) % 3, i = parts & 1, j = parts >> 1 & 1, k = parts >> 2;
      sum.add_product(less[next][1].part[j], less[last][2].part[k], less[of_x][0].part[i]);
      sum.add_product(-less[last][1].part[j], less[next][2].part[k], less[of_x][0].part[i]);
    }
  return sum.sign();
}

/// Whether the line along x through p, moved, meets a triangle that it passes in `direction` no farther along x than p.
FATHOM_HD inline bool meets_before(Vec3 a, Vec3 b, Vec3 c, int direction, Vec3 p) {
  return direction * orientation(a, b, c, p) <= 0;
}

}  // namespace fathom::mesh
