// Jump flooding and sweeps of vectors: what an element takes from its neighbours. Both are approximate: a site reaches
// an element only through others that it is the nearest for, or nearly.
#pragma once

#include "published/places.hd.h"

namespace fathom::published {

/// Jump flooding. Source: Rong & Tan, "Jump Flooding in GPU with Applications to Voronoi Diagram and Distance
/// Transform", 2006, and their variants JFA+1 and JFA+2. In rounds with steps n/2, n/4, … 1 each element asks itself
/// and its 8 (in volumes 26) neighbours a step away for the nearest site that they know of. Cost: O(N log n).
/// Departs in that images need not be squares: the first step is half the power of two that the longest side needs; and
/// in that of equally near sites the first found stays, an element's own before those of its neighbours.
FATHOM_HD inline std::uint32_t flooded(const Places& places, const std::uint32_t* known, Point at, int step) {
  std::uint32_t best = known[places.index(at)];
  const int depth = places.depth > 1 ? 1 : 0;
  for (int dz = -depth; dz <= depth; ++dz)
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) {
        const Point there{at.x + dx * step, at.y + dy * step, at.z + dz * step};
        if (there.x < 0 || there.x >= places.width || there.y < 0 || there.y >= places.height || there.z < 0 ||
            there.z >= places.depth)
          continue;
        best = nearer(places, at, best, known[places.index(there)]);
      }
  return best;
}

/// The first round's step; 0 where there is one element.
FATHOM_HD inline int first_step(const Places& places) {
  const int wider = places.width > places.height ? places.width : places.height;
  const int longest = wider > places.depth ? wider : places.depth;
  int step = 1;
  while (2 * step < longest) step *= 2;
  return longest > 1 ? step : 0;
}

/// A sweep's line of elements (in volumes, slice) that is done at a time: along which axis, and which way it goes.
struct Sweep {
  Axis axis;
  int direction;
};

/// Sweeps of vectors, which Cao et al. call SKW. Source: Schneider, Kraus & Westermann, "GPU-Based Real-Time Discrete
/// Euclidean Distance Transforms with Precise Error Bounds", 2009. Sweeps go along each axis, to and fro; an element
/// asks itself and the 3 (in volumes 9) neighbours in the line (slice) before it, so that all of a line are done at
/// once. Cost: O(N), but a line waits for the one before it.
/// Departs in that the slowest axis comes first, and of equally near sites the first found stays.
FATHOM_HD inline std::uint32_t swept(const Places& places, const std::uint32_t* known, Point at, Sweep sweep) {
  std::uint32_t best = known[places.index(at)];
  const int dx = sweep.axis == kX ? 0 : 1, dy = sweep.axis == kY ? 0 : 1,
            dz = sweep.axis == kZ || places.depth == 1 ? 0 : 1;
  const Point before{at.x - (sweep.axis == kX ? sweep.direction : 0), at.y - (sweep.axis == kY ? sweep.direction : 0),
                     at.z - (sweep.axis == kZ ? sweep.direction : 0)};
  for (int z = before.z - dz; z <= before.z + dz; ++z)
    for (int y = before.y - dy; y <= before.y + dy; ++y)
      for (int x = before.x - dx; x <= before.x + dx; ++x) {
        if (x < 0 || x >= places.width || y < 0 || y >= places.height || z < 0 || z >= places.depth) continue;
        best = nearer(places, at, best, known[places.index({x, y, z})]);
      }
  return best;
}

/// Elements along an axis.
FATHOM_HD inline int extent(const Places& places, Axis axis) {
  return axis == kX ? places.width : axis == kY ? places.height : places.depth;
}

/// Element `number` of the line (slice) that is `at` along the axis.
FATHOM_HD inline Point element(const Places& places, Axis axis, int at, std::int64_t number) {
  if (axis == kX) return {at, static_cast<int>(number % places.height), static_cast<int>(number / places.height)};
  const int x = static_cast<int>(number % places.width), other = static_cast<int>(number / places.width);
  if (axis == kY) return {x, at, other};
  return {x, other, at};
}

}  // namespace fathom::published
