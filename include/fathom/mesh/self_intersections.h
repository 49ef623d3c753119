// Where does a surface run through itself?
#pragma once

#include <cstdint>

#include "fathom/core/array.h"
#include "fathom/core/execution.h"
#include "fathom/mesh/triangle_set.h"

namespace fathom::mesh {

struct SelfIntersections {
  std::int64_t count = 0;  ///< pairs of triangles, all of them
  /// [k, 2] int32: the first of them, in ascending order; the lower number of each pair first.
  Array pairs;
  Report report;
};

struct SelfIntersectionOptions {
  std::int64_t most_pairs = 1 << 20;  ///< to be kept
  Execution execution;
};

/// Pairs of triangles that meet other than in corners and edges that they share – those of vertices that are equal in
/// value. Triangles that touch in a point or along a line meet, those that lie on one another, and duplicates.
/// Triangles without an area are left out. Exact: by signs of determinants of the coordinates as they are. Same bytes
/// from any number of threads. On the CPU; of a set on a device a copy is made, which counts as scratch.
/// @throws InvalidArgument an option that is out of range | the scratch limit is too small
/// @throws Cancelled the stop token asked for it
/// Cost: O(n log n) where few boxes of triangles overlap; at most 48 bytes a thread and pair to be kept.
SelfIntersections self_intersections(const TriangleSet& set, const SelfIntersectionOptions& options = {});

}  // namespace fathom::mesh
