// Values along the lines of a strip, one per lane, whose f are convex between their first and last sites:
//   out[x] = min over i of f(i) + step(x − i).
//
// As in plain_walk-inl.h, the best i of a line is found by comparing neighbours and never falls as x grows. So do the
// smallest and the largest over all lanes, which enclose the candidates of all lanes for a few positions.
//
// Whether lines are convex is asked of their distances, 16 bits wide, where f are the squares of such: then f are, too.
//
// Source: as there. Cost per vector: as many trials as the best i differ between lanes.
#if defined(FATHOM_GRID_CPU_PLAIN_STRIP_WALK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_GRID_CPU_PLAIN_STRIP_WALK_INL_H
#undef FATHOM_GRID_CPU_PLAIN_STRIP_WALK_INL_H
#else
#define FATHOM_GRID_CPU_PLAIN_STRIP_WALK_INL_H
#endif

#include <algorithm>
#include <cmath>

#include "grid/cpu/plain_search-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::plain::HWY_NAMESPACE {

/// Where the lines of a strip have sites.
struct StripSites {
  std::int64_t low, high;  ///< enclose the first ones
  std::int64_t last;       ///< of all lines
};

/// Whether f of the lines, or the distances that f are the squares of, are convex between the first and the last site.
class StripScan {
 public:
  /// @param rows  [length][kLanes16]; kAbsent or more: no site
  /// @param value_of  what has to be convex
  template <std::uint16_t kAbsent, class ValueOf>
  HWY_INLINE bool convex(const std::uint16_t* rows, std::int64_t length, const ValueOf& value_of) {
    if (length >= kAbsent) return false;
    const D16 d;
    const V16 zero = hn::Zero(d), one = hn::Set(d, 1), absent = hn::Set(d, kAbsent);
    V16 here = hn::Load(d, rows), rise = zero, fall = hn::Not(zero), bent = zero;
    V16 first = absent, last = zero, sites = zero, next = one;
    for (std::int64_t i = 1; i <= length; ++i) {
      const V16 after = i < length ? hn::Load(d, rows + i * kLanes16) : absent;
      const V16 value = value_of(here), value_after = value_of(after);
      const V16 up = hn::SaturatedSub(value_after, value), down = hn::SaturatedSub(value, value_after);
      const auto none = less_equal(absent, here);
      const V16 bend = hn::Or(hn::SaturatedSub(rise, up), hn::SaturatedSub(down, fall));
      bent = hn::Or(bent, hn::IfThenZeroElse(none, bend));
      first = hn::Min(first, hn::IfThenElse(none, absent, next));
      last = hn::Max(last, hn::IfThenZeroElse(none, next));
      sites = hn::Add(sites, hn::IfThenZeroElse(none, one));
      next = hn::Add(next, one);
      rise = up, fall = down, here = after;
      if (i % kAskEvery == 0 && !hn::AllTrue(d, hn::Eq(bent, zero))) return false;
    }
    const V16 gaps = hn::IfThenZeroElse(hn::Eq(sites, zero), hn::Sub(hn::Sub(hn::Add(last, one), first), sites));
    if (!hn::AllTrue(d, hn::Eq(hn::Or(bent, gaps), zero))) return false;
    hn::Store(first, d, first_);
    hn::Store(last, d, last_);
    return true;
  }

  /// Of lines [begin, end); low > last if none has a site.
  StripSites sites(std::int64_t begin, std::int64_t end) const {
    StripSites sites{kNone<std::uint16_t>, 0, 0};
    for (std::int64_t line = begin; line < end; ++line) {
      if (last_[line] == 0) continue;
      sites.low = std::min<std::int64_t>(sites.low, first_[line] - 1);
      sites.high = std::max<std::int64_t>(sites.high, first_[line] - 1);
      sites.last = std::max<std::int64_t>(sites.last, last_[line] - 1);
    }
    return sites;
  }

