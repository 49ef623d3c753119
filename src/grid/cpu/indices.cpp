// The quotient of an index by an extent comes from a product in double, which is several times faster than a division,
// and is off by one at most.
#include "grid/cpu/indices.h"

#include "core/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "grid/cpu/indices.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void split_i32(std::int64_t extent, int count, std::int32_t* index, std::int32_t* coordinate) {
  const hn::ScalableTag<double> dd;
  const hn::Rebind<std::int32_t, decltype(dd)> d;
  const auto inverse = hn::Set(dd, 1.0 / static_cast<double>(extent));
  const auto n = hn::Set(d, static_cast<std::int32_t>(extent)), zero = hn::Zero(d), one = hn::Set(d, 1);
  const int step = static_cast<int>(hn::Lanes(d));
  for (int i = 0; i < count; i += step) {
    const auto whole = hn::LoadU(d, index + i);
    auto quotient = hn::DemoteTo(d, hn::Mul(hn::PromoteTo(dd, whole), inverse));
    auto rest = hn::Sub(whole, hn::Mul(quotient, n));
    const auto below = hn::Lt(rest, zero);
    rest = hn::IfThenElse(below, hn::Add(rest, n), rest);
    quotient = hn::IfThenElse(below, hn::Sub(quotient, one), quotient);
    const auto above = hn::Not(hn::Lt(rest, n));
    rest = hn::IfThenElse(above, hn::Sub(rest, n), rest);
    quotient = hn::IfThenElse(above, hn::Add(quotient, one), quotient);
    const auto none = hn::Lt(whole, zero);
    hn::StoreU(hn::IfThenElse(none, whole, rest), d, coordinate + i);
    hn::StoreU(hn::IfThenElse(none, whole, quotient), d, index + i);
  }
}

void split_i64(std::int64_t extent, int count, std::int64_t* index, std::int64_t* coordinate) {
  const double inverse = 1.0 / static_cast<double>(extent);
  for (int i = 0; i < count; ++i) {
    coordinate[i] = -1;
    if (index[i] < 0) continue;
    auto quotient = static_cast<std::int64_t>(static_cast<double>(index[i]) * inverse);
    std::int64_t rest = index[i] - quotient * extent;
    if (rest < 0) rest += extent, --quotient;
    if (rest >= extent) rest -= extent, ++quotient;
    coordinate[i] = rest;
    index[i] = quotient;
  }
}

}  // namespace fathom::grid::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::grid::cpu {

void split_indices(std::int64_t extent, int count, std::int32_t* index, std::int32_t* coordinate, InstructionSet set) {
  FATHOM_COMPILED_FOR(set, split_i32)(extent, count, index, coordinate);
}
void split_indices(std::int64_t extent, int count, std::int64_t* index, std::int64_t* coordinate, InstructionSet set) {
  FATHOM_COMPILED_FOR(set, split_i64)(extent, count, index, coordinate);
}

}  // namespace fathom::grid::cpu
#endif
