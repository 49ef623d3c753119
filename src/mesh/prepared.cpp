#include "mesh/prepared.h"

#include "mesh/cpu/fast_winding.h"
#include "mesh/cpu/winding.h"

namespace fathom::mesh {

std::size_t PreparedMesh::bytes() const {
  return tree.bytes() + surface.vertices.size() * sizeof(Vec3) + surface.corners.size() * sizeof(Corners) +
         pseudonormals.edges.size() * sizeof(pseudonormals.edges[0]) + pseudonormals.vertices.size() * sizeof(Vec3) +
         (fast_winding ? fast_winding->bytes() : 0);
}

bool PreparedMesh::is_inside(Vec3 point, std::int64_t place) const {
  switch (sign) {
    case Sign::pseudonormal: return is_behind(view(), place, point);
    case Sign::winding: return mesh::is_inside(winding_at(surface, tree, point), rule);
    case Sign::fast_winding: return fast_winding->inside(point);
    default: return false;
  }
}

}  // namespace fathom::mesh
