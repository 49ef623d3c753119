// The nearest triangle of each of some points.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/parallel.h"
#include "fathom/core/execution.h"
#include "mesh/tree.h"

namespace fathom::mesh::cpu {

struct Found {
  double squared = std::numeric_limits<double>::infinity();
  std::int64_t place = 0;  ///< of the triangle in the tree
};

/// @param points  `count` of them; the search is quick where each lies near the one before
/// @param near  place of a triangle where the search for the first starts
void find_nearest(const Tree& tree, const Vec3* points, std::int64_t count, Found* found, InstructionSet set,
                  std::int64_t near = 0);
/// The same, with a look at the monitor every few milliseconds. Amid a fine surface each point may look at all of it.
void find_nearest(const Tree& tree, const std::vector<Vec3>& points, std::vector<Found>& found, InstructionSet set,
                  Monitor& monitor);

}  // namespace fathom::mesh::cpu
