#include "grid/cpu/row_values.h"

#include "core/dispatch.h"
#include "grid/cpu/lines.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "grid/cpu/row_values.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>

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

static_assert(kMostInRow + 8 <= 255, "seven steps more or less than too many are too many, too, and fit a byte");

/// What each byte of site (or change) bits shows.
struct StepsInByte {
  static constexpr std::uint8_t kFar = 255;
  std::uint8_t nearest[256][8];  ///< by element: steps to the nearest site in the byte, kFar without one
  std::uint8_t after[256];  ///< from the byte after this to the last site in this, more than kMostInRow without one
  std::uint8_t until[256];  ///< from the byte before this to the first site in this, kFar without one

  constexpr explicit StepsInByte(bool changes) : nearest(), after(), until() {
    for (int byte = 0; byte < 256; ++byte) {
      int last = kMostInRow + 1, first = kFar;
      for (int p = 7; p >= 0; --p)
        if (byte >> p & 1) first = 8 + p;
      for (int p = 0; p < 8; ++p)
        if (byte >> p & 1) last = 8 - p + changes;
      after[byte] = static_cast<std::uint8_t>(last);
      until[byte] = static_cast<std::uint8_t>(first);
      for (int i = 0; i < 8; ++i) {
        int steps = kFar;
        for (int p = 0; p < 8; ++p)
          if (byte >> p & 1) steps = std::min(steps, p <= i ? i - p + changes : p - i);
        nearest[byte][i] = static_cast<std::uint8_t>(steps);
      }
    }
  }
};
constexpr StepsInByte kStepsToSites(false), kStepsToChanges(true);

const StepsInByte& steps_in_byte(const Row& row) { return row.changes ? kStepsToChanges : kStepsToSites; }

/// What the elements of a word see beyond the byte they are in: unsigned steps, ≥ 2³¹ if nothing.
struct Sides {
  std::uint32_t left[4];   ///< from the byte's first element to the last site before the byte
  std::uint32_t right[4];  ///< from the same element to the first site behind the byte

  Sides(const RowWord& word, const Row& row) {
    const auto x0 = static_cast<std::uint32_t>(row.x0);
    for (unsigned k = 0; k < 4; ++k) {
      // No branches: they would go either way.
      const std::uint32_t x = x0 + 8 * k, bits = word.bits;
      const std::uint32_t before = bits & ((1u << 8 * k) - 1), behind = k < 3 ? bits >> (8 * k + 8) : 0;
      const std::uint32_t last = x0 + 31 - static_cast<std::uint32_t>(std::countl_zero(before)) - row.changes;
      const std::uint32_t next = x + 8 + static_cast<std::uint32_t>(std::countr_zero(behind));
      left[k] = x - (before ? last : static_cast<std::uint32_t>(word.left));
      right[k] = (behind ? next : static_cast<std::uint32_t>(word.right)) - x;
    }
  }
};

constexpr std::uint16_t kBit[8] = {1, 2, 4, 8, 16, 32, 64, 128};

using D32 = hn::CappedTag<std::uint32_t, 8>;

/// Calls visitor(first, steps) for vectors of the 32 elements: steps to their nearest site in the row, ≥ 2³¹ without
/// one.
template <class Visitor>
HWY_INLINE void visit_steps(const RowWord& word, const Row& row, Visitor&& visitor) {
  const D32 d;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const hn::Rebind<std::uint16_t, decltype(d)> d16;
  const Sides sides(word, row);
  const auto& table = steps_in_byte(row).nearest;
  const auto zero = hn::Zero(d), far = hn::Set(d, StepsInByte::kFar);
  for (int k = 0; k < 4; ++k) {
    const std::uint8_t* inside = table[word.bits >> (8 * k) & 0xFF];
    const auto pinned = hn::Set(d, row.pinned >> (8 * k) & 0xFF);
    for (int i = 0; i < 8; i += static_cast<int>(hn::Lanes(d))) {
      const auto j = hn::Iota(d, static_cast<std::uint32_t>(i));
      const auto to_left = hn::Add(hn::Set(d, sides.left[k]), j), to_right = hn::Sub(hn::Set(d, sides.right[k]), j);
      const auto beyond = hn::Min(to_left, to_right), in_byte = hn::PromoteTo(d, hn::LoadU(d8, inside + i));
      const auto nearest = hn::IfThenElse(hn::Eq(in_byte, far), beyond, hn::Min(beyond, in_byte));
      const auto bit = hn::PromoteTo(d, hn::LoadU(d16, kBit + i));
      visitor(8 * k + i, hn::IfThenElse(hn::Eq(hn::And(pinned, bit), zero), nearest, zero));
    }
  }
}

