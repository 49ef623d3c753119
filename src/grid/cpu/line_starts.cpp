#include "grid/cpu/line_starts.h"

#include "core/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "grid/cpu/line_starts.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<std::int32_t>;
constexpr std::int32_t kNoSteps = 1 << 30;

/// One direction along the lines: steps since the last change.
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

/// Steps to the nearest change (and the coordinates behind it) from all elements of one vector of lines.
void walk_lines(const Runs& runs, int line, std::int32_t* steps, std::int32_t* coordinate) {
  const Tag d;
  const auto n = hn::Set(d, static_cast<std::int32_t>(runs.extent)), zero = hn::Zero(d);
  const auto bit = hn::Shl(hn::Set(d, 1), hn::Iota(d, line));
  const auto change = [&](std::int64_t y) { return runs.changes[y * runs.pitch]; };
  Walk forward(line), backward(line);
  if (runs.periodic) {  // once round, to know what lies before the first and behind the last
    for (std::int64_t y = 0; y < runs.extent; ++y) forward.advance(change(y));
    for (std::int64_t y = runs.extent - 1; y > 0; --y) backward.advance(change(y));  // change(0) comes first below
  }
  for (std::int64_t y = 0; y < runs.targets.end; ++y) {
    forward.advance(change(y));
    hn::StoreU(forward.steps(), d, steps + y * kStrip + line);
  }
  for (std::int64_t y = runs.extent - 1; y >= runs.targets.begin; --y) {
    backward.advance(y + 1 < runs.extent ? change(y + 1) : runs.periodic ? change(0) : 0);
    if (y >= runs.targets.end) continue;
    const auto pins = hn::Set(d, runs.pinned ? static_cast<std::int32_t>(runs.pinned[y * runs.pitch]) : 0);
    const auto is_pinned = hn::Ne(hn::And(pins, bit), zero);
    const auto down = hn::LoadU(d, steps + y * kStrip + line), up = backward.steps();
    hn::StoreU(hn::IfThenElse(is_pinned, zero, hn::Min(down, up)), d, steps + y * kStrip + line);
    if (!coordinate) continue;
    const auto at = hn::Set(d, static_cast<std::int32_t>(y));
    auto low = hn::Sub(at, down), high = hn::Add(at, up);
    low = hn::IfThenElse(hn::Lt(low, zero), hn::Add(low, n), low);
    high = hn::IfThenElse(hn::Lt(high, n), high, hn::Sub(high, n));
    const auto tied = hn::Min(low, high);
    const auto nearer = hn::IfThenElse(hn::Lt(down, up), low, hn::IfThenElse(hn::Lt(up, down), high, tied));
    hn::StoreU(hn::IfThenElse(is_pinned, at, nearer), d, coordinate + y * kStrip + line);
  }
}

// Plain loops at the end: the compiler makes them vectors of each instruction set.
template <class V>
void starts(const Runs& runs, V weight, std::int32_t* steps, std::int32_t* coordinate, V* start, V* site) {
  for (int line = 0; line < kStrip; line += static_cast<int>(hn::Lanes(Tag())))
    walk_lines(runs, line, steps, coordinate);
  const std::int64_t first = runs.targets.begin * kStrip, count = runs.targets.end * kStrip - first;
  for (std::int64_t i = 0; i < count; ++i) {
    const bool none = steps[first + i] >= kNoSteps;
    const auto s = static_cast<V>(none ? 0 : steps[first + i]);  // its square must not overflow
    const V value = weight * (runs.euclidean ? s * s : s);
    start[i] = none ? no_value<V>() : value;
  }
  if (!coordinate) return;
  for (std::int64_t i = 0; i < count; i += kStrip)
    for (int line = 0; line < kStrip; ++line)
      site[i + line] = index_at<V>(runs.first_site + line * runs.line_step, coordinate[first + i + line], runs.step);
}

void starts_i32(const Runs& runs, std::int32_t weight, std::int32_t* steps, std::int32_t* coordinate,
                std::int32_t* start, std::int32_t* site) {
  starts(runs, weight, steps, coordinate, start, site);
}
void starts_i64(const Runs& runs, std::int64_t weight, std::int32_t* steps, std::int32_t* coordinate,
                std::int64_t* start, std::int64_t* site) {
  starts(runs, weight, steps, coordinate, start, site);
}
void starts_f64(const Runs& runs, double weight, std::int32_t* steps, std::int32_t* coordinate, double* start,
                double* site) {
  starts(runs, weight, steps, coordinate, start, site);
}

}  // namespace fathom::grid::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::grid::cpu {

template <>
void line_starts(const Runs& runs, std::int32_t weight, std::int32_t* steps, std::int32_t* coordinate,
                 std::int32_t* start, std::int32_t* site, InstructionSet set) {
  FATHOM_COMPILED_FOR(set, starts_i32)(runs, weight, steps, coordinate, start, site);
}
template <>
void line_starts(const Runs& runs, std::int64_t weight, std::int32_t* steps, std::int32_t* coordinate,
                 std::int64_t* start, std::int64_t* site, InstructionSet set) {
  FATHOM_COMPILED_FOR(set, starts_i64)(runs, weight, steps, coordinate, start, site);
}
template <>
void line_starts(const Runs& runs, double weight, std::int32_t* steps, std::int32_t* coordinate, double* start,
                 double* site, InstructionSet set) {
  FATHOM_COMPILED_FOR(set, starts_f64)(runs, weight, steps, coordinate, start, site);
}

}  // namespace fathom::grid::cpu
#endif
