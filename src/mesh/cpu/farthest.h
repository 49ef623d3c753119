// The point of a surface that is farthest from another one.
#pragma once

#include <cstdint>

#include "mesh/cpu/field.h"
#include "mesh/cpu/search.h"

namespace fathom::mesh::cpu {

struct Farthest {
  double squared = -1;  ///< of the distance there; below 0: none yet
  Vec3 point;
  std::int32_t triangle = 0;  ///< of its surface, the caller's number
  std::int64_t place = 0;     ///< of the nearest one in the other surface's tree
  double bound = 0;           ///< no point's distance is above it
};

struct FarthestOptions {
  double tolerance = 0;         ///< most that `bound` is above the distance, unless the next come first
  std::int64_t most_parts = 0;  ///< to be held at once
  std::int64_t most_cuts = 0;
};

/// Bytes that the search takes, with so many parts at once.
std::size_t farthest_bytes(const PreparedMesh& from, std::int64_t parts);

/// Tells the monitor of each vertex that the triangles of `from` use.
Farthest find_farthest(const PreparedMesh& from, const Tree& to, const FarthestOptions& options, const Run& run,
                       Monitor& monitor);

}  // namespace fathom::mesh::cpu
