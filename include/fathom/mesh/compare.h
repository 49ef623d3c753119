// How far are two surfaces from one another?
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "fathom/core/execution.h"
#include "fathom/mesh/triangle_set.h"

namespace fathom::mesh {

/// How far one surface lies from another, without signs.
struct Deviation {
  /// The largest distance of a point of the surface from the other one that was found: the one-sided Hausdorff
  /// distance, less at most `bound` − `max`. Found at `point`, in `triangle`; `nearest` is the other surface's nearest
  /// point, in `nearest_triangle`.
  double max = 0;
  double bound = 0;  ///< no point of the surface, between its vertices or on them, is farther from the other one
  Point point{}, nearest{};
  std::int64_t triangle = 0, nearest_triangle = 0;  ///< the callers' numbers
  /// Of the distance over the surface's area, from samples that lie evenly on it; NaN without an area. Each is off by
  /// at most `error`, which holds for the roughest of surfaces; where distances change smoothly, by far less.
  double mean = 0, rms = 0, error = 0;
};

struct Comparison {
  Deviation forward;   ///< of the first surface from the second
  Deviation backward;  ///< of the second from the first
  double tolerance = 0;
  Report report;

  /// The symmetric Hausdorff distance, at most hausdorff_bound().
  double hausdorff() const { return std::max(forward.max, backward.max); }
  double hausdorff_bound() const { return std::max(forward.bound, backward.bound); }
};

struct CompareOptions {
  /// Most that `bound` is above `max`, in the meshes' units. Nothing: a millionth of the diagonal of the box around
  /// both.
  std::optional<double> tolerance;
  /// Points of each surface from which mean and root mean square come; of many triangles at least one each.
  std::int64_t samples = 1 << 20;
  /// Parts of triangles that are held at once, at most, of up to 400 bytes each; so many as a scratch limit has room
  /// for. After 32 times as many cuts `bound` is given as it is, however far above `max`.
  std::int64_t most_parts = 1 << 20;
  Execution execution;
};

/// Compares surfaces, not their vertices alone: the largest distance may lie within a triangle. All are the distances
/// of TriangleSet, signs and sides do not matter. Same bytes from any number of threads; exchanged surfaces give
/// the same numbers exchanged. On the CPU; of sets on a device copies are made, which count as scratch.
/// @throws InvalidArgument an option that is out of range | the scratch limit is too small
/// @throws Cancelled the stop token asked for it
///
/// Source: Tang, Lee & Kim, Interactive Hausdorff distance computation for general polygonal models, 2009: triangles
/// are cut while they may hold a farther point. Departs in where they are cut (src/mesh/cpu/farthest.cpp).
/// Cost: some nearest points for each vertex and triangle, and one for each sample. The largest distance takes long
/// between two fine triangulations of about the same surface, which are cut to parts as small as they are apart; a
/// larger tolerance is quicker then.
Comparison compare(const TriangleSet& first, const TriangleSet& second, const CompareOptions& options = {});

}  // namespace fathom::mesh
