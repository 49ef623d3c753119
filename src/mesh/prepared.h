// All that a TriangleSet keeps.
#pragma once

#include <memory>

#include "fathom/mesh/triangle_set.h"
#include "mesh/answer.hd.h"
#include "mesh/surface.h"
#include "mesh/tree.h"

namespace fathom::mesh {

class FastWinding;

struct PreparedMesh {
  Surface surface;
  Topology topology;
  Tree tree;
  Sign sign = Sign::none;
  WindingRule rule = WindingRule::nonzero;
  Pseudonormals pseudonormals;                     ///< empty unless they make the sign
  std::shared_ptr<const FastWinding> fast_winding;  ///< null unless it makes the sign; refers to the tree

  std::size_t bytes() const;
  std::int32_t id_at(std::int64_t place) const { return tree.ids[static_cast<std::size_t>(place)]; }

  MeshView view() const {
    return {tree.blocks.data(),
            tree.ids.data(),
            surface.vertices.data(),
            surface.corners.empty() ? nullptr : surface.corners.front().data(),
            pseudonormals.edges.empty() ? nullptr : pseudonormals.edges.front().data(),
            pseudonormals.vertices.data()};
  }

  /// Whether a point is inside, by the set's sign; `winding` by itself, where no line of points is at hand.
  bool is_inside(Vec3 point, std::int64_t place) const;
};

}  // namespace fathom::mesh
