// Where runs of equal classes end along the lines of a strip.
#pragma once

#include <cstdint>

#include "fathom/core/execution.h"
#include "grid/cpu/row_words.h"

namespace fathom::grid::cpu {

/// Steps along the axis from each element of 32 lines to the nearest element of another class.
/// @param changes  [extent]: bit l of changes[y] says that elements y and y − 1 (periodic: modulo the extent; else
///                 changes[0] = 0) of line l differ
/// @param steps    [extent][32]; ≥ 2³⁰: none
/// @param site     [extent][32]: that element's coordinate, the lower of two; null: not wanted
void line_boundaries(const std::uint32_t* changes, std::int64_t extent, bool periodic, std::int32_t* steps,
                     std::int32_t* site, InstructionSet instruction_set);

}  // namespace fathom::grid::cpu
