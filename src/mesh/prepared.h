// All that a TriangleSet keeps.
#pragma once

#include <memory>
#include <optional>

#include "fathom/mesh/triangle_set.h"
#include "mesh/surface.h"
#include "mesh/tree.h"
#include "mesh/tree_view.hd.h"

namespace fathom::mesh {

class FastWinding;

struct PreparedMesh {
  Surface surface;
  Topology topology;
  Tree tree;
  Sign sign = Sign::none;
  WindingRule rule = WindingRule::nonzero;
  std::optional<std::size_t> device_memory;
  Pseudonormals pseudonormals;                      ///< empty unless they make the sign
  std::vector<Features> features;                   ///< empty unless it is for a device
  std::shared_ptr<const FastWinding> fast_winding;  ///< null unless it makes the sign

  std::size_t bytes() const;
  TreeView view() const;
  /// Gives back what a copy elsewhere makes dispensable: all that view() refers to.
  void release();
};

/// @throws InvalidArgument the set lives on a device
const PreparedMesh& on_the_host(const TriangleSet& set);

}  // namespace fathom::mesh
