// Signed distances by the fast engine: squared distances to what is inside, and to what is outside. Of the two each
// element has one that is not 0.
#pragma once

#include <cstddef>

#include "fathom/core/execution.h"
#include "grid/problem.h"

namespace fathom::grid::cpu {

/// Whether it computes the problem: signed distances as float32, equal spacings, no maximum distance, and either side
/// such as plain_serves().
bool plain_signed_serves(const Problem& problem);

/// Four bytes for each element of the region, and what the fast engine takes for a side.
std::size_t plain_signed_scratch_bytes(const Problem& problem, InstructionSet instruction_set, int threads);

/// Two transforms and a pass over their results; a third of what the general engine takes.
/// @throws Cancelled
void plain_signed_transform(const Problem& problem, InstructionSet instruction_set, int threads, std::byte* scratch,
                            const Execution& execution);

}  // namespace fathom::grid::cpu
