// Which tiles a band stores, and how their sides are found: the same on the CPU and on devices.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "fathom/mesh/triangle_set.h"
#include "mesh/tree_view.hd.h"

namespace fathom::mesh {

/// @throws InvalidArgument what TriangleSet refuses of a lattice, or of a band's options
void check_band(const Lattice& lattice, const BandOptions& options);

struct BandRule {
  /// Between points of a tile that are not in the band the surface cannot pass, whatever was rounded: their sides
  /// spread. Where the surface has holes, inside and outside meet elsewhere, too: all points are asked for their sides.
  bool spreads = true;
  /// With sides and holes, tiles are stored, too, in which inside and outside meet. These are looked for where the
  /// corners of a tile or of those around it, the points 8·t and 8·t + 8 along each axis, are not all on one side: a
  /// tile is stored if its corners and points are not, beyond the lattice's end as well.
  bool asks_corners = false;
  /// Tiles with a point so near are stored. With sides, and a cutoff below a step of the lattice, that is a step:
  /// between neighbours on different sides of the surface it is within half of one, so that it cuts no tile that is not
  /// stored.
  double within = 0;
};

/// No neighbours are farther apart, whatever was rounded: far from 0 that may be more than the spacing.
inline double longest_step(const Lattice& lattice) {
  double longest = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const double farthest = std::max(std::abs(lattice.origin[k]), std::abs(lattice.at(k, lattice.shape[k])));
    longest = std::max(longest, lattice.spacing[k] + 0x1p-50 * farthest);
  }
  return longest;
}

/// The largest square whose root is no larger than a distance.
inline double largest_square(double distance) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double square = distance * distance;
  if (distance == kInfinity) return square;
  while (std::sqrt(square) > distance) square = std::nextafter(square, 0.0);
  for (double next; std::sqrt(next = std::nextafter(square, kInfinity)) <= distance;) square = next;
  return square;
}

inline BandRule band_rule(const Lattice& lattice, double cutoff, const TreeView& tree) {
  const double step = longest_step(lattice);
  const bool holds_surface = cutoff * cutoff > reach_of(step * step, tree.longest_squared);
  const bool is_signed = tree.sign != Sign::none;
  return {holds_surface && tree.is_closed, is_signed && !tree.is_closed,
          is_signed && !holds_surface ? std::max(cutoff, step) : cutoff};
}

}  // namespace fathom::mesh
