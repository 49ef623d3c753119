// The general engine: every option of the distance transform, any number of axes, any extents.
#pragma once

#include <cstddef>

#include "grid/problem.h"

namespace fathom::grid::cpu {

/// Bytes of scratch for a number of threads.
std::size_t general_scratch_bytes(const Problem& problem, InstructionSet instruction_set, int threads);

/// Fills problem.outputs.
/// @param scratch  general_scratch_bytes() bytes, aligned to 64
void general_transform(const Problem& problem, InstructionSet instruction_set, int threads, std::byte* scratch,
                       const Execution& execution);

}  // namespace fathom::grid::cpu
