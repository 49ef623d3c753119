// Squared distances along the lines of a strip, one per lane, whose f are convex between their first and last sites:
//   out[x] = min over i of f(i) + (x − i)².
//
// As in plain_walk-inl.h, the best i of a line is found by comparing neighbours and never falls as x grows. So do the
// smallest and the largest over all lanes, which enclose the candidates of all lanes for a few positions.
//
// Source: as there. Cost per vector: as many trials as the best i differ between lanes.
#if defined(FATHOM_GRID_CPU_PLAIN_STRIP_WALK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_GRID_CPU_PLAIN_STRIP_WALK_INL_H
#undef FATHOM_GRID_CPU_PLAIN_STRIP_WALK_INL_H
#else
#define FATHOM_GRID_CPU_PLAIN_STRIP_WALK_INL_H
#endif

#include <algorithm>

#include "grid/cpu/plain_search-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::plain::HWY_NAMESPACE {

template <class D>
class StripWalk {
 public:
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;

  /// @param f  [length][lanes]
  StripWalk(const T* f, std::int64_t length, const Squares& squares) : f_(f), length_(length), squares_(squares) {}

  /// Whether the lines are convex; `at(i)` gives f(i) and sees to it that it is in memory.
  template <class At>
  HWY_INLINE bool begin(const At& at) {
    V before = all(kNone<T>), here = at(0);
    auto seen = less_equal(all(1), all(0)), open = seen;
    bool any = false;
    for (std::int64_t i = 0; i < length_; ++i) {
      const V after = i + 1 < length_ ? at(i + 1) : all(kNone<T>);
      const auto none = hn::Eq(here, all(kNone<T>));
      const auto starts = hn::AndNot(hn::Or(none, open), hn::Not(open));
      if (!hn::AllTrue(D(), hn::Or(none, convex(D(), before, here, after)))) return false;
      if (HWY_UNLIKELY(!hn::AllFalse(D(), starts))) {
        if (!hn::AllFalse(D(), hn::And(starts, seen))) return false;
        seen = hn::Or(seen, starts);
        if (!any) low_ = i;
        any = true;
        high_ = i;
      }
      if (!hn::AllTrue(D(), none)) last_ = i;
      open = hn::Not(none);
      before = here;
      here = after;
    }
    return any;
  }

  /// Calls put(x, result) for positions [from, to).
  template <class Put>
  HWY_INLINE void solve(std::int64_t from, std::int64_t to, const Put& put) {
    for (std::int64_t x = from; x < to; x += kTogether) {
      while (low_ < last_ && hn::AllTrue(D(), hn::Or(next_as_good(low_, x), absent(low_)))) ++low_;
      while (high_ < last_ && !hn::AllFalse(D(), hn::AndNot(absent(high_), next_as_good(high_, x + kTogether - 1))))
        ++high_;
      V best[kTogether];
      for (int k = 0; k < kTogether; ++k) best[k] = all(kNone<T>);
      for (std::int64_t i = low_; i <= high_; ++i) {
        const V f = load(i);
        for (int k = 0; k < kTogether; ++k)
          best[k] = hn::Min(best[k], add_far(f, broadcast_square(D(), squares_, x + k - i)));
      }
      if (HWY_LIKELY(to - x >= kTogether)) {
        for (int k = 0; k < kTogether; ++k) put(x + k, best[k]);
      } else {
        for (int k = 0; k < to - x; ++k) put(x + k, best[k]);
      }
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

  /// Lanes in which i + 1 is at least as good as i is at x.
  HWY_INLINE auto next_as_good(std::int64_t i, std::int64_t x) const {
    const std::int64_t more = 2 * (i - x) + 1;
    const V shift = all(static_cast<T>(std::min<std::int64_t>(std::abs(more), kNone<T>)));
    return more > 0 ? less_equal(add_far(load(i + 1), shift), load(i))
                    : less_equal(load(i + 1), add_far(load(i), shift));
  }

  const T* const f_;
  const std::int64_t length_;
  const Squares squares_;
  std::int64_t low_ = 0, high_ = 0;  ///< enclose the best of all lanes
  std::int64_t last_ = 0;            ///< of all sites
};

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
