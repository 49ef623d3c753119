#include "grid/cpu/line_boundaries.h"

#include "core/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "grid/cpu/line_boundaries.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<std::int32_t>;
constexpr std::int32_t kNoSteps = 1 << 30;

/// One direction of line_boundaries(): steps back to the last change, for one vector of lines.
class Walk {
 public:
  explicit Walk(int line) : bit_(hn::Shl(hn::Set(d, 1), hn::Iota(d, line))), steps_(hn::Set(d, kNoSteps)) {}

  HWY_INLINE void advance(std::uint32_t changes) {
    const auto changed = hn::Ne(hn::And(hn::Set(d, static_cast<std::int32_t>(changes)), bit_), hn::Zero(d));
    const auto one = hn::Set(d, 1);
    steps_ = hn::IfThenElse(changed, one, hn::Min(hn::Add(steps_, one), hn::Set(d, kNoSteps)));
  }
  HWY_INLINE hn::Vec<Tag> steps() const { return steps_; }

 private:
  static constexpr Tag d{};
  hn::Vec<Tag> bit_, steps_;
};

void boundaries_of_lines(const std::uint32_t* changes, std::int64_t extent, bool periodic, std::int32_t* steps,
                         std::int32_t* site) {
  const Tag d;
  const auto n = hn::Set(d, static_cast<std::int32_t>(extent));
  for (int line = 0; line < kStrip; line += static_cast<int>(hn::Lanes(d))) {
    Walk forward(line), backward(line);
    if (periodic) {  // once round, to know what lies before the first and behind the last
      for (std::int64_t y = 0; y < extent; ++y) forward.advance(changes[y]);
      for (std::int64_t y = extent - 1; y >= 0; --y) backward.advance(changes[y]);
    }
    for (std::int64_t y = 0; y < extent; ++y) {
      forward.advance(changes[y]);
      hn::StoreU(forward.steps(), d, steps + y * kStrip + line);
    }
    for (std::int64_t y = extent - 1; y >= 0; --y) {
      const std::uint32_t behind = y + 1 < extent ? changes[y + 1] : periodic ? changes[0] : 0;
      backward.advance(behind);
      const auto down = hn::LoadU(d, steps + y * kStrip + line), up = backward.steps();
      hn::StoreU(hn::Min(down, up), d, steps + y * kStrip + line);
      if (!site) continue;
      const auto at = hn::Set(d, static_cast<std::int32_t>(y));
      auto low = hn::Sub(at, down), high = hn::Add(at, up);
      low = hn::IfThenElse(hn::Lt(low, hn::Zero(d)), hn::Add(low, n), low);
      high = hn::IfThenElse(hn::Lt(high, n), high, hn::Sub(high, n));
      const auto nearer = hn::IfThenElse(hn::Lt(down, up), low, hn::IfThenElse(hn::Lt(up, down), high, hn::Min(low, high)));
      hn::StoreU(nearer, d, site + y * kStrip + line);
    }
  }
}

}  // namespace fathom::grid::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::grid::cpu {

void line_boundaries(const std::uint32_t* changes, std::int64_t extent, bool periodic, std::int32_t* steps,
                     std::int32_t* site, InstructionSet set) {
  FATHOM_COMPILED_FOR(set, boundaries_of_lines)(changes, extent, periodic, steps, site);
}

}  // namespace fathom::grid::cpu
#endif
