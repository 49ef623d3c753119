// On which side of the surface a point is, by each sign. Shared by host and device: same answers everywhere.
#pragma once

#include "mesh/winding.hd.h"

namespace fathom::mesh {

/// Solid angle of a block's triangles.
FATHOM_HD inline double solid_angle_of_block(const TreeView& tree, std::int64_t number, Vec3 point) {
  const auto& x = tree.mesh.blocks[number].corners;
  double halves[kFan];
  for (int i = 0; i < kFan; ++i)
    halves[i] = half_solid_angle(Vec3{x[0][i], x[1][i], x[2][i]} - point, Vec3{x[3][i], x[4][i], x[5][i]} - point,
                                 Vec3{x[6][i], x[7][i], x[8][i]} - point);
  double sum = 0;
  for (int i = 0; i < kFan; ++i) sum += tree.turns[number * kFan + i] * halves[i];
  return 2 * sum;
}

/// The generalised winding number: 1 inside and 0 outside of closed surfaces that run counter-clockwise seen from outside;
/// of others, a number between that changes by 1 across the surface and by nothing elsewhere. Each node's share is summed
/// in the order of its children. Cost: O(log n).
FATHOM_HD inline double generalised_winding(const TreeView& tree, Vec3 point) {
  constexpr double kPerTurn = 0.25 / 3.141592653589793;
  struct Node {
    std::int64_t group;
    double angles[kFan], sum;
    unsigned near;
    int next;
  } nodes[kMostLevels];
  const auto enter = [&](int level, std::int64_t group) {
    Node& node = nodes[level];
    node.group = group;
    node.sum = 0;
    node.near = 0;
    node.next = 0;
    for (int i = 0; i < kFan; ++i) {
      bool is_near;
      node.angles[i] = solid_angle(tree.clusters[level][group], i, point, is_near);
      node.near |= static_cast<unsigned>(is_near) << i;
    }
  };
  int level = tree.level_count - 1;
  enter(level, 0);
  for (;;) {
    Node& node = nodes[level];
    if (node.next == kFan) {
      if (++level == tree.level_count) return node.sum * kPerTurn;
      nodes[level].sum += node.sum;
      continue;
    }
    const int i = node.next++;
    if (!(node.near >> i & 1)) node.sum += node.angles[i];
    else if (level == 0) node.sum += solid_angle_of_block(tree, node.group * kFan + i, point);
    else enter(--level, node.group * kFan + i);
  }
}

/// @param place  of the point's nearest triangle: only pseudonormals need it
FATHOM_HD inline bool is_inside(const TreeView& tree, Vec3 point, std::int64_t place) {
  switch (tree.sign) {
    case Sign::pseudonormal: return is_behind(tree.mesh, place, point);
    case Sign::winding: return is_inside(winding_at(tree, point), tree.rule);
    case Sign::fast_winding: return generalised_winding(tree, point) >= 0.5;
    default: return false;
  }
}

}  // namespace fathom::mesh
