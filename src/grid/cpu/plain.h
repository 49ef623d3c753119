// The fast engine: exact Euclidean distances from a mask and nearest sites, spacings in a unit, open borders, 2 or 3
// axes.
#pragma once

#include <cstddef>

#include "grid/problem.h"

namespace fathom::grid::cpu {

/// Whether the fast engine serves the problem: Euclidean, spacings that are multiples of a unit, open borders – or
/// borders of sites where clamp_to_border() can add them afterwards –, no labels, no sign, 2 or 3 axes, rows enough to
/// be worth it, extents small enough for its integers.
bool plain_serves(const Problem& problem);

/// Bytes of scratch for a number of threads.
std::size_t plain_scratch_bytes(const Problem& problem, InstructionSet instruction_set, int threads);

/// Fills problem.outputs.
/// @param scratch  plain_scratch_bytes() bytes, aligned to 64
void plain_transform(const Problem& problem, InstructionSet instruction_set, int threads, std::byte* scratch,
                     const Execution& execution);

}  // namespace fathom::grid::cpu
