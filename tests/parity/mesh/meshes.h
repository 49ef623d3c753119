// Meshes for tests: solids, soups, and what is awkward about them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cases.h"
#include "fathom/core/array.h"
#include "fathom/mesh/triangle_set.h"

namespace fathom::test {

using Place = std::array<double, 3>;
using Corners = std::array<std::int64_t, 3>;

struct Mesh {
  std::vector<Place> vertices;
  std::vector<Corners> triangles;

  const Place& corner(std::size_t triangle, std::size_t k) const {
    return vertices[static_cast<std::size_t>(triangles[triangle][k])];
  }
};

// Closed, turned outward, not intersecting themselves.
Mesh box(Place low, Place high);
Mesh tetrahedron(Place a, Place b, Place c, Place d);
/// An octahedron whose triangles are divided into 4, `levels` times, with its vertices on a sphere.
Mesh sphere(Place middle, double radius, int levels);
Mesh torus(double radius, double tube, int around, int across);
/// Columns of unit squares, of whole heights above 0, without edges of four faces.
Mesh columns(int side, int highest, Random& random);

Mesh soup(std::int64_t triangles, Random& random);

Mesh joined(const Mesh& a, const Mesh& b);
/// All triangles turned around.
Mesh inside_out(Mesh mesh);
/// Each triangle in 4 by the middles of its sides.
Mesh divided(const Mesh& mesh);
/// Every triangle with vertices of its own, as STL files have them.
Mesh split(const Mesh& mesh);
/// Vertices rounded to whole numbers after they were multiplied.
Mesh rounded(Mesh mesh, double scale);
template <class Change>  // Place(Place)
Mesh moved(Mesh mesh, const Change& change) {
  for (Place& vertex : mesh.vertices) vertex = change(vertex);
  return mesh;
}

enum class Kind {
  soup,
  whole,        ///< a soup with small whole coordinates: many ties
  sphere,
  box,
  torus,
  columns,
  nested,
  overlapping,
  divided,
  slivers,      ///< heights about 2⁻²⁵ of the longest side, more and less
  degenerate,   ///< some triangles are segments or points
  duplicated,   ///< some triangles twice, some of them turned around
  single,
};
inline constexpr int kKinds = 13;
const char* name_of(Kind kind);
Mesh make_mesh(Kind kind, Random& random);

/// A mesh as arrays of given types, with some unused elements behind each row.
struct MeshArrays {
  MeshArrays(const Mesh& mesh, DType vertex, DType index, std::int64_t padding = 0);
  mesh::Triangles view() const;
  /// The vertices after rounding to their type.
  std::vector<Place> vertices() const;

  Array vertex, index;
  std::int64_t vertex_count, triangle_count;
};

/// A set with one thread, of float64 and int64.
mesh::TriangleSet set_of(const Mesh& mesh, mesh::Sign sign = mesh::Sign::none);

/// [n, 3] float64.
Array points_array(const std::vector<Place>& points);
/// Distances in float64.
std::vector<double> distances(const mesh::TriangleSet& set, const std::vector<Place>& points);

}  // namespace fathom::test
