#include "apps/cpu/ball_rows.h"

#include "core/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "apps/cpu/ball_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

HWY_BEFORE_NAMESPACE();
namespace fathom::apps::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Rows of one slice in one column of words.
struct Strip {
  std::uint32_t* words;
  const std::int32_t* half;
  std::int64_t rows;
  std::int32_t center;  ///< of the ball along x, from the words' first bit
  std::int64_t first;   ///< linear index of the first row's first bit
  std::int64_t row;     ///< elements between rows
};

HWY_INLINE void cover_strip(const Strip& strip, std::vector<Covered>& covered) {
  const hn::CappedTag<std::int32_t, kMostLanes> di;
  const hn::RebindToUnsigned<decltype(di)> du;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(di));
  const auto center = hn::Set(di, strip.center), last = hn::Set(di, kWordBits - 1), zero = hn::Zero(di);
  const auto ones = hn::Set(du, ~std::uint32_t{0});
  for (std::int64_t y = 0; y < strip.rows; y += lanes) {
    const auto half = hn::LoadU(di, strip.half + y);
    const auto from = hn::Max(hn::Sub(center, half), zero), to = hn::Min(hn::Add(center, half), last);
    const auto misses = hn::Gt(from, to);
    const auto low = hn::BitCast(du, hn::Min(from, last)), high = hn::BitCast(du, hn::Sub(last, hn::Max(to, zero)));
    const auto bits = hn::And(hn::Shl(ones, low), hn::Shr(ones, high));
    const auto words = hn::LoadU(du, strip.words + y);
    const auto fresh = hn::IfThenZeroElse(hn::RebindMask(du, misses), hn::And(words, bits));
    if (HWY_LIKELY(hn::AllTrue(du, hn::Eq(fresh, hn::Zero(du))))) continue;
    hn::StoreU(hn::Xor(words, fresh), du, strip.words + y);
    std::uint32_t each[kMostLanes];
    hn::StoreU(fresh, du, each);
    for (std::int64_t k = 0; k < lanes; ++k)
      if (each[k]) covered.push_back({strip.first + (y + k) * strip.row, each[k]});
  }
}

void cover_ball(Uncovered& uncovered, const BallPart& part, const BallRows& rows,
                const std::array<std::int64_t, 3>& center, std::vector<Covered>& covered) {
  const auto [depth, height, width] = uncovered.extent;
  const std::int64_t reach_z = static_cast<std::int64_t>(rows.reach.size()) - 1;
  const std::int64_t end_z = std::min(part.end_z, center[0] + reach_z + 1);
  for (std::int64_t z = std::max(part.begin_z, center[0] - reach_z); z < end_z; ++z) {
    const auto slice = static_cast<std::size_t>(std::abs(z - center[0]));
    const std::int32_t* half = rows.half.data() + rows.middle[slice];
    const std::int64_t reach = rows.reach[slice], begin_y = std::max<std::int64_t>(0, center[1] - reach),
                       end_y = std::min(height, center[1] + reach + 1);
    const std::int64_t begin = std::max(part.begin_column, std::max<std::int64_t>(0, center[2] - *half) / kWordBits),
                       end = std::min(part.end_column, (center[2] + *half) / kWordBits + 1);
    for (std::int64_t column = begin; column < end; ++column)
      cover_strip({.words = uncovered.words.data() + (z * uncovered.columns + column) * uncovered.pitch + begin_y,
                   .half = half + (begin_y - center[1]),
                   .rows = end_y - begin_y,
                   .center = static_cast<std::int32_t>(center[2] - column * kWordBits),
                   .first = (z * height + begin_y) * width + column * kWordBits,
                   .row = width},
                  covered);
  }
}

}  // namespace fathom::apps::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::apps::cpu {

Uncovered::Uncovered(const Lattice3& lattice)
    : extent(lattice.extent),
      columns((extent[2] + kWordBits - 1) / kWordBits),
      pitch(extent[1] + kMostLanes - 1),
      words(static_cast<std::size_t>(extent[0] * columns * pitch)) {
  for (std::int64_t z = 0; z < extent[0]; ++z)
    for (std::int64_t column = 0; column < columns; ++column) {
      const std::int64_t bits = std::min<std::int64_t>(kWordBits, extent[2] - column * kWordBits);
      std::fill_n(words.begin() + (z * columns + column) * pitch, extent[1], ~std::uint32_t{0} >> (kWordBits - bits));
    }
}

void cover(Uncovered& uncovered, const BallPart& part, const BallRows& rows, const std::array<std::int64_t, 3>& center,
           std::vector<Covered>& covered, InstructionSet instruction_set) {
  FATHOM_COMPILED_FOR(instruction_set, cover_ball)(uncovered, part, rows, center, covered);
}

}  // namespace fathom::apps::cpu
#endif
