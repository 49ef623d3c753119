// Whether two triangles meet other than in corners and edges that they share: exactly, by signs of determinants.
//
// Triangles are closed: those that only touch, in a point or along a line, meet. All have an area, and coordinates
// that went through snapped().
// Source: Guigue & Devillers, Fast and robust triangle-triangle overlap test using orientation predicates, 2003.
// Departs in that sides are taken against triangles one after the other, in the plane, too: a shared corner or edge
// then needs few of them.
#pragma once

#include <array>
#include <cstdint>

#include "mesh/predicates.hd.h"
#include "mesh/surface.h"

namespace fathom::mesh {

using Facet = std::array<Vec3, 3>;

/// x, y, z become y, z, x so many times: predicates of y and z then look along another axis.
inline Vec3 turned(Vec3 p, int times) {
  return times == 0 ? p : times == 1 ? Vec3{p.y, p.z, p.x} : Vec3{p.z, p.x, p.y};
}

/// Points in a plane, seen along an axis.
struct Seen {
  int along = 0;
  int side(Vec3 u, Vec3 v, Vec3 p) const {
    return orientation_in_yz(turned(u, along), turned(v, along), turned(p, along));
  }
};

/// Of a triangle: along an axis from which it has an area; beyond them all if it has none.
inline Seen seen(const Facet& t) {
  Seen seen;
  while (seen.along < 3 && seen.side(t[0], t[1], t[2]) == 0) ++seen.along;
  return seen;
}
inline bool has_area(const Facet& t) { return seen(t).along < 3; }

/// None to the left while one is to the right.
inline bool agree(int a, int b, int c) { return (a >= 0 && b >= 0 && c >= 0) || (a <= 0 && b <= 0 && c <= 0); }

/// A point in the triangle's plane.
inline bool holds(const Facet& t, Vec3 p, Seen seen) {
  return agree(seen.side(t[0], t[1], p), seen.side(t[1], t[2], p), seen.side(t[2], t[0], p));
}

/// A segment in the triangle's plane. One that runs along a side meets another side, too, or begins or ends within.
inline bool meets_in_plane(Vec3 p, Vec3 q, const Facet& t) {
  const Seen view = seen(t);
  if (holds(t, p, view) || holds(t, q, view)) return true;
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec3 a = t[k], b = t[(k + 1) % 3];
    const int of_p = view.side(a, b, p), of_q = view.side(a, b, q);
    if (of_p * of_q <= 0 && (of_p != 0 || of_q != 0) && view.side(p, q, a) * view.side(p, q, b) <= 0) return true;
  }
  return false;
}

/// Whether a segment meets a triangle, of whose plane its ends are on these sides.
inline bool meets(Vec3 p, Vec3 q, int side_of_p, int side_of_q, const Facet& t) {
  if (side_of_p * side_of_q > 0) return false;
  if (side_of_p == 0 && side_of_q == 0) return meets_in_plane(p, q, t);
  if (side_of_p == 0 || side_of_q == 0) return holds(t, side_of_p == 0 ? p : q, seen(t));
  return agree(orientation(p, q, t[0], t[1]), orientation(p, q, t[1], t[2]), orientation(p, q, t[2], t[0]));
}

inline int side_of(const Facet& t, Vec3 p) { return orientation(t[0], t[1], t[2], p); }

/// Triangles without a common corner: a side of one meets the other.
inline bool meet_anywhere(const Facet& s, const Facet& t) {
  int sides[2][3];
  for (std::size_t k = 0; k < 3; ++k) sides[0][k] = side_of(t, s[k]);
  if (sides[0][0] * sides[0][1] > 0 && sides[0][1] * sides[0][2] > 0) return false;
  for (std::size_t k = 0; k < 3; ++k) sides[1][k] = side_of(s, t[k]);
  if (sides[1][0] * sides[1][1] > 0 && sides[1][1] * sides[1][2] > 0) return false;
  for (std::size_t k = 0, next = 1; k < 3; ++k, next = (next + 1) % 3)
    if (meets(s[k], s[next], sides[0][k], sides[0][next], t) || meets(t[k], t[next], sides[1][k], sides[1][next], s))
      return true;
  return false;
}

/// Triangles with one common corner, `s[i]` and `t[j]`. From there a common point leads on to the side across, in one
/// of them first.
inline bool meet_beside_corner(const Facet& s, std::size_t i, const Facet& t, std::size_t j) {
  const auto across_meets = [](const Facet& a, std::size_t corner, const Facet& b) {
    const Vec3 p = a[(corner + 1) % 3], q = a[(corner + 2) % 3];
    const int of_p = side_of(b, p), of_q = side_of(b, q);
    return of_p * of_q <= 0 && meets(p, q, of_p, of_q, b);
  };
  return across_meets(s, i, t) || across_meets(t, j, s);
}

/// Triangles with a common edge, across from `p` in `t`, whose other corner is `q`: only if one is folded onto the
/// other.
inline bool meet_beside_edge(const Facet& t, std::size_t p, Vec3 q) {
  if (side_of(t, q) != 0) return false;
  const Seen view = seen(t);
  const Vec3 u = t[(p + 1) % 3], v = t[(p + 2) % 3];
  return view.side(u, v, t[p]) == view.side(u, v, q);
}

/// @param of_s  numbers of the corners of s: equal ones are common
inline bool meet(const Facet& s, const Corners& of_s, const Facet& t, const Corners& of_t) {
  std::size_t common = 0, last_s = 0, last_t = 0, sum_s = 0, sum_t = 0;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      if (of_s[i] != of_t[j]) continue;
      ++common;
      sum_s += last_s = i;
      sum_t += last_t = j;
    }
  switch (common) {
    case 0: return meet_anywhere(s, t);
    case 1: return meet_beside_corner(s, last_s, t, last_t);
    case 2: return meet_beside_edge(s, 3 - sum_s, t[3 - sum_t]);
    default: return true;
  }
}

}  // namespace fathom::mesh
