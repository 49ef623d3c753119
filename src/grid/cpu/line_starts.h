// Where runs of equal classes end along the lines of a strip: the values that passes over labels and signed fields
// start from.
#pragma once

#include <cstdint>

#include "fathom/core/execution.h"
#include "grid/cpu/indices.h"
#include "grid/cpu/row_words.h"
#include "grid/problem.h"
#include "grid/value.hd.h"

namespace fathom::grid::cpu {

/// The classes along 32 neighbouring lines.
struct Runs {
  /// Bit l of changes[y · pitch]: elements y and y − 1 (periodic: modulo the extent; else changes[0] = 0) of line l
  /// differ.
  const std::uint32_t* changes = nullptr;
  /// Bit l of pinned[y · pitch]: element y of line l has distance 0; null: none has.
  const std::uint32_t* pinned = nullptr;
  std::int64_t pitch = 1;
  std::int64_t extent = 0;
  bool periodic = false;
  Range targets;          ///< elements that are asked for
  bool euclidean = true;  ///< values are squares
  /// How sites are numbered: element 0 of line 0, and the steps from line to line and along the lines.
  std::int64_t first_site = 0, line_step = 1, step = 1;
};

/// Values of the targets: weight times the steps along the line to the nearest element of another class, or their
/// square.
/// @param steps  scratch, [extent][32]
/// @param coordinate  scratch, [extent][32]; null: sites are not wanted
/// @param start  [targets][32]
/// @param site   [targets][32]: number of that element, the lower of two; or null
template <class V>
void line_starts(const Runs& runs, V weight, std::int32_t* steps, std::int32_t* coordinate, V* start, V* site,
                 InstructionSet instruction_set);

}  // namespace fathom::grid::cpu
