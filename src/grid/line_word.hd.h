// 32 elements of a line in a few bits, from which the nearest site in the same line follows at once. Shared by host and
// device.
//
// For a mask, bit j says "element j is a site". For labels, and for signed fields, where each element looks for the
// nearest element of another class, bit j says "element j differs from the one before it".
#pragma once

#include <cstdint>

#include "core/root.hd.h"

namespace fathom::grid {

inline constexpr int kWordElements = 32;

struct LineWord {
  std::uint32_t bits = 0;           ///< sites, or changes of class
  std::uint32_t pinned = 0;         ///< elements with distance 0 whatever their class: the background of labels
  std::int32_t left = INT32_MIN;    ///< nearest site before the word; negative: across a periodic border
  std::int32_t right = -1;          ///< nearest site behind the word; ≥ the extent: across a periodic border
};

struct InLine {
  std::uint32_t steps = 0;  ///< ≥ 2³¹: no site in the line
  std::int32_t site = 0;    ///< its coordinate, the lower of two; anything without one
};

FATHOM_HD inline int lowest_bit(std::uint32_t bits) {
#ifdef __CUDA_ARCH__
  return __ffs(static_cast<int>(bits)) - 1;
#else
  return __builtin_ctz(bits);
#endif
}

FATHOM_HD inline int highest_bit(std::uint32_t bits) {
#ifdef __CUDA_ARCH__
  return 31 - __clz(static_cast<int>(bits));
#else
  return 31 - __builtin_clz(bits);
#endif
}

/// The site nearest to the element at `x` of a line, whose word this is.
/// @param changes  bits mark changes of class, not sites: seen from the right, the site is one before the bit
FATHOM_HD inline InLine nearest_in_line(const LineWord& word, std::int32_t x, std::int32_t extent, bool changes) {
  const int j = x % kWordElements;
  const std::int32_t x0 = x - j;
  if (word.pinned >> j & 1) return {0, x};
  const std::uint32_t before = word.bits & (0xFFFFFFFFu >> (31 - j));
  const std::uint32_t behind = word.bits & ~(0xFFFFFFFFu >> (31 - j));
  std::int32_t left = before ? x0 + highest_bit(before) - (changes ? 1 : 0) : word.left;
  std::int32_t right = behind ? x0 + lowest_bit(behind) : word.right;
  // Unsigned: what is missing on a side is at least 2³¹ steps away.
  const std::uint32_t to_left = static_cast<std::uint32_t>(x) - static_cast<std::uint32_t>(left);
  const std::uint32_t to_right = static_cast<std::uint32_t>(right) - static_cast<std::uint32_t>(x);
  if (left < 0) left = static_cast<std::int32_t>(static_cast<std::uint32_t>(left) + static_cast<std::uint32_t>(extent));
  if (right >= extent) right -= extent;
  if (to_left < to_right) return {to_left, left};
  if (to_right < to_left) return {to_right, right};
  return {to_left, left < right ? left : right};
}

}  // namespace fathom::grid
