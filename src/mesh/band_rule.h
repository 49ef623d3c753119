// Which tiles a band stores, and how their sides are found: the same on the CPU and on devices.
#pragma once

#include <algorithm>

#include "fathom/mesh/triangle_set.h"
#include "mesh/triangle.hd.h"

namespace fathom::mesh {

struct BandRule {
  /// Between points of a tile that are not in the band the surface cannot pass, whatever was rounded: their sides spread.
  bool spreads = true;
  /// Tiles with a point so near are stored. With sides, and a cutoff below a step of the lattice, that is a step: between
  /// neighbours on different sides the surface is within half of one, so that all of a tile that is not stored is on one side.
  double within = 0;
};

/// @param longest_squared  of all triangles' sides
inline BandRule band_rule(const Lattice& lattice, double cutoff, bool is_signed, double longest_squared) {
  const double step = *std::max_element(lattice.spacing.begin(), lattice.spacing.end());
  const bool spreads = cutoff * cutoff > reach_of(step * step, longest_squared);
  return {spreads, is_signed && !spreads ? std::max(cutoff, step) : cutoff};
}

}  // namespace fathom::mesh
