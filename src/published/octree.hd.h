// Narrow bands in an octree: what a thread does. cpu/octree.cpp and cuda/octree.cu say who does it when.
//
// Source: J. Landgraf, "Constructing 3D Distance Fields on GPUs", 2016, chapter 2. Each vertex, edge and face lists the
// points of the lattice that it may be within the cutoff of, and hands their distances to an octree that all share:
//   1. points: a thread walks the ball around a vertex from its middle outward, so that it can stop at the rim
//      (section 2.2);
//   2. edges: a team finds the lattice points next to the edge, one for each step along the axis that it is most
//   aligned
//      with, its starting points; lists once which offsets a chunk of the cylinder has; and pastes these offsets around
//      each starting point (section 2.3);
//   3. faces: a team tests all points of a box around the prism over the face (section 2.4).
// Nodes of the tree are made when a point first needs them: whoever swaps a reference from 0 to a lock takes room by an
// atomic addition, the others wait for the reference (section 2.1).
// Cost: O(log n) for each point that is handed over; 32 bytes a node, 8 a leaf.
//
// As published, points are missed: starting points end with the edge, so that the last of what is beside it may be in
// no chunk (section 5.1 expects so), short edges may have none at all; and the middle of a ball's lowest and highest
// index may be outside of a thin slice that has another point inside. Corrected, starting points go on beyond both
// ends, and a walk starts at the index next to the vertex.
// Departs in that distances are Fathom's, in float64 (primitives.hd.h), so that leaves have 8 bytes, not 4, and places
// in the tree are counted in units of 8 bytes; in that the tree is not given 85 % of a device's memory, but as much as
// the area of the mesh lets expect, and four times as much whenever that was too little; in that balls, chunks and
// boxes are larger by what may have been rounded; and in that the text's interpolation along an edge, which weights
// both ends wrongly, is the right one.
#pragma once

#include <cstring>

#include "published/band_problem.hd.h"

namespace fathom::published {

// The tree

inline constexpr unsigned kUnset = 0, kLocked = ~0u;           ///< references to what is not there, or not yet
inline constexpr unsigned kNodeUnits = 4, kLeafUnits = 1;      ///< of 8 bytes: eight references, or a square
inline constexpr unsigned long long kMostUnits = 0xFFFFFFFFu;  ///< that references count

/// Places of the lattice that a node stands for.
struct Region {
  std::int64_t low[3], size[3];

  /// Goes over to the octant that a place is in. @returns which one
  FATHOM_HD unsigned enter(const Place& place) {
    unsigned octant = 0;
    for (int k = 0; k < 3; ++k) {
      const std::int64_t half = (size[k] + 1) / 2;
      const bool is_upper = place.at[k] - low[k] >= half;
      octant |= static_cast<unsigned>(is_upper) << k;
      low[k] += is_upper ? half : 0;
      size[k] = is_upper ? size[k] - half : half;
    }
    return octant;
  }
  FATHOM_HD bool is_point() const { return size[0] == 1 && size[1] == 1 && size[2] == 1; }
};

/// Memory that was zeroed, of which the root has the first units. More may have been asked for than there is.
struct Octree {
  unsigned long long* units;
  unsigned long long* used;
  unsigned long long capacity;
  Region whole;

