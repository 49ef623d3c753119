#include "apps/cpu/ball_rows.h"

#include "core/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "apps/cpu/ball_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#ifndef FATHOM_APPS_CPU_BALL_ROWS_ONCE
#define FATHOM_APPS_CPU_BALL_ROWS_ONCE
namespace fathom::apps::cpu {

constexpr std::int64_t kFewRows = 2 * kBlockRows;  ///< which are sooner tested than asked for what is left

}  // namespace fathom::apps::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace fathom::apps::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A column of words of one slice, as a ball sees it.
struct Column {
  std::uint32_t* words;
  const std::int32_t* half;  ///< by y, as the words
  std::int32_t center;       ///< of the ball along x, from the words' first bit
  std::int64_t first;        ///< linear index of the first bit in row 0
  std::int64_t row;          ///< elements between rows
};

/// The rows of a block from `begin`, wherever that is.
/// @returns whether anything is left in them
HWY_INLINE bool cover_block(const Column& column, std::int64_t begin, std::vector<Covered>& covered) {
  const hn::CappedTag<std::int32_t, kBlockRows> di;
  const hn::RebindToUnsigned<decltype(di)> du;
  constexpr auto kLanes = static_cast<int>(hn::MaxLanes(di));
  const auto center = hn::Set(di, column.center), last = hn::Set(di, kWordBits - 1), zero = hn::Zero(di);
  const auto ones = hn::Set(du, ~std::uint32_t{0});
  auto left = hn::Zero(du);
  for (std::int64_t y = begin; y < begin + kBlockRows; y += kLanes) {
    const auto half = hn::LoadU(di, column.half + y);
    const auto from = hn::Max(hn::Sub(center, half), zero), to = hn::Min(hn::Add(center, half), last);
    const auto misses = hn::Gt(from, to);
    const auto low = hn::BitCast(du, hn::Min(from, last)), high = hn::BitCast(du, hn::Sub(last, hn::Max(to, zero)));
    const auto bits = hn::And(hn::Shl(ones, low), hn::Shr(ones, high));
    const auto words = hn::LoadU(du, column.words + y);
    const auto fresh = hn::IfThenZeroElse(hn::RebindMask(du, misses), hn::And(words, bits));
    left = hn::Or(left, hn::Xor(words, fresh));
    if (HWY_LIKELY(hn::AllTrue(du, hn::Eq(fresh, hn::Zero(du))))) continue;
    hn::StoreU(hn::Xor(words, fresh), du, column.words + y);
    std::uint32_t each[kBlockRows];
    hn::StoreU(fresh, du, each);
    for (int k = 0; k < kLanes; ++k)
      if (each[k]) covered.push_back({column.first + (y + k) * column.row, each[k]});
  }
  return !hn::AllTrue(du, hn::Eq(left, hn::Zero(du)));
}

/// Of 64 blocks, those of [begin, end).
HWY_INLINE std::uint64_t bits_between(std::int64_t begin, std::int64_t end) {
  const std::uint64_t all = ~std::uint64_t{0};
  return (begin > 0 ? all << begin : all) & (end < 64 ? ~(all << end) : all);
}

/// Blocks [begin, end), but those in which nothing is left.
HWY_INLINE void cover_live(const Column& column, std::uint64_t* live, std::int64_t begin, std::int64_t end,
                           std::vector<Covered>& covered) {
  for (std::int64_t word = begin / 64; word * 64 < end; ++word)
    for (std::uint64_t left = live[word] & bits_between(begin - word * 64, end - word * 64); left != 0;
         left &= left - 1) {
      const int bit = std::countr_zero(left);
      if (!cover_block(column, (word * 64 + bit) * kBlockRows, covered)) live[word] &= ~(std::uint64_t{1} << bit);
    }
}

void cover_ball(Uncovered& uncovered, const BallPart& part, const BallRows& rows,
                const std::array<std::int64_t, 3>& center, std::vector<Covered>& covered) {
  const std::int64_t height = uncovered.extent[1], width = uncovered.extent[2];
  const std::int64_t reach_z = static_cast<std::int64_t>(rows.reach.size()) - 1;
  const std::int64_t end_z = std::min(part.end_z, center[0] + reach_z + 1);
  for (std::int64_t z = std::max(part.begin_z, center[0] - reach_z); z < end_z; ++z) {
    const auto slice = static_cast<std::size_t>(std::abs(z - center[0]));
    const std::int32_t* half = rows.half.data() + rows.middle[slice] - center[1];
    const std::int64_t reach = rows.reach[slice], widest = half[center[1]],
                       begin_y = std::max<std::int64_t>(0, center[1] - reach),
                       end_y = std::min(height, center[1] + reach + 1);
    const std::int64_t begin = std::max(part.begin_column, std::max<std::int64_t>(0, center[2] - widest) / kWordBits),
                       end = std::min(part.end_column, (center[2] + widest) / kWordBits + 1);
    for (std::int64_t k = begin; k < end; ++k) {
      const Column column{.words = uncovered.words_of(z, k),
                          .half = half,
                          .center = static_cast<std::int32_t>(center[2] - k * kWordBits),
                          .first = z * height * width + k * kWordBits,
                          .row = width};
      if (end_y - begin_y <= kFewRows)
        for (std::int64_t y = begin_y; y < end_y; y += kBlockRows) cover_block(column, y, covered);
      else cover_live(column, uncovered.live_of(z, k), begin_y / kBlockRows, (end_y - 1) / kBlockRows + 1, covered);
    }
  }
}

}  // namespace fathom::apps::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::apps::cpu {

Uncovered::Uncovered(const Lattice3& lattice)
    : extent(lattice.extent),
      columns((extent[2] + kWordBits - 1) / kWordBits),
      blocks((extent[1] + kBlockRows - 1) / kBlockRows),
      pitch(extent[1] + kBlockRows - 1),
      live_words((blocks + 63) / 64),
      words(static_cast<std::size_t>(extent[0] * columns * pitch)),
      live(static_cast<std::size_t>(extent[0] * columns * live_words)) {}

void cover(Uncovered& uncovered, const BallPart& part, const BallRows& rows, const std::array<std::int64_t, 3>& center,
           std::vector<Covered>& covered, InstructionSet instruction_set) {
  FATHOM_COMPILED_FOR(instruction_set, cover_ball)(uncovered, part, rows, center, covered);
}

}  // namespace fathom::apps::cpu
#endif
