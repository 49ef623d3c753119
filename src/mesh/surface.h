// A mesh as the room sees it: vertices in float64, equal ones joined, and what its edges say.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/parallel.h"
#include "fathom/mesh/triangle_set.h"
#include "mesh/block.hd.h"

namespace fathom::mesh {

using Corners = std::array<std::int32_t, 3>;

struct Surface {
  std::vector<Vec3> vertices;    ///< the caller's, all of them
  std::vector<Corners> corners;  ///< of each triangle, in the caller's order: the lowest number among equal vertices
  Bounds bounds;                 ///< of the vertices that are used

  std::int64_t size() const { return static_cast<std::int64_t>(corners.size()); }
  Vec3 corner(std::int64_t triangle, int k) const {
    return vertices[static_cast<std::size_t>(corners[static_cast<std::size_t>(triangle)][static_cast<std::size_t>(k)])];
  }
};

/// @throws InvalidArgument what TriangleSet refuses of a mesh
Surface make_surface(const Triangles& mesh);

/// Sums of unit normals, weighted by angles: at the edges and the corners of each triangle, as Triangle counts them.
struct Pseudonormals {
  std::vector<std::array<Vec3, 3>> edges;  ///< [triangle]: ab, ac, bc
  std::vector<Vec3> vertices;              ///< as Surface's; 0 where no face is
};

/// Edges and corners of a triangle, as Part counts them from `ab` on, by the lowest triangle that has them: 8 · its
/// number + which part of it they are. Triangles share a feature if, and only if, they name it alike.
using Features = std::array<std::uint32_t, 6>;
inline constexpr std::int64_t kMostNamed = std::int64_t{1} << 29;  ///< triangles that have names

/// @param pseudonormals, features  set, too, unless they are null
Topology topology_of(const Surface& surface, Pseudonormals* pseudonormals, std::vector<Features>* features,
                     int threads);

}  // namespace fathom::mesh