void row_steps(const RowWord& word, const Row& row, std::uint32_t* steps) {
  visit_steps(word, row, [&](int i, hn::Vec<D32> nearest) { hn::StoreU(nearest, D32(), steps + i); });
}

/// Values without the way through memory.
void direct_values(const RowWord& word, const Row& row, std::int32_t weight, std::int32_t* values) {
  const hn::Rebind<std::int32_t, D32> d;
  const auto factor = hn::Set(d, weight), none = hn::Set(d, no_value<std::int32_t>());
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(hn::ScalableTag<std::int32_t>()));
  const std::int64_t gap = row.pitch ? row.pitch - kLanes : 0;
  visit_steps(word, row, [&](int i, hn::Vec<D32> nearest) {
    const auto steps = hn::BitCast(d, nearest), value = hn::Mul(factor, row.euclidean ? hn::Mul(steps, steps) : steps);
    hn::StoreU(hn::IfThenElse(hn::Lt(steps, hn::Zero(d)), none, value), d, values + i + i / kLanes * gap);
  });
}

/// Steps from the elements of a run to the nearest site in their byte, and on either side of it, which are more than
/// kMostInRow where they are too many; eight elements to a number.
struct RunSteps {
  std::uint64_t nearest[kRun / 8], left[kRun / 8], right[kRun / 8];

  /// Fills number w, … of the four bytes of a word.
  HWY_INLINE void fill(int w, const RowWord& word, std::int64_t x0, const StepsInByte& table) {
    constexpr std::uint64_t kEach = 0x0101010101010101, kPlace = 0x0706050403020100;
    const auto strip = static_cast<std::uint32_t>(x0);
    const auto byte = [&](int k) { return word.bits >> 8 * k & 0xFF; };
    std::uint32_t before = std::min<std::uint32_t>(strip - static_cast<std::uint32_t>(word.left), kMostInRow + 1);
    for (int k = 0; k < 4; ++k) {
      std::memcpy(nearest + w + k, table.nearest[byte(k)], 8);
      left[w + k] = before * kEach + kPlace;
      before = std::min<std::uint32_t>(before + 8, table.after[byte(k)]);
    }
    // Negative only in bytes behind the row's end, where a site across a periodic border may be the next.
    auto behind =
        static_cast<int>(std::min<std::uint32_t>(static_cast<std::uint32_t>(word.right) - strip, 24 + 255)) - 24;
    for (int k = 3; k >= 0; --k) {
      right[w + k] = static_cast<std::uint64_t>(behind) * kEach - kPlace;
      behind = std::min<int>(behind + 8, table.until[byte(k)]);
    }
  }

  template <class D8>
  HWY_INLINE hn::Vec<D8> load(D8 d, int element) const {
    const auto at = [&](const std::uint64_t* eights) {
      return hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(eights) + element);
    };
    return hn::Min(at(nearest), hn::Min(at(left), at(right)));
  }
};

