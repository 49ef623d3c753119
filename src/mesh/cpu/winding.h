// How often a surface goes around a point: exact, for closed surfaces.
#pragma once

#include <cstdint>
#include <vector>

#include "mesh/surface.h"
#include "mesh/tree.h"

namespace fathom::mesh {

/// What of winding numbers is inside.
bool is_inside(std::int32_t winding, WindingRule rule);

/// Kept from line to line to save allocations.
struct LineScratch {
  struct Change {
    std::int64_t at;  ///< first point behind the surface
    std::int32_t by;
  };
  std::vector<Change> changes;
};

/// Sets bit i of `bits` where point (i, j, k) of the lattice is inside, else clears it, for a whole line along x.
/// A point on the surface counts as one a trifle farther along x (then y, then z).
/// @param bits  words of 64 points, ⌈lattice.shape[0] / 64⌉ of them; bits beyond the line are cleared
/// @throws InternalError the surface is not closed
void winding_line(const Surface& surface, const Tree& tree, const Lattice& lattice, std::int64_t j, std::int64_t k,
                  WindingRule rule, std::uint64_t* bits, LineScratch& scratch);

/// Winding number at any point: 1 inside a surface that runs counter-clockwise seen from outside; on it as above.
std::int32_t winding_at(const Surface& surface, const Tree& tree, Vec3 point);

}  // namespace fathom::mesh