 private:
  static constexpr std::int64_t kAskEvery = 8;
  alignas(64) std::uint16_t first_[kLanes16], last_[kLanes16] = {};  ///< positions, counted from 1; 0 in last_: no site
};

template <class D>
class StripWalk {
 public:
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;

  /// @param f  [sites.last + 2][lanes], convex; none in the last row
  StripWalk(const T* f, const StripSites& sites, const Steps<T>& steps)
      : f_(f), steps_(steps), low_(sites.low), high_(sites.high), last_(sites.last) {}

  /// Calls put(x, result) for positions [from, to).
  template <class Put>
  HWY_INLINE void solve(std::int64_t from, std::int64_t to, const Put& put) {
    for (std::int64_t x = from; x < to; x += kTogether) {
      move_low(x);
      move_high(x + kTogether - 1);
      V best[kTogether];
      for (int k = 0; k < kTogether; ++k) best[k] = all(kNone<T>);
      for (std::int64_t i = low_; i <= high_; i += 2) {
        load_again();
        const V f = load(i), next = load(i + 1);
        for (int k = 0; k < kTogether; ++k) {
          const V value = add_far(f, broadcast_step(D(), steps_, x + k - i));
          best[k] = hn::Min(best[k], hn::Min(value, add_far(next, broadcast_step(D(), steps_, x + k - i - 1))));
        }
      }
      for (int k = 0; k < kTogether; ++k)  // a count that varies would send them all through memory
        if (HWY_LIKELY(x + k < to)) put(x + k, best[k]);
    }
  }

 private:
  /// Positions that share their candidates.
  static constexpr int kTogether = 8;

  static HWY_INLINE V all(T value) { return hn::Set(D(), value); }
  HWY_INLINE V load(std::int64_t i) const {
    return hn::Load(D(), f_ + i * static_cast<std::int64_t>(hn::MaxLanes(D())));
  }
  HWY_INLINE auto absent(std::int64_t i) const { return hn::Eq(load(i), all(kNone<T>)); }

  /// Raises low_ while no line needs it at x or after; as far as the last time at once if that is right again.
  HWY_INLINE void move_low(std::int64_t x) {
    const std::int64_t before = low_, jump = low_ + low_step_;
    if (low_step_ > 1 && jump <= last_ && hn::AllTrue(D(), hn::AndNot(absent(jump - 1), next_as_good(jump - 1, x))))
      low_ = jump;
    while (low_ < last_ && hn::AllTrue(D(), hn::Or(next_as_good(low_, x), absent(low_)))) ++low_;
    low_step_ = low_ - before;
  }

  /// Raises high_ while some line needs the next one at x or before.
  HWY_INLINE void move_high(std::int64_t x) {
    const auto needed = [&](std::int64_t i) { return !hn::AllFalse(D(), hn::AndNot(absent(i), next_as_good(i, x))); };
    const std::int64_t before = high_, jump = high_ + high_step_;
    if (high_step_ > 1 && jump <= last_ && needed(jump - 1)) high_ = jump;
    while (high_ < last_ && needed(high_)) ++high_;
    high_step_ = high_ - before;
  }

  /// Lanes in which i + 1 is at least as good as i is at x.
  HWY_INLINE auto next_as_good(std::int64_t i, std::int64_t x) const {
    using Number = typename Steps<T>::Number;
    const Number more = static_cast<Number>(2 * (i - x) + 1) * steps_.bend() + static_cast<Number>(steps_.offset);
    const V shift = all(static_cast<T>(std::min<Number>(std::abs(more), Steps<T>::kMost)));
    return more > 0 ? less_equal(add_far(load(i + 1), shift), load(i))
                    : less_equal(load(i + 1), add_far(load(i), shift));
  }

  const T* const f_;
  const Steps<T> steps_;
  std::int64_t low_, high_;                    ///< enclose the best of all lanes
  const std::int64_t last_;                    ///< of all sites
  std::int64_t low_step_ = 0, high_step_ = 0;  ///< how far they moved last
};

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
