// Lattices: where the values of a mesh's field lie.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "fathom/core/shape.h"

namespace fathom::mesh {

using Point = std::array<double, 3>;  ///< x, y, z

/// Smallest and largest coordinate along each axis.
struct Bounds {
  Point low{};
  Point high{};
};

/// Values lie at the points origin + (i, j, k)·spacing, i < shape[0], j < shape[1], k < shape[2]: all in the order x,
/// y, z. Arrays of them are [z, y, x], as volumes are.
struct Lattice {
  Point origin{};
  Point spacing{1, 1, 1};  ///< finite, > 0
  std::array<std::int64_t, 3> shape{};

  Shape array_shape() const { return {shape[2], shape[1], shape[0]}; }
  /// Coordinate i along an axis: product and sum rounded once each.
  double at(std::size_t axis, std::int64_t i) const { return origin[axis] + static_cast<double>(i) * spacing[axis]; }
};

/// What says where a lattice is to lie about a mesh. Either resolution or spacing; the rest follows where it is not
/// given.
struct LatticeOptions {
  /// Points along the longest side of the bounding box, without the margin: h = longest side / (resolution − 1), and
  /// the first point of the box lies on its low corner.
  std::optional<std::int64_t> resolution;
  /// Of each axis. The lattice contains 0, so that fields of different meshes fit one another: origin = h·⌊low/h⌋.
  std::optional<Point> spacing;
  std::optional<Point> origin;                       ///< of the first point; no margin then on the low sides
  std::optional<std::array<std::int64_t, 3>> shape;  ///< of the whole lattice
  std::int64_t margin = 2;                           ///< points around the box on each side
  /// Of a band that the lattice is to hold: the margin of each axis is ⌈cutoff / h⌉ + 1 instead.
  std::optional<double> cutoff;
};

/// @throws InvalidArgument neither or both of resolution and spacing (with origin and shape, spacing alone) | numbers
///   without a meaning | an origin beyond the box, without a shape | more points along an axis than 2³¹ − 1
Lattice lattice_around(const Bounds& bounds, const LatticeOptions& options);

}  // namespace fathom::mesh
