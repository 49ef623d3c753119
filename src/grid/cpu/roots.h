// Roots of many squared distances at once.
#pragma once

#include <cstdint>

#include "fathom/core/execution.h"

namespace fathom::grid::cpu {

/// Rows of squared distances, and where their roots go.
struct RootRows {
  const std::uint16_t* squared;
  std::int64_t pitch;  ///< between rows
  int rows, count;
  float* out;
  std::int64_t out_pitch;
};

/// out[i] = scaled_distance() of squared[i]; +inf where it is no_value().
/// @param stream  write past the caches where addresses allow: for outputs that would not stay in them anyway
void roots(const std::int32_t* squared, int count, float unit, bool stream, float* out, InstructionSet instruction_set);
/// The same of values that are all distances.
void roots(const RootRows& rows, float unit, bool stream, InstructionSet instruction_set);
/// out[i] = √squared[i], correctly rounded.
void roots(const double* squared, int count, bool stream, float* out, InstructionSet instruction_set);

/// Orders streamed results before whatever this thread signals next.
void finish_roots();

}  // namespace fathom::grid::cpu