/// The same for values in 16 bits: weight · steps² up to `reach` steps, else kNotNear.
void near_row(const RowWord* words, const std::uint32_t* pinned_bits, int count, const NearRow& near,
              std::uint16_t* values) {
  const hn::CappedTag<std::uint16_t, kStrip> d;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const auto none = hn::Set(d, kNotNear), weight = hn::Set(d, near.weight);
  const auto reach = hn::Set(d, static_cast<std::uint16_t>(near.reach));
  RunSteps run;
  std::uint32_t zeros[kStripsOfRun];
  // All steps first: a vector would have to wait for the numbers it takes together.
  for (int w = 0; w < count; ++w) {
    // Nothing reaches the elements behind the row's end: they must not look as if something were far from its site.
    const std::int64_t x0 = near.row.x0 + w * kStrip, rest = near.row.extent - x0;
    zeros[w] = (pinned_bits ? pinned_bits[w] : 0) | (rest < kStrip ? ~0u << rest : 0u);
    if (zeros[w] != ~0u) run.fill(4 * w, words[w], x0, steps_in_byte(near.row));
  }
  for (int w = 0; w < count; ++w) {
    std::uint16_t* out = values + w * kStrip;
    if (zeros[w] == ~0u) {
      std::fill_n(out, kStrip, std::uint16_t{0});
      continue;
    }
    for (int i = 0; i < kStrip; i += static_cast<int>(hn::Lanes(d))) {
      const auto steps = hn::PromoteTo(d, run.load(d8, w * kStrip + i));
      const auto near_enough = hn::Eq(hn::SaturatedSub(steps, reach), hn::Zero(d));
      const auto value = hn::IfThenElse(near_enough, hn::Mul(weight, hn::Mul(steps, steps)), none);
      const std::uint64_t bits = zeros[w] >> i;  // as many as LoadMaskBits may read
      const auto zero = hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&bits));
      hn::StoreU(hn::IfThenZeroElse(zero, value), d, out + i);
    }
  }
}

std::uint32_t reversed(std::uint32_t v) {
  v = ((v >> 1) & 0x55555555u) | ((v & 0x55555555u) << 1);
  v = ((v >> 2) & 0x33333333u) | ((v & 0x33333333u) << 2);
  v = ((v >> 4) & 0x0F0F0F0Fu) | ((v & 0x0F0F0F0Fu) << 4);
  return __builtin_bswap32(v);
}

/// The same, and the coordinate of that site.
void row_sites(const RowWord& word, const Row& row, std::uint32_t* distance, std::int32_t* site) {
  const std::int64_t x0 = row.x0;
  const hn::ScalableTag<std::int32_t> di;
  const hn::ScalableTag<std::uint32_t> du;
  const auto set = [&](std::int64_t v) { return hn::Set(di, static_cast<std::int32_t>(v)); };
  const auto zero = hn::Zero(di), one = set(1), n = set(row.extent);
  const auto bits = set(static_cast<std::int32_t>(word.bits));
  const auto mirrored = set(static_cast<std::int32_t>(reversed(word.bits)));
  const auto pinned = set(static_cast<std::int32_t>(row.pinned));
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
    const auto wrapped_left = hn::IfThenElse(hn::Lt(left, zero), hn::Add(left, n), left);
    const auto wrapped_right = hn::IfThenElse(hn::Lt(right, n), right, hn::Sub(right, n));
    const auto left_nearer = hn::RebindMask(di, hn::Lt(to_left, to_right));
    const auto right_nearer = hn::RebindMask(di, hn::Lt(to_right, to_left));
    const auto nearer = hn::IfThenElse(
        left_nearer, wrapped_left, hn::IfThenElse(right_nearer, wrapped_right, hn::Min(wrapped_left, wrapped_right)));
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
void strip_values(const RowWord& word, const Row& row, V weight, V* values, IndexOf<V>* index) {
  alignas(64) std::uint32_t steps[kStrip];
  alignas(64) std::int32_t site[kStrip];
  index ? row_sites(word, row, steps, site) : row_steps(word, row, steps);
  values_from_steps(steps, row, weight, values);
  if (!index) return;
  for (int i = 0; i < kStrip; ++i) index[i] = site[i];
}

void strip_i32(const RowWord& word, const Row& row, std::int32_t weight, std::int32_t* values, std::int32_t* index) {
  index ? strip_values(word, row, weight, values, index) : direct_values(word, row, weight, values);
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

void row_values(const RowWord& word, const Row& row, std::int32_t weight, std::int32_t* values, std::int32_t* index,
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

void near_row_values(const RowWord* words, const std::uint32_t* pinned, int count, const NearRow& row,
                     std::uint16_t* values, InstructionSet set) {
  FATHOM_COMPILED_FOR(set, near_row)(words, pinned, count, row, values);
}

}  // namespace fathom::grid::cpu
#endif
