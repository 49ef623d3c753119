#include "grid/cpu/border_row.h"

#include "core/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "grid/cpu/border_row.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void lower_row(float* out, std::int32_t count, const RowBorder& border, std::int32_t kept) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  constexpr auto kStep = static_cast<std::int32_t>(hn::MaxLanes(d));
  const auto lane = hn::Iota(di, 0), one = hn::Set(di, 1);
  const auto other = hn::Set(di, border.other), extent = hn::Set(di, border.extent);
  std::int32_t i = 0;
  for (; i + kStep <= count; i += kStep) {
    const auto x = hn::Add(lane, hn::Set(di, border.first + i));
    const auto end = hn::Min(hn::Add(x, one), hn::Sub(extent, x));
    const auto steps = border.ends ? hn::Min(other, end) : other;
    const auto at_border = hn::ConvertTo(d, steps), here = hn::LoadU(d, out + i);
    const auto dropped = hn::RebindMask(d, hn::Gt(steps, hn::Set(di, kept)));
    const auto lower = hn::AndNot(dropped, hn::Lt(at_border, here));
    if (!hn::AllFalse(d, lower)) hn::StoreU(hn::IfThenElse(lower, at_border, here), d, out + i);
  }
  for (; i < count; ++i) {
    const std::int32_t steps = border.steps(i);
    const auto at_border = static_cast<float>(steps);
    if (steps <= kept && at_border < out[i]) out[i] = at_border;
  }
}

}  // namespace fathom::grid::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::grid::cpu {

void lower_to_border(float* out, std::int32_t count, const RowBorder& border, std::int32_t kept, InstructionSet set) {
  FATHOM_COMPILED_FOR(set, lower_row)(out, count, border, kept);
}

}  // namespace fathom::grid::cpu
#endif
