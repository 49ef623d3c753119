// Work mapping: vectors of neighbouring lines; for each, 8 targets live in registers while sources stream by.
#include "grid/cpu/near_pass.h"

#include "core/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "grid/cpu/near_pass.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D16 = hn::CappedTag<std::uint16_t, kRun>;
using V16 = hn::Vec<D16>;
using D8 = hn::CappedTag<std::uint8_t, kRun>;

HWY_INLINE bool any_above(V16 values, std::uint16_t bound) {
  // Unsigned comparison by what saturated subtraction leaves.
  const D16 d;
  return !hn::AllTrue(d, hn::Eq(hn::SaturatedSub(values, hn::Set(d, bound)), hn::Zero(d)));
}

/// Makes rows −k … −1 and rows … rows + k − 1 readable.
HWY_INLINE void pad(NearColumn& column, std::int64_t k) {
  for (; column.padded < k; ++column.padded) {
    std::fill_n(column.source - (column.padded + 1) * kRun, kRun, kNotNear);
    std::fill_n(column.source + (column.rows + column.padded) * kRun, kRun, kNotNear);
  }
}

/// Squares of the steps to the ends of runs.
HWY_INLINE V16 run_end_values(const NearColumn& column, std::int64_t at) {
  const D16 d;
  const hn::Rebind<std::uint8_t, D16> d8;
  const auto steps = hn::PromoteTo(d, hn::LoadU(d8, column.steps + at));
  const auto value = hn::Mul(hn::Set(d, column.cost[1]), hn::Mul(steps, steps));
  const auto reach = hn::Set(d, static_cast<std::uint16_t>(column.reach));
  return hn::IfThenElse(hn::Eq(hn::SaturatedSub(steps, reach), hn::Zero(d)), value, hn::Set(d, kNotNear));
}

HWY_INLINE V16 largest_of(const V16* best) {
  V16 largest = best[0];
  for (int r = 1; r < kNearTargets; ++r) largest = hn::Max(largest, best[r]);
  return largest;
}

HWY_INLINE void widen_window(const std::uint16_t* centre, int k, std::uint16_t cost, V16* best) {
  const D16 d;
  const V16 step = hn::Set(d, cost);
  for (int r = 0; r < kNearTargets; ++r) {
    const std::uint16_t* p = centre + r * kRun;
    best[r] = hn::Min(best[r], hn::SaturatedAdd(hn::Min(hn::LoadU(d, p - k * kRun), hn::LoadU(d, p + k * kRun)), step));
  }
}

/// One vector of lines. False if a target's value is above the cap.
HWY_INLINE bool search(NearColumn& column, std::int64_t y, int line, const NearResults& results) {
  const D16 d;
  const std::uint16_t* centre = column.source + y * kRun + line;
  std::uint16_t* out = results.data + line;
  V16 best[kNearTargets];
  for (int r = 0; r < kNearTargets; ++r) best[r] = hn::LoadU(d, centre + r * kRun);
  if (!any_above(largest_of(best), 0)) {
    for (int r = 0; r < results.count; ++r) hn::StoreU(hn::Zero(d), d, out + r * results.pitch);
    return true;
  }
  if (column.steps)
    for (int r = 0; r < kNearTargets; ++r) best[r] = hn::Min(best[r], run_end_values(column, (y + r) * kRun + line));
  int k = 1;
  for (; k <= column.reach; ++k) {
    if ((k <= 4 || k % 2 == 0) && !any_above(largest_of(best), column.cost[k]))
      break;  // asking is as dear as half a step
    if (y < k || y + kNearTargets + k > column.rows) pad(column, k + kNearTargets);
    widen_window(centre, k, column.cost[k], best);
  }
  bool near = true;
  const V16 cap = hn::Set(d, column.cap);
  for (int r = 0; r < kNearTargets; ++r) {
    if (r >= results.count) break;
    const auto kept = hn::Eq(hn::SaturatedSub(best[r], cap), hn::Zero(d));
    near &= hn::AllTrue(d, kept);
    hn::StoreU(hn::IfThenElse(kept, best[r], hn::Set(d, kNotNear)), d, out + r * results.pitch);
  }
  return near;
}

bool pass(NearColumn& column, std::int64_t y, const NearResults& results) {
  bool near = true;
  if (y + kNearTargets > column.rows) pad(column, kNearTargets);
  for (int line = 0; line < column.vectors; line += static_cast<int>(hn::Lanes(D16())))
    near &= search(column, y, line, results);
  return near;
}

void run_ends(const std::uint32_t* changes, std::int64_t rows, std::uint8_t* steps) {
  const D8 d;
  const auto one = hn::Set(d, 1), zero = hn::Zero(d);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(changes);
  for (int line = 0; line < kRun; line += static_cast<int>(hn::Lanes(d))) {
    auto down = hn::Set(d, kNoEnd);
    for (std::int64_t y = 0; y < rows; ++y) {
      std::uint64_t bits;  // as many as LoadMaskBits may read
      std::memcpy(&bits, bytes + (y * kRun + line) / 8, sizeof bits);
      bits >>= line % 8;  // where vectors have a single lane
      const auto changed = hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&bits));
      down = hn::SaturatedAdd(hn::IfThenZeroElse(changed, down), one);
      hn::StoreU(down, d, steps + y * kRun + line);
    }
    auto up = hn::Set(d, kNoEnd), before_change = zero;  // 1 where the class changes behind this row
    for (std::int64_t y = rows - 1; y >= 0; --y) {
      std::uint8_t* at = steps + y * kRun + line;
      up = hn::SaturatedAdd(hn::IfThenZeroElse(hn::Eq(before_change, one), up), one);
      before_change = hn::LoadU(d, at);  // 1 only right behind a change
      hn::StoreU(hn::Min(before_change, up), d, at);
    }
  }
}

}  // namespace fathom::grid::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::grid::cpu {

bool near_pass(NearColumn& column, std::int64_t y, const NearResults& results, InstructionSet set) {
  return FATHOM_COMPILED_FOR(set, pass)(column, y, results);
}
void near_run_ends(const std::uint32_t* changes, std::int64_t rows, std::uint8_t* steps, InstructionSet set) {
  FATHOM_COMPILED_FOR(set, run_ends)(changes, rows, steps);
}

}  // namespace fathom::grid::cpu
#endif
