// A pass of the general engine along a strided axis where sites are near, in 16 bits: for kRun neighbouring lines,
//
//   result(y) = min over k of  min(source(y − k), source(y + k)) + w·k²,
//
// for k = 0, 1, … until no larger k can lower any of 8 targets. Values above a cap are not kept: an element whose site
// is farther than the cap is kNotNear, in this pass and so in all that follow. That is no error as long as the caller
// throws away what is kNotNear in the end: sums only grow, so that no value up to the cap ever came from one above it.
//
// Source: the definition; the cap and the early stop are Fathom's. Departs from column_pass.h in that it never searches
// far: four times the lanes of doubles, twice those of 32 bits. Cost per element: the largest distance in its group.
#pragma once

#include <cstdint>

#include "fathom/core/execution.h"
#include "grid/cpu/classes.h"
#include "grid/cpu/row_values.h"

namespace fathom::grid::cpu {

inline constexpr int kNearTargets = 8;  ///< targets of one search
inline constexpr int kMostNear = 127;   ///< steps of the window at most
inline constexpr int kNearPad = kMostNear + kNearTargets;
inline constexpr std::uint8_t kNoEnd = 255;  ///< steps to the end of a run that is this far or farther

/// The lines' rows are kRun values each.
struct NearColumn {
  std::int64_t rows = 0;
  std::uint16_t* source = nullptr;  ///< [rows], with room for kNearPad rows before and behind
  const std::uint8_t* steps =
      nullptr;  ///< [rows + 7]: to the end of the run of the element's class along the line; or null
  const std::uint16_t* cost = nullptr;  ///< [reach + 2]: w·k²
  int reach = 0;                        ///< largest k with w·k² ≤ cap, ≤ kMostNear
  int vectors = kRun;                   ///< values of a row that matter
  std::uint16_t cap = 0;                ///< largest value that is kept
  std::int64_t padded = 0;              ///< rows before and behind that hold kNotNear already
};

/// Where the results of rows y … y + count − 1 go.
struct NearResults {
  std::uint16_t* data = nullptr;
  std::int64_t pitch = kRun;  ///< between rows
  int count = kNearTargets;
};

/// Results of at most kNearTargets rows from y on. False if any is kNotNear.
bool near_pass(NearColumn& column, std::int64_t y, const NearResults& results, InstructionSet instruction_set);

/// Steps from each element to the nearest of another class along the line, saturated.
/// @param changes  [rows][kRun / 32], and two words to spare: bit i set where element i is of another class than the
///                 one
///                 before it (row 0: none)
/// @param steps    [rows][kRun]
void near_run_ends(const std::uint32_t* changes, std::int64_t rows, std::uint8_t* steps,
                   InstructionSet instruction_set);

}  // namespace fathom::grid::cpu
