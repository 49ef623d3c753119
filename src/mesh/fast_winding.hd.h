// The generalised winding number of triangles near a point, and of clusters of them far from it. Shared by host and
// device: same bits everywhere.
//
// A triangle's share is its solid angle; a cluster's is a Taylor series about its middle, of three terms. With r from
// the point to the middle, d = |r| and u = r/d the solid angle is
//   N(u)/d² − 3·M(u)/d³ + 7.5·Q(u)/d⁴, with the polynomials N = ∫ n·u, M = ∫ (n·u)(x·u), Q = ∫ (n·u)(x·u)² over the
// surface, x from the middle, without the parts of M and Q that the Laplacian does not make 0: no point sees them.
//
// Source: Barill, Dickson, Schmidt, Levin & Jacobson, Fast winding numbers for soups and clouds, 2018; Van Oosterom &
// Strackee, The solid angle of a plane triangle, 1983.
#pragma once

#include <cstdint>

#include "core/arctangent.hd.h"
#include "mesh/block.hd.h"

namespace fathom::mesh {

/// Half the solid angle of a triangle with corners a, b and c, all less the point: positive if (b − a) × (c − a) points
/// away from the point.
FATHOM_HD inline double half_solid_angle(Vec3 a, Vec3 b, Vec3 c) {
  const double of_a = std::sqrt(dot(a, a)), of_b = std::sqrt(dot(b, b)), of_c = std::sqrt(dot(c, c));
  return arctangent(dot(a, cross(b, c)),
                    ((of_a * of_b) * of_c + dot(a, b) * of_c) + (dot(b, c) * of_a + dot(a, c) * of_b));
}

/// A cluster's series holds for points that are so many of its radii away. Error of winding numbers, measured on
/// surfaces and soups against sums over all triangles: below 2e-3, and below 2e-2 for the coarse one; k sheets on one
/// another have k times as much.
inline constexpr double kReach = 2.5, kCoarseReach = 1.5;
/// Coarse winding numbers that are so far from ½ are on the right side of it.
inline constexpr double kCoarseMargin = 0.25;

/// Triangles under a node of a tree, as points far away see them.
struct Cluster {
  Vec3 middle;
  double squared_radius = 0;
  double first[3]{};   ///< N: x, y, z
  double second[6]{};  ///< −3·M: xx, yy, zz, xy, xz, yz
  double third[10]{};  ///< 7.5·Q: xxx, yyy, zzz, xxy, xxz, yyx, yyz, zzx, zzy, xyz

  FATHOM_HD bool is_far(Vec3 point, double squared_reach) const {
    return !(dot(middle - point, middle - point) <= squared_reach * squared_radius);
  }

  /// @param point  far
  FATHOM_HD double solid_angle(Vec3 point) const {
    const Vec3 r = middle - point;
    const double per = 1 / std::sqrt(dot(r, r));
    const auto [x, y, z] = per * r;
    const auto& n = first;
    const auto& m = second;
    const auto& q = third;
    const double linear = (n[0] * x + n[1] * y) + n[2] * z;
    const double quadratic = ((m[0] * x + m[3] * y) * x + (m[1] * y + m[5] * z) * y) + (m[2] * z + m[4] * x) * z;
    const double cubic = (((q[0] * x + q[3] * y) + q[4] * z) * (x * x) + ((q[5] * x + q[1] * y) + q[6] * z) * (y * y)) +
                         (((q[7] * x + q[8] * y) + q[2] * z) * (z * z) + q[9] * ((x * y) * z));
    return ((cubic * per + quadratic) * per + linear) * (per * per);
  }
};

/// Clusters over the blocks of a tree, in whatever memory.
struct ClusterTree {
  const Block* blocks = nullptr;
  const std::int8_t* turns =
      nullptr;  ///< [place]: 1; −1 where a caller's corners run the other way; 0 without a triangle
  const Cluster* levels[kMostLevels] =
      {};  ///< of the blocks first; the children of node i are nodes 8i … 8i + 7 below it
  std::int64_t sizes[kMostLevels] = {};  ///< nodes
  int level_count = 0;
};

FATHOM_HD inline double solid_angle_of_block(const ClusterTree& tree, std::int64_t block, Vec3 point) {
  const std::int8_t* const turns = tree.turns + block * kFan;
  double sum = 0;
  for (int i = 0; i < kFan && turns[i] != 0; ++i) {
    const Triangle t = triangle_at(tree.blocks[block], i);
    sum += turns[i] * half_solid_angle(t.a - point, t.b - point, t.c - point);
  }
  return 2 * sum;
}

/// 1 inside and 0 outside of closed surfaces that run counter-clockwise seen from outside; around others a number that
/// changes by 1 across the surface and by nothing suddenly elsewhere. Each node's share is a sum of its own, in the
/// order of its children.
FATHOM_HD inline double generalised_winding(const ClusterTree& tree, Vec3 point, double reach) {
  constexpr double kOfTurn = 0.25 / 3.141592653589793;
  struct Share {
    std::int64_t next, end;  ///< nodes
    double sum;
  } shares[kMostLevels];
  int level = tree.level_count - 1;
  shares[level] = {0, tree.sizes[level], 0};
  for (;;) {
    Share& share = shares[level];
    if (share.next == share.end) {
      if (++level == tree.level_count) return share.sum * kOfTurn;
      shares[level].sum += share.sum;
      continue;
    }
    const std::int64_t node = share.next++;
    const Cluster& cluster = tree.levels[level][node];
    if (cluster.is_far(point, reach * reach)) {
      share.sum += cluster.solid_angle(point);
    } else if (level == 0) {
      share.sum += solid_angle_of_block(tree, node, point);
    } else {
      const std::int64_t first = node * kFan, size = tree.sizes[--level];
      shares[level] = {first, first + kFan < size ? first + kFan : size, 0};
    }
  }
}

/// Whether the number is ½ or more.
FATHOM_HD inline bool is_half_inside(const ClusterTree& tree, Vec3 point) {
  const double coarse = generalised_winding(tree, point, kCoarseReach);
  return (std::fabs(coarse - 0.5) > kCoarseMargin ? coarse : generalised_winding(tree, point, kReach)) >= 0.5;
}

}  // namespace fathom::mesh
