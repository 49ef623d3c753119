// Which points are inside, of which no nearest triangle is known: one by one; or, by winding numbers, those of a
// lattice's lines, a bundle of 8 × 8 lines along x at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "fathom/core/error.h"
#include "fathom/mesh/band.h"
#include "mesh/cpu/search.h"
#include "mesh/sides.hd.h"

namespace fathom::mesh::cpu {

/// Calls take(number, whether it is inside) for all points.
template <class Take>
void ask_sides(const Tree& tree, const TreeView& view, const std::vector<Vec3>& points, InstructionSet set,
               const Take& take) {
  std::vector<Found> found(view.sign == Sign::pseudonormal ? points.size() : 0);
  if (!found.empty()) find_nearest(tree, points.data(), static_cast<std::int64_t>(points.size()), found.data(), set);
  for (std::size_t i = 0; i < points.size(); ++i)
    take(i, is_inside(view, points[i], found.empty() ? 0 : found[i].place));
}

class Bundle {
 public:
  Bundle(const TreeView& tree, const Lattice& lattice)
      : tree_(tree), grid_(grid_of(lattice)), words_((lattice.shape[0] + 63) / 64) {}

  static std::size_t bytes(const Lattice& lattice) {
    return static_cast<std::size_t>(kTileSide * kTileSide * ((lattice.shape[0] + 63) / 64)) * sizeof(std::uint64_t);
  }
  /// Computes the lines (j … j + 7, k … k + 7) of the lattice, as far as there are.
  /// @throws InternalError the surface is not closed
  void set(std::int64_t j, std::int64_t k) {
    bits_.assign(static_cast<std::size_t>(kTileSide * kTileSide * words_), 0);  // lines beyond the lattice are outside
    for (std::int64_t z = 0; z < kTileSide && k + z < grid_.shape[2]; ++z)
      for (std::int64_t y = 0; y < kTileSide && j + y < grid_.shape[1]; ++y)
        if (winding_line(tree_, grid_, j + y, k + z, line(y, z)) != 0)
          throw InternalError("a line leaves the mesh less often than it enters it; the mesh is not closed");
  }
  /// @param y, z  less j and k
  bool is_inside(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return bits_[static_cast<std::size_t>((y + kTileSide * z) * words_ + x / 64)] >> x % 64 & 1;
  }

 private:
  std::uint64_t* line(std::int64_t y, std::int64_t z) { return bits_.data() + (y + kTileSide * z) * words_; }

  const TreeView& tree_;
  Grid grid_;
  std::int64_t words_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace fathom::mesh::cpu
