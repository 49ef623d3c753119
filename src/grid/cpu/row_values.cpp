#include "grid/cpu/row_values.h"

#include "core/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "grid/cpu/row_values.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Position of the only set bit of each lane; lanes without a bit give anything.
template <class D32>
HWY_INLINE hn::Vec<D32> bit_position(D32 di, hn::Vec<D32> bit) {
  const hn::Rebind<float, D32> df;
  const auto exponent = hn::ShiftRight<23>(hn::BitCast(di, hn::ConvertTo(df, bit)));
  return hn::Sub(hn::And(exponent, hn::Set(di, 0xFF)), hn::Set(di, 127));  // 2³¹ converts as −2³¹: the sign is cut off
}

template <class D32>
HWY_INLINE hn::Vec<D32> lowest_bit(D32 di, hn::Vec<D32> bits) {
  return hn::And(bits, hn::Sub(hn::Zero(di), bits));
}

std::uint32_t reversed(std::uint32_t v) {
  v = ((v >> 1) & 0x55555555u) | ((v & 0x55555555u) << 1);
  v = ((v >> 2) & 0x33333333u) | ((v & 0x33333333u) << 2);
  v = ((v >> 4) & 0x0F0F0F0Fu) | ((v & 0x0F0F0F0Fu) << 4);
  return __builtin_bswap32(v);
}

/// Steps of the 32 elements to their nearest site in the row (≥ 2³¹: none), and that site's coordinate unless null.
void row_steps(const RowWord& word, const Row& row, std::uint32_t* distance, std::int32_t* site) {
  const std::int64_t x0 = row.x0;
  const hn::ScalableTag<std::int32_t> di;
  const hn::ScalableTag<std::uint32_t> du;
  const auto set = [&](std::int64_t v) { return hn::Set(di, static_cast<std::int32_t>(v)); };
  const auto zero = hn::Zero(di), one = set(1), n = set(row.extent);
  const auto bits = set(static_cast<std::int32_t>(word.bits));
  const auto mirrored = set(static_cast<std::int32_t>(reversed(word.bits)));
  const auto pinned = set(static_cast<std::int32_t>(word.pinned));
  for (int lane = 0; lane < kStrip; lane += static_cast<int>(hn::Lanes(di))) {
    const auto j = hn::Add(hn::Iota(di, lane), zero);
    const auto x = hn::Add(j, set(x0));
    // The last site at or before j is, in the mirrored word, the first at or behind 31 − j.
    const auto not_before = hn::Sub(zero, hn::Shl(one, hn::Sub(set(31), j)));
    const auto before = hn::And(mirrored, not_before);
    const auto at = hn::Sub(set(x0 + 31 - (row.changes ? 1 : 0)), bit_position(di, lowest_bit(di, before)));
    const auto left = hn::IfThenElse(hn::Eq(before, zero), set(word.left), at);
    const auto behind = hn::And(bits, hn::Sub(zero, hn::Shl(hn::Shl(one, j), one)));
    const auto right = hn::IfThenElse(hn::Eq(behind, zero), set(word.right),
                                      hn::Add(set(x0), bit_position(di, lowest_bit(di, behind))));
    // Unsigned: what is missing on a side is at least 2³¹ steps away.
    const auto to_left = hn::BitCast(du, hn::Sub(x, left)), to_right = hn::BitCast(du, hn::Sub(right, x));
    const auto is_pinned = hn::Ne(hn::And(pinned, hn::Shl(one, j)), zero);
    const auto nearest = hn::BitCast(di, hn::Min(to_left, to_right));
    hn::StoreU(hn::BitCast(du, hn::IfThenElse(is_pinned, zero, nearest)), du, distance + lane);
    if (!site) continue;
    const auto wrapped_left = hn::IfThenElse(hn::Lt(left, zero), hn::Add(left, n), left);
    const auto wrapped_right = hn::IfThenElse(hn::Lt(right, n), right, hn::Sub(right, n));
    const auto left_nearer = hn::RebindMask(di, hn::Lt(to_left, to_right));
    const auto right_nearer = hn::RebindMask(di, hn::Lt(to_right, to_left));
    const auto nearer = hn::IfThenElse(left_nearer, wrapped_left,
                                       hn::IfThenElse(right_nearer, wrapped_right,
                                                      hn::Min(wrapped_left, wrapped_right)));
    hn::StoreU(hn::IfThenElse(is_pinned, x, nearer), di, site + lane);
  }
}

// Plain loops: the compiler makes them vectors of each instruction set.
template <class V>
HWY_INLINE void group_values(const std::uint32_t* steps, bool euclidean, V weight, V* values) {
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(hn::ScalableTag<V>()));
  for (int i = 0; i < kLanes; ++i) {
    const bool none = steps[i] >> 31 != 0;
    const auto s = static_cast<V>(none ? 0 : static_cast<std::int32_t>(steps[i]));  // its square must not overflow
    const V value = euclidean ? weight * (s * s) : weight * s;
    values[i] = none ? no_value<V>() : value;
  }
}

template <class V>
HWY_INLINE void values_from_steps(const std::uint32_t* steps, const Row& row, V weight, V* values) {
  const auto lane_count = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<V>()));
  const std::int64_t pitch = row.pitch ? row.pitch : lane_count;
  for (int g = 0; g * lane_count < kStrip; ++g) {
    if (row.euclidean) group_values(steps + g * lane_count, true, weight, values + g * pitch);
    else group_values(steps + g * lane_count, false, weight, values + g * pitch);
  }
}

template <class V>
void strip_values(const RowWord& word, const Row& row, V weight, V* values, std::int64_t* index) {
  alignas(64) std::uint32_t steps[kStrip];
  alignas(64) std::int32_t site[kStrip];
  row_steps(word, row, steps, index ? site : nullptr);
  values_from_steps(steps, row, weight, values);
  if (!index) return;
  for (int i = 0; i < kStrip; ++i) index[i] = site[i];
}

void strip_i32(const RowWord& word, const Row& row, std::int32_t weight, std::int32_t* values, std::int64_t* index) {
  strip_values(word, row, weight, values, index);
}
void strip_i64(const RowWord& word, const Row& row, std::int64_t weight, std::int64_t* values, std::int64_t* index) {
  strip_values(word, row, weight, values, index);
}
void strip_f64(const RowWord& word, const Row& row, double weight, double* values, std::int64_t* index) {
  strip_values(word, row, weight, values, index);
}

}  // namespace fathom::grid::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::grid::cpu {

void row_values(const RowWord& word, const Row& row, std::int32_t weight, std::int32_t* values, std::int64_t* index,
                InstructionSet set) {
  FATHOM_COMPILED_FOR(set, strip_i32)(word, row, weight, values, index);
}
void row_values(const RowWord& word, const Row& row, std::int64_t weight, std::int64_t* values, std::int64_t* index,
                InstructionSet set) {
  FATHOM_COMPILED_FOR(set, strip_i64)(word, row, weight, values, index);
}
void row_values(const RowWord& word, const Row& row, double weight, double* values, std::int64_t* index,
                InstructionSet set) {
  FATHOM_COMPILED_FOR(set, strip_f64)(word, row, weight, values, index);
}

}  // namespace fathom::grid::cpu
#endif