  FATHOM_HD unsigned* references(unsigned node) const { return reinterpret_cast<unsigned*>(units + node); }
};

FATHOM_HD inline unsigned long long bits_of(double squared) {
  unsigned long long bits;
  memcpy(&bits, &squared, sizeof bits);
  return bits;
}

/// Finds what a reference leads to, or makes it: a node, or a leaf with a square.
/// @tparam Memory  atomic operations of the host or the device
/// @returns its first unit; kUnset: the tree is full
template <class Memory>
FATHOM_HD unsigned follow(const Octree& tree, unsigned* reference, bool is_leaf, double squared) {
  for (;;) {
    const unsigned known = Memory::load(reference);
    if (known != kUnset && known != kLocked) return known;
    if (known == kLocked || Memory::swap_if(reference, kUnset, kLocked) != kUnset) continue;
    const unsigned size = is_leaf ? kLeafUnits : kNodeUnits;
    const unsigned long long taken = Memory::add(tree.used, size);
    const bool fits = taken + size <= tree.capacity;
    if (fits && is_leaf) tree.units[taken] = bits_of(squared);
    const unsigned made = fits ? static_cast<unsigned>(taken) : kUnset;
    Memory::publish(reference, made);
    return made;
  }
}

/// Keeps a square if it is the least of its place so far. Squares are not negative, so their bits are in their order.
template <class Memory>
FATHOM_HD void keep_least(const Octree& tree, const Place& place, double squared) {
  Region region = tree.whole;
  unsigned at = 0;
  do {
    unsigned* const reference = tree.references(at) + region.enter(place);
    at = follow<Memory>(tree, reference, region.is_point(), squared);
    if (at == kUnset) return;
  } while (!region.is_point());
  unsigned long long* const leaf = tree.units + at;
  const unsigned long long bits = bits_of(squared);
  for (unsigned long long known = Memory::load(leaf); bits < known;) {
    const unsigned long long seen = Memory::swap_if(leaf, known, bits);
    if (seen == known) return;
    known = seen;
  }
}

// 1. Points

/// visit(i) from the middle on, upward and then downward, as long as it says so.
template <class Visit>
FATHOM_HD void outward(std::int64_t middle, const Visit& visit) {
  for (std::int64_t i = middle; visit(i); ++i) continue;
  for (std::int64_t i = middle - 1; visit(i); --i) continue;
}

/// Where a walk through the ball around a vertex starts along an axis.
FATHOM_HD inline std::int64_t middle_of_ball(const BandProblem& problem, int axis, double centre) {
  if (problem.corrected) return static_cast<std::int64_t>(std::floor(problem.steps(axis, centre) + .5));
  const double lowest = std::ceil(problem.steps(axis, centre - problem.reach())),
               highest = std::floor(problem.steps(axis, centre + problem.reach()));
  return static_cast<std::int64_t>(std::floor((lowest + highest) / 2));
}

/// @param sink  sink(place, squared) gets what is within the cutoff
/// @returns points that were looked at
template <class Sink>
FATHOM_HD std::int64_t walk_ball(const BandProblem& problem, std::int64_t number, const Sink& sink) {
  const Owners& owners = problem.mesh.of_vertices;
  if (owners.starts[number] == owners.starts[number + 1]) return 0;
  const Vec3 centre = problem.mesh.vertices[number];
  const double reach = problem.reach(), most = reach * reach, infinite = Primitives::nothing();
  const double low[3] = {centre.x - reach, -infinite, -infinite}, high[3] = {centre.x + reach, infinite, infinite};
  const Box slices = box_between(problem, low, high);
  const std::int64_t middle_y = middle_of_ball(problem, 1, centre.y), middle_z = middle_of_ball(problem, 2, centre.z);
  std::int64_t visited = 0;
  for (std::int64_t x = slices.low[0]; x < slices.low[0] + slices.size[0]; ++x) {
    const double dx = problem.grid.at(0, x) - centre.x;
    outward(middle_y, [&](std::int64_t y) {
      const double dy = problem.grid.at(1, y) - centre.y, of_row = dx * dx + dy * dy;
      if (of_row > most) return false;
      if (problem.holds(1, y))
        outward(middle_z, [&](std::int64_t z) {
          const double dz = problem.grid.at(2, z) - centre.z;
          if (of_row + dz * dz > most) return false;
          if (!problem.holds(2, z)) return true;
          ++visited;
          const double squared = problem.mesh.squared_to_vertex(number, problem.grid.point(x, y, z), problem.limit);
          if (squared <= problem.limit) sink(Place{{x, y, z}}, squared);
          return true;
        });
      return true;
    });
  }
  return visited;
}

// 2. Edges

/// An edge in steps of the lattice, and its starting points: from `first` to `last` along the axis that it is most
/// aligned with.
struct EdgeWalk {
  int major;
  std::int64_t first, last;
  double from[3], slope[3];  ///< of the edge's line: where it begins, and how far it goes with a step along `major`
  Vec3 unit, spacing;
  double around;   ///< how far from the line a chunk reaches
  double one_gap;  ///< from a starting point to the next, if there is one alone
  double slack;

