// The arrays that `mesh` writes, computed over the lattice.
#pragma once

#include <vector>

#include "mesh_report.h"

namespace fathom::cli {

/// One array for each of the plan's outputs. Points beyond a band's cutoff have ±cutoff, triangle −1 and closest point NaN.
/// @param outcome  gets what is said of them
std::vector<Array> compute_field(const mesh::TriangleSet& set, const MeshPlan& plan, const Execution& execution,
                                 MeshOutcome& outcome);

}  // namespace fathom::cli
