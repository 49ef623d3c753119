// What the front hands to an algorithm of narrow bands. Shared by host and device.
#pragma once

#include "published/primitives.hd.h"

namespace fathom::published {

struct BandProblem {
  Grid grid;
  Primitives mesh;
  double cutoff;
  double limit;    ///< the largest square whose root is no larger than the cutoff
  double slack;    ///< by which boxes and balls are larger, for what is rounded: far below a step
  bool corrected;  ///< of the octree's enumeration

  FATHOM_HD double reach() const { return cutoff + slack; }
  FATHOM_HD bool holds(int axis, std::int64_t i) const { return i >= 0 && i < grid.shape[axis]; }
  /// A coordinate in steps of the lattice.
  FATHOM_HD double steps(int axis, double x) const { return (x - grid.origin[axis]) / grid.spacing[axis]; }
};

FATHOM_HD inline double coordinate(Vec3 point, int axis) { return axis == 0 ? point.x : axis == 1 ? point.y : point.z; }

/// A place in the lattice, or an offset there.
struct Place {
  std::int64_t at[3];
};

/// Places from `low` on, `size` along each axis, counted x fastest.
struct Box {
  std::int64_t low[3], size[3];

  FATHOM_HD std::int64_t count() const { return size[0] * size[1] * size[2]; }
  FATHOM_HD Place place(std::int64_t number) const {
    return {{low[0] + number % size[0], low[1] + number / size[0] % size[1], low[2] + number / size[0] / size[1]}};
  }
};

/// The lattice's places between two corners.
FATHOM_HD inline Box box_between(const BandProblem& problem, const double (&low)[3], const double (&high)[3]) {
  Box box;
  for (int k = 0; k < 3; ++k) {
    const double first = std::ceil(problem.steps(k, low[k])), last = std::floor(problem.steps(k, high[k])),
                 most = static_cast<double>(problem.grid.shape[k] - 1);
    const double from = first > 0 ? first : 0, to = last < most ? last : most;
    box.low[k] = static_cast<std::int64_t>(from);
    box.size[k] = to >= from ? static_cast<std::int64_t>(to - from) + 1 : 0;
  }
  return box;
}

/// That holds all places beside a face, if it is one, within the cutoff: of the six corners of a prism.
FATHOM_HD inline Box box_of_face(const BandProblem& problem, std::int64_t number) {
  const mesh::Triangle& t = problem.mesh.faces[number];
  const Vec3 ab = t.b - t.a, ac = t.c - t.a, bc = t.c - t.b, normal = mesh::cross(ab, ac);
  const double ab2 = mesh::dot(ab, ab), ac2 = mesh::dot(ac, ac), bc2 = mesh::dot(bc, bc);
  const double longest = ab2 > ac2 ? (ab2 > bc2 ? ab2 : bc2) : (ac2 > bc2 ? ac2 : bc2);
  const double height = std::sqrt(mesh::reach_of(problem.limit, longest) * t.per_normal);
  double low[3], high[3];
  for (int k = 0; k < 3; ++k) {
    const double a = coordinate(t.a, k), b = coordinate(t.b, k), c = coordinate(t.c, k);
    const double beside = std::abs(height * coordinate(normal, k)) + problem.slack;
    low[k] = (a < b ? (a < c ? a : c) : (b < c ? b : c)) - beside;
    high[k] = (a > b ? (a > c ? a : c) : (b > c ? b : c)) + beside;
  }
  Box box = box_between(problem, low, high);
  if (!(t.per_normal > 0)) box.size[0] = 0;
  return box;
}

}  // namespace fathom::published
