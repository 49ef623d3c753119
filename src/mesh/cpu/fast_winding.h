// The generalised winding number: how much of the directions around a point a surface covers, holes or not.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "mesh/fast_winding.hd.h"
#include "mesh/surface.h"
#include "mesh/tree.h"

namespace fathom::mesh {

/// 1 inside and 0 outside of closed surfaces that run counter-clockwise seen from outside; around others a number that
/// changes by 1 across the surface and by nothing suddenly elsewhere. Same bits from any number of threads.
class FastWinding {
 public:
  /// @param tree  over `surface`; referred to as long as this lives
  FastWinding(const Surface& surface, const Tree& tree, int threads);

  /// Error below 2e-3 (kReach says how it was found).
  double at(Vec3 point) const { return generalised_winding(view(), point, kReach); }
  /// Whether the number is ½ or more.
  bool inside(Vec3 point) const { return is_half_inside(view(), point); }
  ClusterTree view() const;
  std::size_t bytes() const;

 private:
  const Tree& tree_;
  std::vector<std::vector<Cluster>> levels_;  ///< a cluster for each box of the tree
  /// [block]: 1; −1 where a caller's corners run the other way; 0 without a triangle
  std::vector<std::array<std::int8_t, kFan>> turns_;
};

}  // namespace fathom::mesh
