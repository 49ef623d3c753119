#include "mesh/prepared.h"

#include "mesh/cpu/fast_winding.h"

namespace fathom::mesh {

std::size_t PreparedMesh::bytes() const {
  return tree.bytes() + surface.vertices.size() * sizeof(Vec3) + surface.corners.size() * sizeof(Corners) +
         pseudonormals.edges.size() * sizeof(pseudonormals.edges[0]) + pseudonormals.vertices.size() * sizeof(Vec3) +
         (fast_winding ? fast_winding->bytes() : 0);
}

void PreparedMesh::release() {
  surface.vertices = {};
  surface.corners = {};
  tree.blocks = {};
  tree.ids = {};
  tree.levels = {};
  pseudonormals = {};
  fast_winding = nullptr;
}

TreeView PreparedMesh::view() const {
  TreeView view;
  view.mesh = {tree.blocks.data(),
               tree.ids.data(),
               surface.vertices.data(),
               surface.corners.empty() ? nullptr : surface.corners.front().data(),
               pseudonormals.edges.empty() ? nullptr : pseudonormals.edges.front().data(),
               pseudonormals.vertices.data()};
  view.count = tree.count;
  for (const auto& level : tree.levels) view.levels[view.level_count++] = level.data();
  view.longest_squared = tree.longest_squared;
  if (fast_winding) view.clusters = fast_winding->view();
  view.sign = sign;
  view.is_closed = topology.closed();
  view.rule = rule;
  return view;
}

}  // namespace fathom::mesh
