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

/// A value, up to kMost, and behind it the code: where all sites are less than kReach away. Keys are sums of what rows
/// and columns come to.
class ColumnKey {
  static constexpr int kCodeBits = 11;
  static constexpr unsigned kTurned = 0x7FEu;        ///< the bits of the code that are turned round
  static constexpr unsigned kMost = (1u << 20) - 1;  ///< no sum of two keys wraps

 public:
  static constexpr float kReach = 724;
  static_assert(2 * 724 * 724 <= kMost && 2 * 724 < kTurned);
  static constexpr unsigned kNone = kMost << kCodeBits;  ///< for steps that add too much

  /// Of a value along a candidate's own column.
  static __device__ unsigned along(unsigned value) {
    return min(value, kMost) << kCodeBits | (value & 1 ? kTurned : 0);
  }
  static __device__ bool is_below(unsigned along) { return along & kTurned; }
  /// What steps to the candidate add. @param square  what they add to the value
  static __device__ unsigned across(unsigned square, int steps, bool below) {
    if (square >= kMost) return kNone;
    const unsigned code = ColumnCode::of(steps);
    return (square << kCodeBits) + (below ? (code ^ kTurned) - kTurned : code);
  }
  static __device__ unsigned value(unsigned key) { return key >> kCodeBits; }
  static __device__ unsigned code(unsigned key) {
    const unsigned code = key & ((1u << kCodeBits) - 1);
    return value(key) & 1 ? code ^ kTurned ^ ColumnCode::turned(1) : code;
  }
};

}  // namespace fathom::grid::cuda::plane
