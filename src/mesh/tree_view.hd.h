// A prepared mesh as searches see it, in whatever memory. Shared by host and device.
#pragma once

#include <cstdint>

#include "mesh/answer.hd.h"
#include "mesh/fast_winding.hd.h"

namespace fathom::mesh {

struct TreeView {
  MeshView mesh;
  std::int64_t count = 0;  ///< triangles
  int level_count = 0;
  double longest_squared = 0;             ///< of all triangles' sides
  const Boxes* levels[kMostLevels] = {};  ///< boxes of blocks first; the last has one group
  ClusterTree clusters;                   ///< empty unless the sign is fast_winding
  Sign sign = Sign::none;
  bool is_closed = true;  ///< no edge is open
  WindingRule rule = WindingRule::nonzero;
};

/// A lattice, or a block of one, as kernels take it.
struct Grid {
  double origin[3], spacing[3];  ///< of the whole lattice
  std::int64_t first[3] = {};    ///< of the block's points
  std::int64_t shape[3];

  /// As Lattice::at() of point first + i.
  FATHOM_HD double at(int axis, std::int64_t i) const {
    return origin[axis] + static_cast<double>(first[axis] + i) * spacing[axis];
  }
  FATHOM_HD Vec3 point(std::int64_t i, std::int64_t j, std::int64_t k) const { return {at(0, i), at(1, j), at(2, k)}; }
};
inline Grid grid_of(const Lattice& lattice) {
  Grid grid;
  for (std::size_t k = 0; k < 3; ++k) {
    grid.origin[k] = lattice.origin[k];
    grid.spacing[k] = lattice.spacing[k];
    grid.shape[k] = lattice.shape[k];
  }
  return grid;
}

/// Planes of a lattice along its last axis.
struct Planes {
  std::int64_t first, count;
};

/// The number of the lowest bit that is set, of at least one.
FATHOM_HD inline int lowest_bit(unsigned bits) {
#ifdef __CUDA_ARCH__
  return __ffs(static_cast<int>(bits)) - 1;
#else
  return __builtin_ctz(bits);
#endif
}

}  // namespace fathom::mesh
