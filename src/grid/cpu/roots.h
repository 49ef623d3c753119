// Roots of many squared distances at once.
#pragma once

#include <cstdint>

#include "fathom/core/execution.h"

namespace fathom::grid::cpu {

/// out[i] = distance of squared[i], correctly rounded; +inf where it is no_value(). Unit spacing.
/// @param stream  write past the caches where addresses allow: for outputs that would not stay in them anyway
void roots(const std::int32_t* squared, int count, bool stream, float* out, InstructionSet instruction_set);
void roots(const double* squared, int count, bool stream, float* out, InstructionSet instruction_set);

/// Orders streamed results before whatever this thread signals next.
void finish_roots();

}  // namespace fathom::grid::cpu
