// Borders of sites, after a transform with open ones: an element is as far from what lies outside the array as from the
// nearest of its own ends, so that a minimum with that distance is all that is missing.
#pragma once

#include "grid/problem.h"

namespace fathom::grid::cpu {

bool has_site_border(const Problem& problem);

/// The same problem with open borders in place of borders of sites.
Problem without_site_borders(const Problem& problem);

/// Lowers problem.outputs.distance and .squared to the distance to the borders of sites. Euclidean, isotropic.
/// @throws Cancelled
void clamp_to_border(const Problem& problem, InstructionSet instruction_set, int threads, const Execution& execution);

}  // namespace fathom::grid::cpu
