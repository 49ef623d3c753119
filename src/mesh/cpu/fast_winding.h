// The generalised winding number: how much of the directions around a point a surface covers, holes or not.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "mesh/surface.h"
#include "mesh/tree.h"
#include "mesh/tree_view.hd.h"

namespace fathom::mesh {

/// The clusters of a surface's triangles. Same bits from any number of threads. Error: see kReach.
class FastWinding {
 public:
  /// @param tree  over `surface`
  FastWinding(const Surface& surface, const Tree& tree, int threads);

  /// What generalised_winding() needs of it.
  void add_to(TreeView& view) const;
  std::size_t bytes() const;

 private:
  std::vector<std::vector<Clusters>> levels_;         ///< as the tree's
  std::vector<std::array<std::int8_t, kFan>> turns_;  ///< [block], as TreeView's
};

}  // namespace fathom::mesh
