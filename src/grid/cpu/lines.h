// The jobs of a pass of the general engine: runs of neighbouring lines along one axis.
#pragma once

#include <cstdint>

#include "grid/cpu/row_words.h"
#include "grid/problem.h"

namespace fathom::grid::cpu {

inline constexpr int kStripsOfRun = kRun / kStrip;

/// Strips of a row that go through all passes together.
struct StripRange {
  std::int64_t begin = 0, end = 0;

  std::int64_t count() const { return end - begin; }
  std::int64_t runs() const { return (count() + kStripsOfRun - 1) / kStripsOfRun; }
};

/// Neighbours along the last axis, at fixed coordinates along all others but `axis`.
struct Lines {
  int axis;
  PerAxis<std::int64_t> at;  ///< of the first line's first element; along the last axis, of strip `strip`
  std::int64_t strip;        ///< the first of `strips` ≤ kStripsOfRun
  int strips;
  std::int64_t row;       ///< row of the first elements
  std::int64_t row_step;  ///< rows between neighbours along the axis
};

/// Jobs of the pass along `axis`: all lines through what the faster axes' passes were asked for.
/// @param targets  coordinates asked for along each axis
std::int64_t count_lines(const Problem& problem, int axis, const StripRange& strips, const PerAxis<Range>& targets);
Lines lines_of(const Problem& problem, int axis, const StripRange& strips, const PerAxis<Range>& targets,
               std::int64_t job);

}  // namespace fathom::grid::cpu
