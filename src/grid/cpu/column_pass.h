// A pass of the general engine along a strided axis: for 32 neighbouring lines in lock step, the lower envelope
//
//   result(y) = min over sources i of  source(i) ⊕ cost(|y − i|),   ⊕ = + (Euclidean, taxicab) or max (chessboard).
//
// Sources are searched outwards from each block of 8 targets: first a window, one step at a time, then whole blocks of 8
// sources, skipped or ended by lower bounds. Rounding is monotone, so the bounds hold for floating-point values too:
// the result is the brute-force minimum to the last bit, whatever the order of the search.
//
// Source: separable passes of Hirata 1996 and Meijster et al. 2000; departs by searching with bounds instead of building
// envelopes: one code for every metric, spacing and tie rule, and all lanes busy. Cost per line of n: O(n) where distances
// are short or sites lie together; at worst O(n²/64) tests of a bound.
#pragma once

#include <cstdint>

#include "fathom/core/execution.h"
#include "grid/cpu/row_words.h"
#include "grid/cpu/value.h"

namespace fathom::grid::cpu {

inline constexpr int kTargets = 8;                       ///< targets of one search
inline constexpr int kWindow = 16;                       ///< steps of the window
inline constexpr int kPad = kWindow + kTargets;          ///< rows of `no_value` around the sources
inline constexpr int kSuperblock = 8;                    ///< blocks that share a coarse bound

/// Rows are 32 values; `source` is cut into groups of as many lines as the vectors have lanes, see source_at().
template <class V>
struct Column {
  std::int64_t sources = 0;       ///< rows of sources, without the padding
  std::int64_t first_target = 0;  ///< source row of the first target
  std::int64_t targets = 0;
  std::int64_t origin = 0;        ///< coordinate of source row 0; negative if the axis is periodic
  std::int64_t extent = 0;        ///< of the axis; coordinates are taken modulo it
  const V* cost = nullptr;        ///< cost of 0 … sources + kPad steps
  V step = 1;                     ///< how much the distance (the root of a Euclidean value) may change per step
  V cap = no_cap<V>();            ///< values ≥ cap need not be found
  bool euclidean = true;
  bool chessboard = false;
  V* source = nullptr;            ///< (sources + 2·kPad) · 32
  V* bounds = nullptr;            ///< scratch: bounds_size(sources)
  const V* start = nullptr;       ///< [targets][32]: values known beforehand, or null
  const V* start_coordinate = nullptr;  ///< [targets][32]: what they come from
  std::int64_t pitch = kStrip;    ///< between rows of result and coordinate
  V* result = nullptr;            ///< [targets + 7], 32 values per row
  V* coordinate = nullptr;        ///< likewise: of the lowest source that gives the result; null: not wanted
};

/// Values in Column::bounds.
std::int64_t bounds_size(std::int64_t sources);

/// Lanes of a vector of V.
template <class V>
int lanes(InstructionSet instruction_set);

/// Where source row `row` (−kPad … sources + kPad − 1) keeps line `line` of the strip.
inline std::int64_t source_at(std::int64_t sources, int lane_count, std::int64_t row, int line) {
  const std::int64_t group = line / lane_count;
  return (group * (sources + 2 * kPad) + row + kPad) * lane_count + line % lane_count;
}

/// Fills result (and coordinate). Adds the padding to `source` itself.
void column_pass(const Column<std::int32_t>& column, InstructionSet instruction_set);
void column_pass(const Column<std::int64_t>& column, InstructionSet instruction_set);
void column_pass(const Column<double>& column, InstructionSet instruction_set);

}  // namespace fathom::grid::cpu
