// A pass of the general engine along a strided axis: for 32 neighbouring lines in lock step, the lower envelope
//
//   result(y) = min over sources i of  source(i) ⊕ cost(|y − i|),   ⊕ = + (Euclidean, taxicab) or max (chessboard).
//
// The nearest sources are tried first, one step outwards at a time, for 8 targets at once; where that settles it, which
// is where sites are near, nothing else is done. Farther targets take the divide and conquer of column_envelope-inl.h
// (additive metrics) or the bounded search of column_blocks-inl.h (chessboard). The result is the brute-force minimum
// to the last bit, also in floating point, whatever the order of the search.
//
// Source: separable passes of Hirata 1996 and Meijster et al. 2000; departs by searching with bounds where they build
// envelopes: one code for every metric, spacing and tie rule, all lanes busy. Cost per line of n: O(n) where sites are
// near, O(n log n) where they are far.
#pragma once

#include <cstdint>

#include "fathom/core/execution.h"
#include "grid/cpu/row_words.h"
#include "grid/metric.h"
#include "grid/value.hd.h"

namespace fathom::grid::cpu {

inline constexpr int kTargets = 8;                       ///< targets of one search
inline constexpr int kWindow = 16;                       ///< steps of the window
inline constexpr int kPad = kWindow + kTargets;          ///< rows of `no_value` around the sources
static_assert(kPad <= kStepsBeyond);

/// Rows are 32 values; `source` is cut into groups of as many lines as the vectors have lanes, see source_at().
template <class V>
struct Column {
  std::int64_t sources = 0;       ///< rows of sources, without the padding
  std::int64_t first_target = 0;  ///< source row of the first target
  std::int64_t targets = 0;
  const V* cost = nullptr;        ///< cost[k] = cost of |k| steps, |k| ≤ sources + kPad: looked up without a branch
  V cap = no_cap<V>();            ///< values ≥ cap need not be found
  bool euclidean = true;
  bool chessboard = false;
  V* source = nullptr;            ///< (sources + 2·kPad) · 32
  V* site = nullptr;              ///< likewise: what is behind each source, by a number ≥ 0; null: not wanted
  V* bounds = nullptr;            ///< scratch: bounds_size(sources)
  std::int32_t* candidates = nullptr;  ///< scratch: candidates_size(sources)
  std::int32_t* far = nullptr;    ///< scratch: sources / 8 + 1
  const V* start = nullptr;       ///< [targets][32]: values known beforehand, or null
  const V* start_site = nullptr;  ///< [targets][32]: what they come from
  std::int64_t pitch = kStrip;    ///< between rows of result and found
  V* result = nullptr;            ///< [targets + 7], 32 values per row
  V* found = nullptr;             ///< likewise: the lowest site that gives the result; unused unless sites are wanted
};

/// Values in Column::bounds, numbers in Column::candidates.
std::int64_t bounds_size(std::int64_t sources);
std::int64_t candidates_size(std::int64_t sources);

/// Lanes of a vector of V.
template <class V>
int lanes(InstructionSet instruction_set);

/// Where source row `row` (−kPad … sources + kPad − 1) keeps line `line` of the strip.
inline std::int64_t source_at(std::int64_t sources, int lane_count, std::int64_t row, int line) {
  const std::int64_t group = line / lane_count;
  return (group * (sources + 2 * kPad) + row + kPad) * lane_count + line % lane_count;
}

/// Fills result (and found). Adds the padding to `source` and `site` itself.
void column_pass(const Column<std::int32_t>& column, InstructionSet instruction_set);
void column_pass(const Column<std::int64_t>& column, InstructionSet instruction_set);
void column_pass(const Column<double>& column, InstructionSet instruction_set);

}  // namespace fathom::grid::cpu
