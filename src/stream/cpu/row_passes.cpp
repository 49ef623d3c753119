#include "stream/cpu/row_passes.h"

#include "core/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stream/cpu/row_passes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace fathom::stream::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void pack(const std::uint8_t* sites, std::int64_t count, std::uint64_t* words) {
  const hn::CappedTag<std::uint8_t, 64> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t x = 0;
  if (lanes >= 8)
    for (; x + 64 <= count; x += 64) {
      std::uint8_t bits[64] = {};
      for (std::int64_t k = 0; k < 64; k += lanes)
        hn::StoreMaskBits(d, hn::Ne(hn::LoadU(d, sites + x + k), hn::Zero(d)), bits + k / 8);
      std::memcpy(words + x / 64, bits, sizeof(std::uint64_t));
    }
  for (; x < count; x += 64) {
    std::uint64_t word = 0;
    for (std::int64_t k = 0; k < std::min<std::int64_t>(64, count - x); ++k)
      word |= std::uint64_t{sites[x + k] != 0} << k;
    words[x / 64] = word;
  }
}

void runs(const std::uint64_t* words, std::int64_t count, bool merge, std::uint8_t* run, std::uint8_t* near) {
  const hn::CappedTag<std::uint8_t, 64> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto* const bits = reinterpret_cast<const std::uint8_t*>(words);
  std::int64_t x = 0;
  if (lanes >= 8)
    for (; x + lanes <= count; x += lanes) {
      std::uint8_t mask[8] = {};
      std::memcpy(mask, bits + x / 8, static_cast<std::size_t>(lanes) / 8);
      const auto rows =
          hn::IfThenZeroElse(hn::LoadMaskBits(d, mask), hn::SaturatedAdd(hn::LoadU(d, run + x), hn::Set(d, 1)));
      hn::StoreU(rows, d, run + x);
      hn::StoreU(merge ? hn::Min(rows, hn::LoadU(d, near + x)) : rows, d, near + x);
    }
  for (; x < count; ++x) {
    run[x] = words[x / 64] >> x % 64 & 1 ? 0 : static_cast<std::uint8_t>(std::min(255, run[x] + 1));
    near[x] = merge ? std::min(run[x], near[x]) : run[x];
  }
}

void squares(const std::uint8_t* near, const std::int32_t* before, const std::int32_t* behind, std::int32_t y,
             std::int64_t count, std::uint16_t* squared) {
  constexpr std::int32_t kMost = 255;  // whose square uint16 holds
  const hn::ScalableTag<std::int32_t> d;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const hn::Rebind<std::uint16_t, decltype(d)> d16;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto far = hn::Set(d, kMost + 1), at = hn::Set(d, y);
  std::int64_t x = 0;
  for (; x + lanes <= count; x += lanes) {
    const auto b = hn::LoadU(d, before + x), n = hn::LoadU(d, behind + x);
    const auto up = hn::IfThenElse(hn::Lt(b, hn::Zero(d)), far, hn::Sub(at, b)),
               down = hn::IfThenElse(hn::Lt(n, hn::Zero(d)), far, hn::Sub(n, at)),
               here = hn::PromoteTo(d, hn::LoadU(d8, near + x));
    const auto in_strip = hn::IfThenElse(hn::Eq(here, hn::Set(d, kFar)), far, here);
    const auto rows = hn::Min(in_strip, hn::Min(up, down));
    const auto square = hn::IfThenElse(hn::Gt(rows, hn::Set(d, kMost)), hn::Set(d, kNotNear), hn::Mul(rows, rows));
    hn::StoreU(hn::DemoteTo(d16, square), d16, squared + x);
  }
  for (; x < count; ++x) {
    const std::int32_t up = before[x] < 0 ? kMost + 1 : y - before[x], down = behind[x] < 0 ? kMost + 1 : behind[x] - y,
                       here = near[x] == kFar ? kMost + 1 : near[x], rows = std::min(here, std::min(up, down));
    squared[x] = rows > kMost ? kNotNear : static_cast<std::uint16_t>(rows * rows);
  }
}

/// Some vectors at a time live in registers while their surroundings stream by.
bool around(const std::uint16_t* squared, std::int64_t count, std::uint16_t* out) {
  constexpr int kVectors = 8;
  const hn::CappedTag<std::uint16_t, 32> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t x = 0; x < count; x += kVectors * lanes) {
    const std::uint16_t* const center = squared + x;
    V best[kVectors];
    for (int v = 0; v < kVectors; ++v) best[v] = hn::LoadU(d, center + v * lanes);
    // What lies behind the row's end is not near, and must not keep the search going.
    for (int v = 0; v < kVectors; ++v)
      if (x + (v + 1) * lanes > count) {
        const std::int64_t valid = std::max<std::int64_t>(0, count - x - v * lanes);
        best[v] = hn::IfThenElseZero(hn::FirstN(d, static_cast<std::size_t>(valid)), best[v]);
      }
    std::int64_t k = 1;
    for (; k <= kReach; ++k) {
      const V square = hn::Set(d, static_cast<std::uint16_t>(k * k));
      V largest = best[0];
      for (int v = 1; v < kVectors; ++v) largest = hn::Max(largest, best[v]);
      if (hn::AllTrue(d, hn::Eq(hn::SaturatedSub(largest, square), hn::Zero(d)))) break;
      for (int v = 0; v < kVectors; ++v) {
        const std::uint16_t* const at = center + v * lanes;
        best[v] = hn::Min(best[v], hn::SaturatedAdd(hn::Min(hn::LoadU(d, at - k), hn::LoadU(d, at + k)), square));
      }
    }
    if (k > kReach) return false;
    for (int v = 0; v < kVectors; ++v) hn::StoreU(best[v], d, out + x + v * lanes);
  }
  return true;
}

void roots(const std::uint16_t* squared, std::int64_t count, const float* table, float* out) {
  std::int64_t x = 0;
  if (!table) {
    const hn::ScalableTag<float> d;
    const hn::Rebind<std::int32_t, decltype(d)> di;
    const hn::Rebind<std::uint16_t, decltype(d)> d16;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (; x + lanes <= count; x += lanes)
      hn::StoreU(hn::Sqrt(hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(d16, squared + x)))), d, out + x);
  }
  for (; x < count; ++x) out[x] = table ? table[squared[x]] : std::sqrt(static_cast<float>(squared[x]));
}

}  // namespace fathom::stream::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::stream::cpu {

void pack_bits(const std::uint8_t* sites, std::int64_t count, std::uint64_t* words, InstructionSet set) {
  FATHOM_COMPILED_FOR(set, pack)(sites, count, words);
}
void step_runs(const std::uint64_t* words, std::int64_t count, bool merge, std::uint8_t* run, std::uint8_t* near,
               InstructionSet set) {
  FATHOM_COMPILED_FOR(set, runs)(words, count, merge, run, near);
}
void square_columns(const std::uint8_t* near, const std::int32_t* before, const std::int32_t* behind, std::int32_t y,
                    std::int64_t count, std::uint16_t* squared, InstructionSet set) {
  FATHOM_COMPILED_FOR(set, squares)(near, before, behind, y, count, squared);
}
bool look_around(const std::uint16_t* squared, std::int64_t count, std::uint16_t* out, InstructionSet set) {
  return FATHOM_COMPILED_FOR(set, around)(squared, count, out);
}
void put_roots(const std::uint16_t* squared, std::int64_t count, const float* table, float* out, InstructionSet set) {
  FATHOM_COMPILED_FOR(set, roots)(squared, count, table, out);
}

}  // namespace fathom::stream::cpu
#endif