  FATHOM_HD Place start(std::int64_t k) const {
    Place place;
    for (int axis = 0; axis < 3; ++axis) {
      const double at = from[axis] + (static_cast<double>(k) - from[major]) * slope[axis];
      place.at[axis] = axis == major ? k : static_cast<std::int64_t>(std::floor(at + .5));
    }
    return place;
  }
  FATHOM_HD Vec3 way(const Place& offset) const {
    return {static_cast<double>(offset.at[0]) * spacing.x, static_cast<double>(offset.at[1]) * spacing.y,
            static_cast<double>(offset.at[2]) * spacing.z};
  }
  /// From a starting point to the next, squared.
  FATHOM_HD double gap_squared(std::int64_t k) const {
    const Vec3 gap = way(start(k + 1)) - way(start(k));
    return mesh::dot(gap, gap);
  }
  FATHOM_HD double half_length(double largest_gap) const {
    return (largest_gap > 0 ? largest_gap : one_gap) / 2 + slack;
  }
  /// Around a chunk whose middle is a lattice point on the line.
  FATHOM_HD Box box_of_chunk(double half) const {
    Box box;
    for (int k = 0; k < 3; ++k) {
      const auto most = static_cast<std::int64_t>(std::sqrt(around * around + half * half) / coordinate(spacing, k));
      box.low[k] = -most;
      box.size[k] = 2 * most + 1;
    }
    return box;
  }
  /// Whether an offset from the middle is in the chunk: it, and its way along the line.
  FATHOM_HD bool is_in_chunk(const Place& offset, double half) const {
    const Vec3 away = way(offset);
    return mesh::dot(away, away) <= around * around + half * half && std::abs(mesh::dot(away, unit)) <= half;
  }
};

FATHOM_HD inline EdgeWalk walk_along(const BandProblem& problem, std::int64_t number) {
  const Edge& edge = problem.mesh.edges[number];
  const Vec3 from = problem.mesh.vertices[edge.from], to = problem.mesh.vertices[edge.to], way = to - from;
  const double(&h)[3] = problem.grid.spacing;
  EdgeWalk walk{};
  for (int k = 0; k < 3; ++k) {
    walk.from[k] = problem.steps(k, coordinate(from, k));
    walk.slope[k] = coordinate(way, k) / h[k];
    if (std::abs(walk.slope[k]) > std::abs(walk.slope[walk.major])) walk.major = k;
  }
  walk.last = -1;
  if (!(edge.per > 0)) return walk;
  const double length = std::sqrt(mesh::dot(way, way)), along = walk.slope[walk.major];
  walk.unit = (1 / length) * way;
  walk.spacing = {h[0], h[1], h[2]};
  walk.slack = problem.slack;
  walk.one_gap = length / std::abs(along);
  for (double& slope : walk.slope) slope /= along;
  // Starting points are beside the line by half a step of the other axes.
  const double beside = std::sqrt(h[0] * h[0] + h[1] * h[1] + h[2] * h[2] - h[walk.major] * h[walk.major]) / 2;
  walk.around = problem.reach() + beside;
  const double more = problem.corrected ? 2 + std::floor(beside / walk.one_gap) : 0;
  const double begin = walk.from[walk.major], end = begin + along;
  const double first = std::ceil(begin < end ? begin : end) - more, last = std::floor(begin < end ? end : begin) + more;
  // No others reach into the lattice.
  const double reach = (walk.around + h[0] + h[1] + h[2]) / h[walk.major] + 1,
               most = static_cast<double>(problem.grid.shape[walk.major]) + reach;
  walk.first = static_cast<std::int64_t>(first > -reach ? first : std::floor(-reach));
  walk.last = static_cast<std::int64_t>(last < most ? last : std::ceil(most));
  return walk;
}

/// A point of the chunk at one of an edge's starting points. @returns points that were looked at
template <class Sink>
FATHOM_HD int paste(const BandProblem& problem, std::int64_t number, const Place& start, const Place& offset,
                    const Sink& sink) {
  const Place place{{start.at[0] + offset.at[0], start.at[1] + offset.at[1], start.at[2] + offset.at[2]}};
  for (int k = 0; k < 3; ++k)
    if (!problem.holds(k, place.at[k])) return 0;
  const Vec3 point = problem.grid.point(place.at[0], place.at[1], place.at[2]);
  const double squared = problem.mesh.squared_to_edge(number, point, problem.limit);
  if (squared <= problem.limit) sink(place, squared);
  return 1;
}

// 3. Faces

/// A place of the box around a face's prism.
template <class Sink>
FATHOM_HD void try_face(const BandProblem& problem, std::int64_t number, const Place& place, const Sink& sink) {
  const Vec3 point = problem.grid.point(place.at[0], place.at[1], place.at[2]);
  const double squared = problem.mesh.squared_to_face(number, point, problem.limit);
  if (squared <= problem.limit) sink(place, squared);
}

}  // namespace fathom::published
