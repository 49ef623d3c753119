// The arrays that `mesh` writes, computed over the lattice.
#pragma once

#include <vector>

#include "fathom/mesh/iso_surface.h"
#include "mesh_report.h"

namespace fathom::cli {

struct MeshField {
  std::vector<Array> arrays;  ///< one for each of the plan's outputs; empty where that is none
  mesh::Band band;            ///< if it is an output
  mesh::IsoSurface surface;   ///< if it is an output
};

/// Points beyond a band's cutoff have ±cutoff, triangle −1 and closest point NaN.
/// @param triangles  of the set, for an algorithm in place of the library's own
/// @param outcome  gets what is said of them
MeshField compute_field(const mesh::TriangleSet& set, const mesh::Triangles& triangles, const MeshPlan& plan,
                        const Execution& execution, MeshOutcome& outcome);

}  // namespace fathom::cli
