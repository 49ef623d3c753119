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

/// The bits of a row, piece by piece.
void find_bits(const Classes& classes, const std::byte* row, std::int64_t count, const std::uint32_t* pinned,
               std::uint32_t* bits, Monitor& monitor) {
  constexpr std::int64_t kPiece = std::int64_t{1} << 20;
  const auto element = static_cast<std::int64_t>(size_of(classes.dtype()));
  for (std::int64_t x = 0; x < count; x += kPiece) {
    const std::uint32_t* background = pinned ? pinned + x / kStrip : nullptr;
    classes.row_bits(row + x * element, std::min(kPiece, count - x), background, bits + x / kStrip);
    if (x > 0 && classes.by_label()) {  // whether the piece's first element differs from the one before
      const std::uint32_t two = pinned ? background[-1] >> 31 | background[0] << 1 : 0;
      std::uint32_t both;
      classes.row_bits(row + (x - 1) * element, 2, &two, &both);
      bits[x / kStrip] |= both >> 1 & 1;
    }
    if (count > kPiece) monitor.advance(0);
  }
}

}  // namespace

void make_row_words(const Classes& classes, const std::byte* row, std::int64_t count, bool periodic, RowWord* words,
                    const std::uint32_t* pinned, std::uint32_t* scratch, Monitor& monitor) {
  const std::int64_t strips = strips_of(count);
  find_bits(classes, row, count, pinned, scratch, monitor);
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
