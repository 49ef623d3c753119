#include "mesh/prepared.h"

#include <cmath>

#include "mesh/cpu/fast_winding.h"
#include "mesh/cpu/winding.h"

namespace fathom::mesh {

std::size_t PreparedMesh::bytes() const {
  return tree.bytes() + surface.vertices.size() * sizeof(Vec3) + surface.corners.size() * sizeof(Corners) +
         pseudonormals.edges.size() * sizeof(pseudonormals.edges[0]) + pseudonormals.vertices.size() * sizeof(Vec3) +
         (fast_winding ? fast_winding->bytes() : 0);
}

Vec3 PreparedMesh::face_normal_at(std::int64_t place) const {
  const std::int32_t id = id_at(place);
  const Vec3 a = surface.corner(id, 0), normal = cross(surface.corner(id, 1) - a, surface.corner(id, 2) - a);
  return tree.triangle(place).per_normal > 0 ? (1 / std::sqrt(dot(normal, normal))) * normal : Vec3();
}

Vec3 PreparedMesh::pseudonormal_at(std::int64_t place, Part part) const {
  if (part == Part::face) return face_normal_at(place);
  const auto id = static_cast<std::size_t>(id_at(place));
  if (part <= Part::bc) return pseudonormals.edges[id][static_cast<std::size_t>(part) - static_cast<std::size_t>(Part::ab)];
  const Corners& corners = surface.corners[id];
  const auto corner = static_cast<std::size_t>(part) - static_cast<std::size_t>(Part::a);
  return pseudonormals.vertices[static_cast<std::size_t>(corners[static_cast<std::size_t>(ascending(corners)[corner])])];
}

bool PreparedMesh::is_inside(Vec3 point, std::int64_t place) const {
  switch (sign) {
    case Sign::pseudonormal: {
      const Nearest nearest = nearest_of(tree.triangle(place), point);
      return dot(nearest.way, pseudonormal_at(place, nearest.part)) > 0;  // the way leads outward
    }
    case Sign::winding: return mesh::is_inside(winding_at(surface, tree, point), rule);
    case Sign::fast_winding: return fast_winding->inside(point);
    default: return false;
  }
}

}  // namespace fathom::mesh
