// On which side of the surface a point is, by each sign. Shared by host and device: same answers everywhere.
#pragma once

#include "mesh/winding.hd.h"

namespace fathom::mesh {

/// Whether a point is inside, by the set's sign; `winding` by itself, where no line of points is at hand.
/// @param place  of the point's nearest triangle: only pseudonormals need it
FATHOM_HD inline bool is_inside(const TreeView& tree, Vec3 point, std::int64_t place) {
  switch (tree.sign) {
    case Sign::pseudonormal: return is_behind(tree.mesh, place, point);
    case Sign::winding: return is_inside(winding_at(tree, point), tree.rule);
    case Sign::fast_winding: return is_half_inside(tree.clusters, point);
    default: return false;
  }
}

}  // namespace fathom::mesh
