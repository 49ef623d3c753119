// The generalised winding number: how much of the directions around a point a surface covers, holes or not.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "mesh/fast_winding.hd.h"
#include "mesh/surface.h"
#include "mesh/tree.h"

namespace fathom::mesh {

/// 1 inside and 0 outside of closed surfaces that run counter-clockwise seen from outside; of others, a number between that
/// changes by 1 across the surface and by nothing elsewhere. Same bits from any number of threads.
/// Error: see kReach.
class FastWinding {
 public:
  /// @param tree  over `surface`; referred to as long as this lives
  FastWinding(const Surface& surface, const Tree& tree, int threads);

  double at(Vec3 point) const;
  bool inside(Vec3 point) const { return at(point) >= 0.5; }
  std::size_t bytes() const;

 private:
  double solid_angle_of_group(std::size_t level, std::size_t group, Vec3 point) const;
  double solid_angle_of_block(std::size_t block, Vec3 point) const;

  const Tree& tree_;
  std::vector<std::vector<Clusters>> levels_;           ///< as the tree's
  std::vector<std::array<std::int8_t, kFan>> turns_;  ///< [block]: 1; −1 where a caller's corners run the other way; 0 without a triangle
};

}  // namespace fathom::mesh
