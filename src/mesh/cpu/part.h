// Parts of triangles: what is left of them after cuts through a corner and the side across.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "mesh/triangle.hd.h"

namespace fathom::mesh::cpu {

using PartCorners = std::array<Vec3, 3>;

inline PartCorners corners_of(const Triangle& triangle) { return {triangle.a, triangle.b, triangle.c}; }

inline double squared_distance(Vec3 p, Vec3 q) { return dot(q - p, q - p); }

inline Vec3 middle(const PartCorners& c) { return c[0] + (1.0 / 3) * ((c[1] - c[0]) + (c[2] - c[0])); }

/// Side k runs from corner k to the next.
inline std::size_t longest_side(const PartCorners& c) {
  std::size_t longest = 0;
  double squares[3];
  for (std::size_t k = 0; k < 3; ++k) {
    squares[k] = squared_distance(c[k], c[(k + 1) % 3]);
    if (squares[k] > squares[longest]) longest = k;
  }
  return longest;
}

inline double area_of(const PartCorners& c) {
  const Vec3 normal = cross(c[1] - c[0], c[2] - c[0]);
  return 0.5 * std::sqrt(dot(normal, normal));
}

}  // namespace fathom::mesh::cpu
