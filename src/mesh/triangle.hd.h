// The numbers that decide: from a point to a triangle. Shared by host and device: same bits everywhere.
//
// All is computed in float64 from a, b and c, the corners less the point, and from differences of corners. Corners
// stand in ascending order of their vertices, so that triangles that share an edge or a vertex compute it by the same
// steps from the same numbers. The lanes of cpu/lanes-inl.h take these steps, too.
//
// Source: the regions of a triangle after Ericson, Real-Time Collision Detection, 2005, 5.1.5; departs in that edges
// are taken by themselves, each with both ends, for the sake of equal bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/root.hd.h"

namespace fathom::mesh {

struct Vec3 {
  double x = 0, y = 0, z = 0;

  FATHOM_HD friend Vec3 operator+(Vec3 p, Vec3 q) { return {p.x + q.x, p.y + q.y, p.z + q.z}; }
  FATHOM_HD friend Vec3 operator-(Vec3 p, Vec3 q) { return {p.x - q.x, p.y - q.y, p.z - q.z}; }
  FATHOM_HD friend Vec3 operator*(double s, Vec3 p) { return {s * p.x, s * p.y, s * p.z}; }
  FATHOM_HD friend bool operator==(Vec3 p, Vec3 q) { return p.x == q.x && p.y == q.y && p.z == q.z; }
};

FATHOM_HD inline double dot(Vec3 p, Vec3 q) { return (p.x * q.x + p.y * q.y) + p.z * q.z; }
FATHOM_HD inline Vec3 cross(Vec3 p, Vec3 q) {
  return {p.y * q.z - p.z * q.y, p.z * q.x - p.x * q.z, p.x * q.y - p.y * q.x};
}

/// Corners in ascending order of their vertices, and what follows from them. `per` is 1 over a square, 0 over none.
struct Triangle {
  Vec3 a, b, c;
  double per_normal = 0, per_ab = 0, per_ac = 0, per_bc = 0;
};

/// A triangle whose height is below 2⁻²⁵ of its longest side has no face: its normal would be noise, and its edges are
/// nearer than half that height.
inline constexpr double kLeastHeightSquared = 0x1p-50;
/// Squares below it have no reciprocal in float64: edges below 1e-150 are their ends, faces below 1e-73 their edges.
inline constexpr double kLeastSquare = 1e-300;
/// Vertices are no farther out, so that float64 holds the square of a normal.
inline constexpr double kLargestCoordinate = 1e70;

FATHOM_HD inline double reciprocal(double square) { return square > kLeastSquare ? 1 / square : 0; }

FATHOM_HD inline Triangle make_triangle(Vec3 a, Vec3 b, Vec3 c) {
  const Vec3 ab = b - a, ac = c - a, bc = c - b, normal = cross(ab, ac);
  const double ab2 = dot(ab, ab), ac2 = dot(ac, ac), bc2 = dot(bc, bc), normal2 = dot(normal, normal);
  const double longest = ab2 > ac2 ? (ab2 > bc2 ? ab2 : bc2) : (ac2 > bc2 ? ac2 : bc2);
  const bool has_face = normal2 > kLeastHeightSquared * (longest * longest);
  return {a, b, c, has_face ? reciprocal(normal2) : 0, reciprocal(ab2), reciprocal(ac2), reciprocal(bc2)};
}

/// A part of a triangle: corners count from the lowest vertex, as the triangle's do.
enum class Part : std::uint8_t { face, ab, ac, bc, a, b, c, unknown };

/// The nearest point of a triangle.
struct Nearest {
  double squared = std::numeric_limits<double>::infinity();
  Part part = Part::face;
  Vec3 way;             ///< from the point to it
  double weights[3]{};  ///< of a, b and c
};

/// An edge from u to v, both less the point: its inside, or nothing.
FATHOM_HD inline void meet_edge(Nearest& nearest, Vec3 u, Vec3 edge, double per, Part part, int from, int to) {
  const double along = (0 - dot(u, edge)) * per;
  if (!(along > 0 && along < 1)) return;
  const Vec3 way = u + along * edge;
  const double squared = dot(way, way);
  if (!(squared < nearest.squared)) return;
  nearest = {squared, part, way, {}};
  nearest.weights[from] = 1 - along;
  nearest.weights[to] = along;
}

FATHOM_HD inline void meet_corner(Nearest& nearest, Vec3 way, Part part, int corner) {
  const double squared = dot(way, way);
  if (!(squared < nearest.squared)) return;
  nearest = {squared, part, way, {}};
  nearest.weights[corner] = 1;
}

/// The face, if it has one and the point lies in the prism over it.
FATHOM_HD inline bool meet_face(Nearest& nearest, const Triangle& triangle, Vec3 point) {
  const Vec3 a = triangle.a - point, b = triangle.b - point;
  const Vec3 ab = triangle.b - triangle.a, ac = triangle.c - triangle.a, bc = triangle.c - triangle.b;
  const Vec3 normal = cross(ab, ac);
  // How far the point lies inward of each edge, times twice the area.
  const double of_c = 0 - dot(cross(normal, ab), a), of_b = 0 - dot(cross(ac, normal), a),
               of_a = 0 - dot(cross(normal, bc), b);
  if (!(triangle.per_normal > 0 && of_a >= 0 && of_b >= 0 && of_c >= 0)) return false;
  const double height = dot(a, normal);
  nearest.squared = (height * triangle.per_normal) * height;
  nearest.part = Part::face;
  nearest.way = (height * triangle.per_normal) * normal;
  nearest.weights[1] = of_b * triangle.per_normal;
  nearest.weights[2] = of_c * triangle.per_normal;
  nearest.weights[0] = (1 - nearest.weights[1]) - nearest.weights[2];
  return true;
}

FATHOM_HD inline Nearest nearest_of(const Triangle& triangle, Vec3 point) {
  Nearest nearest;
  if (meet_face(nearest, triangle, point)) return nearest;
  const Vec3 a = triangle.a - point, b = triangle.b - point, c = triangle.c - point;
  const Vec3 ab = triangle.b - triangle.a, ac = triangle.c - triangle.a, bc = triangle.c - triangle.b;
  meet_corner(nearest, a, Part::a, 0);
  meet_corner(nearest, b, Part::b, 1);
  meet_corner(nearest, c, Part::c, 2);
  meet_edge(nearest, a, ab, triangle.per_ab, Part::ab, 0, 1);
  meet_edge(nearest, a, ac, triangle.per_ac, Part::ac, 0, 2);
  meet_edge(nearest, b, bc, triangle.per_bc, Part::bc, 1, 2);
  return nearest;
}

/// The same for a point of which it is known what part is nearest.
/// @param normal  (b − a) × (c − a)
FATHOM_HD inline Nearest nearest_of(const Triangle& triangle, Vec3 normal, Part part, Vec3 point) {
  const Vec3 a = triangle.a - point, b = triangle.b - point;
  Nearest nearest;
  nearest.part = part;
  const auto on_edge = [&](Vec3 u, Vec3 edge, double per, int from, int to) {
    const double along = (0 - dot(u, edge)) * per;
    nearest.way = u + along * edge;
    nearest.weights[from] = 1 - along;
    nearest.weights[to] = along;
  };
  switch (part) {
    case Part::ab: on_edge(a, triangle.b - triangle.a, triangle.per_ab, 0, 1); break;
    case Part::ac: on_edge(a, triangle.c - triangle.a, triangle.per_ac, 0, 2); break;
    case Part::bc: on_edge(b, triangle.c - triangle.b, triangle.per_bc, 1, 2); break;
    case Part::a: nearest.way = a; break;
    case Part::b: nearest.way = b; break;
    case Part::c: nearest.way = triangle.c - point; break;
    default: {
      const double height = dot(a, normal);
      nearest.squared = (height * triangle.per_normal) * height;
      nearest.way = (height * triangle.per_normal) * normal;
      return nearest;
    }
  }
  nearest.squared = dot(nearest.way, nearest.way);
  return nearest;
}

/// Squares of bounds above which nothing can be nearer than `squared`. The formula's distance may fall short of the
/// true one: that of a plane by what is wrong with its normal, which for the flattest face is below 2⁻²⁴ of the way to
/// its corner, and that way is no longer than distance and longest side together. With y = 2⁻²²·longest,
/// (d + y)² ≤ (1 + 2⁻¹⁶)·d² + (1 + 2¹⁶)·y², and the rest of the margin is for the bound's own rounding.
FATHOM_HD inline double reach_of(double squared, double longest_squared) {
  return squared * (1 + 0x1p-15) + 0x1p-27 * longest_squared;
}

}  // namespace fathom::mesh
