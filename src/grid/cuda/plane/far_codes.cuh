// Which of several columns that are as near to an element has the site with the lowest index: the one whose code is the
// least.
//
// Values are 2 d² + 1 where a column's nearest site is below and none as near above, else 2 d². Of columns with one
// value, the one with more steps has its site fewer rows away. Above, the lowest row is the farthest, so that the
// fewest steps are right; below, it is the nearest, so that the most are, and there their bits are turned round. Of as
// many steps, those to the left are right.
#pragma once

#include <cstdint>

namespace fathom::grid::cuda::plane {

/// Twice the steps to a column, and 1 if they go to the right; turned round below.
struct ColumnCode {
  static __device__ unsigned of(int steps) { return static_cast<unsigned>(2 * abs(steps)) + unsigned{steps > 0}; }
  /// The bits that are turned round. @param value  1 in its last bit: below
  static __device__ unsigned turned(unsigned value) { return (0u - (value & 1)) & 0x1FFFEu; }
  static __device__ unsigned of(unsigned value, int steps) { return of(steps) ^ turned(value); }
};

}  // namespace fathom::grid::cuda::plane
