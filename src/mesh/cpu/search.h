// The nearest triangle of each of some points.
#pragma once

#include <cstdint>
#include <limits>

#include "fathom/core/execution.h"
#include "mesh/tree.h"

namespace fathom::mesh::cpu {

struct Found {
  double squared = std::numeric_limits<double>::infinity();
  std::int64_t place = 0;  ///< of the triangle in the tree
};

/// @param points  `count` of them; the search is quick where each lies near the one before
void find_nearest(const Tree& tree, const Vec3* points, std::int64_t count, Found* found, InstructionSet set);

}  // namespace fathom::mesh::cpu
