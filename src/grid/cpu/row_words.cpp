#include "grid/cpu/row_words.h"

#include <algorithm>
#include <bit>

namespace fathom::grid::cpu {

namespace {

/// Turns site bits into change bits: bit j says whether element j is of another class than element j − 1.
void sites_to_changes(RowWord* words, std::int64_t strips, std::int64_t count) {
  std::uint32_t before = words[0].bits & 1;  // the first element has none before it
  for (std::int64_t s = 0; s < strips; ++s) {
    const std::uint32_t bits = words[s].bits;
    words[s].bits = bits ^ (bits << 1 | before);
    before = bits >> 31;
  }
  const int rest = static_cast<int>(count % kStrip);
  if (rest) words[strips - 1].bits &= (1u << rest) - 1;
}

/// Carries towards the right: where the nearest site before each strip lies.
/// @param shift  1 if a bit marks a change: the site it stands for, seen from the right, is one before it
void carry_right(RowWord* words, std::int64_t strips, std::int32_t last, int shift) {
  for (std::int64_t s = 0; s < strips; ++s) {
    words[s].left = last;
    const auto here = static_cast<std::int32_t>(s * kStrip + 31 - std::countl_zero(words[s].bits | 1)) - shift;
    last = words[s].bits ? here : last;
  }
}

void carry_left(RowWord* words, std::int64_t strips, std::int32_t next) {
  for (std::int64_t s = strips - 1; s >= 0; --s) {
    words[s].right = next;
    const auto here = static_cast<std::int32_t>(s * kStrip + std::countr_zero(words[s].bits | 1u << 31));
    next = words[s].bits ? here : next;
  }
}

}  // namespace

void make_row_words(const Classes& classes, const std::byte* row, std::int64_t count, bool periodic, RowWord* words,
                    const std::uint32_t* pinned, std::uint32_t* scratch) {
  const std::int64_t strips = strips_of(count);
  classes.row_bits(row, count, pinned, scratch);
  for (std::int64_t s = 0; s < strips; ++s) words[s] = {.bits = scratch[s]};
  if (classes.boundaries() && !classes.by_label()) sites_to_changes(words, strips, count);
  const auto last_element = (count - 1) * static_cast<std::int64_t>(size_of(classes.dtype()));
  if (classes.boundaries() && periodic && classes.differ(row, row + last_element)) words[0].bits |= 1;

  const int shift = classes.boundaries() ? 1 : 0;
  std::int32_t last = kNoneLeft, first = kNoneRight;
  if (periodic) {
    const auto n = static_cast<std::int32_t>(count);
    for (std::int64_t s = 0; s < strips; ++s) {
      if (!words[s].bits) continue;
      const auto base = static_cast<std::int32_t>(s * kStrip);
      if (first == kNoneRight) first = base + std::countr_zero(words[s].bits) + n;
      last = base + 31 - std::countl_zero(words[s].bits) - shift - n;
    }
  }
  carry_right(words, strips, last, shift);
  carry_left(words, strips, first);
}

}  // namespace fathom::grid::cpu
