// The first pass of the general engine, along the contiguous axis: a few bits per element from which the nearest site
// in the same row follows at once, so that the pass stores neither distances nor indices.
//
// A row is cut into strips of 32 elements. A strip keeps one bit per element and the nearest site beyond either end.
// For a mask, bit j says "element j is a site". For labels, and for signed fields, where each element looks for the
// nearest element of another class, bit j says "element j differs from the one before it".
// Source: the bit-packed rows of Man et al. 2011; departs by keeping carries instead of distances. Cost O(N).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/parallel.h"
#include "grid/cpu/classes.h"

namespace fathom::grid::cpu {

inline constexpr int kStrip = 32;  ///< elements per strip

/// No site on that side: either value makes the distance, in 32-bit unsigned arithmetic, at least 2³¹.
inline constexpr std::int32_t kNoneLeft = INT32_MIN;
inline constexpr std::int32_t kNoneRight = -1;

struct RowWord {
  std::uint32_t bits = 0;           ///< sites, or changes of class
  std::int32_t left = kNoneLeft;    ///< nearest site before the strip; negative: across a periodic border
  std::int32_t right = kNoneRight;  ///< nearest site behind the strip; ≥ the extent: across a periodic border
};

inline std::int64_t strips_of(std::int64_t count) { return (count + kStrip - 1) / kStrip; }

/// Fills the words of one row.
/// @param row      first of `count` elements
/// @param words    strips_of(count) words
/// @param pinned   strips_of(count) words: the row's background; unused unless classes.pins()
/// @param scratch  strips_of(count) words
/// @param monitor  asked now and then: rows may be long
void make_row_words(const Classes& classes, const std::byte* row, std::int64_t count, bool periodic, RowWord* words,
                    const std::uint32_t* pinned, std::uint32_t* scratch, Monitor& monitor);

}  // namespace fathom::grid::cpu
