// Distances along the slow axis, without storing them: one bit per element says where the sites are, one 16-bit carry
// per kBlock elements how far above the block the last site is; any row follows by counting from there.
//
// Bit kBlock−1−r of a word is row r, so that the lowest set bit is the last site. A column is one element of the plane
// across the slow axis; columns are dense, whatever the strides of the input.
//
// Source: the two scans of Meijster, Roerdink & Hesselink 2000; that they keep bits and carries, and count up and down
// when a block is at hand, is Fathom's. Cost: the input is read once, ¼ byte per element is kept.
#if defined(FATHOM_GRID_CPU_PLAIN_SWEEP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_GRID_CPU_PLAIN_SWEEP_INL_H
#undef FATHOM_GRID_CPU_PLAIN_SWEEP_INL_H
#else
#define FATHOM_GRID_CPU_PLAIN_SWEEP_INL_H
#endif

#include "grid/cpu/plain_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::plain::HWY_NAMESPACE {

HWY_INLINE V16 row_bit(int row) { return hn::Set(D16(), static_cast<std::uint16_t>(1u << (kBlock - 1 - row))); }

/// Distance at the next row (in the direction of travel) when it was `distance` at this one.
HWY_INLINE V16 step(V16 distance, V16 word, V16 bit) {
  return hn::IfThenZeroElse(hn::TestBit(word, bit), hn::SaturatedAdd(distance, hn::Set(D16(), 1)));
}

/// Distance at the last of so many rows to the last site above, given the same for the row before them.
HWY_INLINE V16 carry_down(V16 distance, V16 word, int rows = kBlock) {
  const D16 d;
  const V16 zero = hn::Zero(d);
  const V16 lowest = hn::And(word, hn::Sub(zero, word));
  const V16 inside = hn::PopulationCount(hn::Sub(lowest, hn::Set(d, 1)));  // zeros below the lowest bit
  return hn::IfThenElse(hn::Eq(word, zero), hn::SaturatedAdd(distance, hn::Set(d, static_cast<std::uint16_t>(rows))),
                        inside);
}

/// Distance at a block's first row to the first site below, given the same for the block after.
HWY_INLINE V16 carry_up(V16 distance, V16 word) {
  const D16 d;
  V16 smeared = word;
  smeared = hn::Or(smeared, hn::ShiftRight<1>(smeared));
  smeared = hn::Or(smeared, hn::ShiftRight<2>(smeared));
  smeared = hn::Or(smeared, hn::ShiftRight<4>(smeared));
  smeared = hn::Or(smeared, hn::ShiftRight<8>(smeared));
  const V16 inside = hn::Sub(hn::Set(d, kBlock), hn::PopulationCount(smeared));  // zeros above the highest bit
  return hn::IfThenElse(hn::Eq(word, hn::Zero(d)), hn::SaturatedAdd(distance, hn::Set(d, kBlock)), inside);
}

/// rows[r·pitch + x] = distance of row r to the last site at or above it, for all rows of a block.
/// @param above  the same at the last row of the block before
HWY_NOINLINE inline void sweep_down(const std::uint16_t* words, const std::uint16_t* above, std::int64_t columns,
                                    std::uint16_t* rows, std::int64_t pitch) {
  const D16 d;
  for (std::int64_t x = 0; x < columns; x += kLanes16) {
    V16 distance = hn::Load(d, above + x);
    const V16 word = hn::Load(d, words + x);
    for (int r = 0; r < kBlock; ++r) {
      distance = step(distance, word, row_bit(r));
      hn::Store(distance, d, rows + r * pitch + x);
    }
  }
}

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
