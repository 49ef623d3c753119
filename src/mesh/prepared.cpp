#include "mesh/prepared.h"

#include "mesh/cpu/fast_winding.h"

namespace fathom::mesh {

std::size_t PreparedMesh::bytes() const {
  return tree.bytes() + surface.vertices.size() * sizeof(Vec3) + surface.corners.size() * sizeof(Corners) +
         pseudonormals.edges.size() * sizeof(pseudonormals.edges[0]) + pseudonormals.vertices.size() * sizeof(Vec3) +
         (fast_winding ? fast_winding->bytes() : 0);
}

SetBytes set_bytes(std::int64_t triangles, std::int64_t vertices, Sign sign) {
  const bool has_clusters = sign == Sign::fast_winding || sign == Sign::automatic;
  const auto count = static_cast<std::size_t>(triangles), points = static_cast<std::size_t>(vertices);
  std::size_t nodes = (count + kFan - 1) / kFan;
  std::size_t kept =
      nodes * (sizeof(Block) + kFan * sizeof(std::int32_t)) + count * sizeof(Corners) + points * sizeof(Vec3);
  if (has_clusters) kept += nodes * kFan;  // which way corners run
  if (sign == Sign::pseudonormal) kept += count * 3 * sizeof(Vec3) + points * sizeof(Vec3);
  for (std::size_t groups = 0; groups != 1; nodes = groups) {
    groups = (nodes + kFan - 1) / kFan;
    kept += groups * sizeof(Boxes) + (has_clusters ? nodes * sizeof(Cluster) : 0);
  }
  return {kept, build_scratch_bytes(triangles)};
}

void PreparedMesh::release() {
  surface.vertices = {};
  surface.corners = {};
  tree.blocks = {};
  tree.ids = {};
  tree.levels = {};
  pseudonormals = {};
  features = {};
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
