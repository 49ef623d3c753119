// One row of results beside borders of sites.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "fathom/core/execution.h"

namespace fathom::grid::cpu {

/// Steps from the elements of one row of the region to the nearest border of sites: the nearer of the ends of the other
/// axes, which is the same for the whole row, and of the row.
struct RowBorder {
  static constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();

  std::int32_t other = kNone;
  bool ends = false;
  std::int32_t first = 0;   ///< coordinate of the row's first element
  std::int32_t extent = 0;

  std::int32_t steps(std::int32_t i) const {
    const std::int32_t x = first + i;
    return ends ? std::min(other, std::min(x + 1, extent - x)) : other;
  }
};

/// Lowers distances with unit 1 to the steps to the border, if those are at most `kept`. What stays is not written.
void lower_to_border(float* out, std::int32_t count, const RowBorder& border, std::int32_t kept, InstructionSet set);

}  // namespace fathom::grid::cpu
