// Surfaces with their trees, made of numbers.
#pragma once

#include <algorithm>
#include <limits>

#include "mesh/prepared.h"

namespace fathom::test {

using Scene = mesh::PreparedMesh;

/// Sets what follows from vertices and corners.
inline void prepare(Scene& scene) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  mesh::Bounds& bounds = scene.surface.bounds;
  bounds = {{kInfinity, kInfinity, kInfinity}, {-kInfinity, -kInfinity, -kInfinity}};
  for (const mesh::Vec3 v : scene.surface.vertices) {
    const mesh::Point point{v.x, v.y, v.z};
    for (std::size_t k = 0; k < 3; ++k) {
      bounds.low[k] = std::min(bounds.low[k], point[k]);
      bounds.high[k] = std::max(bounds.high[k], point[k]);
    }
  }
  const Execution execution;
  Monitor monitor(execution, 1);
  scene.tree = mesh::build_tree(scene.surface, 1, monitor);
}

}  // namespace fathom::test
