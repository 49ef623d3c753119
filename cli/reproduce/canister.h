// The mesh that stands for the canister of the papers on meshes, which they do not print.
#pragma once

#include "fathom/core/array.h"
#include "fathom/mesh/triangle_set.h"

namespace fathom::cli {

struct Canister {
  Array vertices;   ///< [n, 3] float64
  Array triangles;  ///< [m, 3] int32

  mesh::Triangles view() const { return {vertices.view(), triangles.view()}; }
};

/// A closed cylinder with its axis along z, of triangles that are about as long as wide.
/// @param rings  of 6, 12, 18 … 6·rings vertices around the middle of each lid; rows of the side have as many as the
///   last
Canister make_canister(int rings, double radius, double height);

}  // namespace fathom::cli
