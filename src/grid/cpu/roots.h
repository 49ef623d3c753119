// Roots of many squared distances at once.
#pragma once

#include <cstdint>

#include "fathom/core/execution.h"

namespace fathom::grid::cpu {

/// out[i] = distance of squared[i], correctly rounded; +inf where it is no_value(). Unit spacing.
void roots(const std::int32_t* squared, int count, float* out, InstructionSet instruction_set);
void roots(const double* squared, int count, float* out, InstructionSet instruction_set);

}  // namespace fathom::grid::cpu
