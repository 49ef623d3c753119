// A mesh by its vertices, edges and faces, each once, and how far a point is from one of them.
//
// Distances are Fathom's (mesh/triangle.hd.h), by the same steps in float64, where the papers compute in float32: so
// the least of them is, in every bit, what a search over whole triangles finds. That takes one rule more: a triangle
// that a point lies over is as far as its face, whatever rounding says of its edges, so that an edge or a vertex counts
// only where the point does not lie over all the faces that it belongs to. The octree as published has no such rule.
#pragma once

#include <cstdint>

#include "mesh/triangle.hd.h"
#include "mesh/tree_view.hd.h"

namespace fathom::published {

using mesh::Grid;
using mesh::Vec3;

struct Edge {
  std::int32_t from, to;  ///< vertices, ascending
  double per = 0;         ///< 1 over its length squared
};

/// Faces that vertices or edges belong to: those of number i are list[starts[i]] up to list[starts[i + 1]].
struct Owners {
  const std::int64_t* starts;
  const std::int32_t* list;
};

struct Primitives {
  std::int64_t vertex_count, edge_count, face_count;
  const Vec3* vertices;
  const Edge* edges;
  const mesh::Triangle* faces;
  Owners of_vertices, of_edges;
  bool yield = true;  ///< whether edges and vertices follow the rule

  FATHOM_HD static double nothing() { return std::numeric_limits<double>::infinity(); }

  FATHOM_HD bool counts(const Owners& owners, std::int64_t number, Vec3 point) const {
    if (!yield) return true;
    mesh::Nearest over;
    for (std::int64_t k = owners.starts[number]; k < owners.starts[number + 1]; ++k)
      if (!mesh::meet_face(over, faces[owners.list[k]], point)) return true;
    return false;
  }

  // Squared distances; infinite where the primitive does not count, or, of a face or an edge, has nothing beside the
  // point; or where they are above a limit.

  FATHOM_HD double squared_to_vertex(std::int64_t number, Vec3 point, double limit) const {
    const Vec3 way = vertices[number] - point;
    const double squared = mesh::dot(way, way);
    return squared <= limit && counts(of_vertices, number, point) ? squared : nothing();
  }
  FATHOM_HD double squared_to_edge(std::int64_t number, Vec3 point, double limit) const {
    const Edge& edge = edges[number];
    const Vec3 from = vertices[edge.from];
    mesh::Nearest nearest;
    mesh::meet_edge(nearest, from - point, vertices[edge.to] - from, edge.per, mesh::Part::ab, 0, 1);
    return nearest.squared <= limit && counts(of_edges, number, point) ? nearest.squared : nothing();
  }
  FATHOM_HD double squared_to_face(std::int64_t number, Vec3 point, double limit) const {
    mesh::Nearest nearest;
    return mesh::meet_face(nearest, faces[number], point) && nearest.squared <= limit ? nearest.squared : nothing();
  }
};

}  // namespace fathom::published
