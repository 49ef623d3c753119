// The surface where a field has some value: such as the points at a distance of 2 from a part.
#pragma once

#include "fathom/core/array.h"
#include "fathom/core/view.h"
#include "fathom/mesh/lattice.h"

namespace fathom::mesh {

/// Triangles that share their vertices, seen counter-clockwise from the side of larger values.
struct IsoSurface {
  Array vertices;      ///< [n, 3], of the field's type: x, y, z
  Array triangles;     ///< [m, 3] int32: numbers of vertices
  bool closed = true;  ///< false: the surface ends at the lattice's border
};

/// The surface between the points of a lattice whose value is below a level and the others, NaN among them. Each of its
/// edges belongs to two triangles, which run along it in opposite directions, except at the lattice's border, where the
/// surface ends if it gets there. Of a signed distance field with steps h
/// its points are off from the level by less than h, where the field is smooth by terms of h².
/// @param field  [z, y, x], float32 or float64
/// @throws InvalidArgument another type or shape | a level that is not finite | more than 2³¹ − 1 vertices or triangles
/// Cost O(points) on one thread; scratch for two layers of the lattice, 20 bytes a point of one.
/// Source: Lorensen, Cline, Marching cubes, 1987; departs by a table that follows from one rule
/// (src/mesh/iso_surface.cpp).
IsoSurface level_set(const Lattice& lattice, const AnyConstView& field, double level);

}  // namespace fathom::mesh
