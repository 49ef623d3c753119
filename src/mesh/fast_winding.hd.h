// The generalised winding number of triangles near a point, and of clusters of them far from it. Shared by host and device:
// same bits everywhere.
//
// A triangle's share is its solid angle; a cluster's is a Taylor series about its middle, of three terms. With r from the
// point to the middle, d = |r| and u = r/d the solid angle is
//   N(u)/d² − 3·M(u)/d³ + 7.5·Q(u)/d⁴, with the polynomials N = ∫ n·u, M = ∫ (n·u)(x·u), Q = ∫ (n·u)(x·u)² over the
// surface, x from the middle, without the parts of M and Q that the Laplacian does not make 0: no point sees them.
//
// Source: Barill, Dickson, Schmidt, Levin & Jacobson, Fast winding numbers for soups and clouds, 2018; Van Oosterom &
// Strackee, The solid angle of a plane triangle, 1983.
#pragma once

#include "mesh/arctangent.hd.h"
#include "mesh/triangle.hd.h"

namespace fathom::mesh {

/// Half the solid angle of a triangle with corners a, b and c, all less the point: positive if (b − a) × (c − a) points away
/// from the point.
FATHOM_HD inline double half_solid_angle(Vec3 a, Vec3 b, Vec3 c) {
  const double of_a = std::sqrt(dot(a, a)), of_b = std::sqrt(dot(b, b)), of_c = std::sqrt(dot(c, c));
  return arctangent(dot(a, cross(b, c)),
                    ((of_a * of_b) * of_c + dot(a, b) * of_c) + (dot(b, c) * of_a + dot(a, c) * of_b));
}

/// Numbers of kSiblings clusters under one node of a tree.
struct Clusters {
  static constexpr int kSiblings = 8;
  double middle[3][kSiblings];
  double near[kSiblings];       ///< square of the distance up to which the series does not hold
  double first[3][kSiblings];   ///< N: x, y, z
  double second[6][kSiblings];  ///< −3·M: xx, yy, zz, xy, xz, yz
  double third[10][kSiblings];  ///< 7.5·Q: xxx, yyy, zzz, xxy, xxz, yyx, yyz, zzx, zzy, xyz
};

/// Solid angle of cluster i.
/// @param is_near  set: whether it must be looked into instead
FATHOM_HD inline double solid_angle(const Clusters& clusters, int i, Vec3 point, bool& is_near) {
  const Vec3 r{clusters.middle[0][i] - point.x, clusters.middle[1][i] - point.y, clusters.middle[2][i] - point.z};
  const double squared = dot(r, r), per = squared > 0 ? 1 / std::sqrt(squared) : 0;
  is_near = squared <= clusters.near[i];
  const double x = r.x * per, y = r.y * per, z = r.z * per;
  const auto& n = clusters.first;
  const auto& m = clusters.second;
  const auto& q = clusters.third;
  const double first = (n[0][i] * x + n[1][i] * y) + n[2][i] * z;
  const double second = ((m[0][i] * x + m[3][i] * y) * x + (m[1][i] * y + m[5][i] * z) * y) + (m[2][i] * z + m[4][i] * x) * z;
  const double third = (((q[0][i] * x + q[3][i] * y) + q[4][i] * z) * (x * x) +
                        ((q[5][i] * x + q[1][i] * y) + q[6][i] * z) * (y * y)) +
                       (((q[7][i] * x + q[8][i] * y) + q[2][i] * z) * (z * z) + q[9][i] * ((x * y) * z));
  return ((third * per + second) * per + first) * (per * per);
}

}  // namespace fathom::mesh
