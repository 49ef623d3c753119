// Far targets in the additive metrics: divide and conquer on the monotone argmin.
//
// cost(|y − i|) is convex, so for i < j the difference of the two candidates' values never falls as y grows: the best
// source moves only forwards. The winners at one row of each block (its anchor) are found by divide and conquer; the
// targets between two anchors then look only at the candidates between the two winners. Lanes go in lock step: a range
// spans the winners of all.
//
// In floating point the values at the anchors carry rounding errors, so winners closer than a tolerance count as tied
// and all of them stay: the result is still the minimum of the rounded values.
//
// Source: the monotone-matrix search of Aggarwal et al. 1987, in the form of Felzenszwalb & Huttenlocher's envelopes;
// departs by evaluating candidates instead of intersecting parabolas, so that nothing is decided by a quotient.
// Cost: O((n + candidates) log n) for the anchors, a few candidates per target.
#if defined(FATHOM_GRID_CPU_COLUMN_ENVELOPE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_GRID_CPU_COLUMN_ENVELOPE_INL_H
#undef FATHOM_GRID_CPU_COLUMN_ENVELOPE_INL_H
#else
#define FATHOM_GRID_CPU_COLUMN_ENVELOPE_INL_H
#endif

#include "grid/cpu/column_lines-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::HWY_NAMESPACE {

template <class V, bool kSites>
class Envelope {
 public:
  /// @param far  first targets of the blocks to solve, ascending
  Envelope(const Lines<V, kSites>& lines, const std::int32_t* far, std::int64_t count)
      : lines_(lines),
        far_(far),
        count_(count),
        candidates_(lines.c.candidates),
        low_(candidates_ + lines.c.sources),
        high_(low_ + count + 1) {}

  void run() {
    find_candidates();
    if (candidate_count_ == 0) return;  // the blocks hold what the window found
    search_anchors(0, count_, 0, candidate_count_ - 1);
    for (std::int64_t b = 0; b < count_; ++b) solve(b);
  }

 private:
  static constexpr Tag<V> d{};
  using Block = Targets<V, kSites>;

  static HWY_INLINE Vec<V> cap(const Column<V>& c) { return hn::Set(d, c.cap); }

  /// Sources that can win somewhere in some lane: below the cap, and (Euclidean) a convex corner between their
  /// neighbours.
  void find_candidates() {
    const Column<V>& c = lines_.c;
    if constexpr (std::is_floating_point_v<V>) find_tolerance();
    const Vec<V> limit = cap(c), bend = hn::Add(hn::Set(d, static_cast<V>(2 * c.cost[1])), tolerance_);
    std::int64_t m = 0;
    Vec<V> before = lines_.row(-1), here = lines_.row(0);
    for (std::int64_t i = 0; i < c.sources; ++i) {
      const Vec<V> behind = lines_.row(i + 1);
      // 2·here ≤ before + behind + 2·cost(1), in an order that cannot overflow; equality may decide ties.
      const auto corner = hn::Not(hn::Gt(hn::Sub(here, before), hn::Add(hn::Sub(behind, here), bend)));
      const auto near = hn::Lt(here, limit);
      candidates_[m] = static_cast<std::int32_t>(i);
      m += hn::AllFalse(d, c.euclidean ? hn::And(near, corner) : near) ? 0 : 1;
      before = here;
      here = behind;
    }
    candidate_count_ = m;
  }

  /// Above the rounding of any value that wins: 4 units in the last place of the largest that can occur.
  void find_tolerance() {
    const Column<V>& c = lines_.c;
    Vec<V> largest = hn::Set(d, V{0});
    for (std::int64_t i = 0; i < c.sources; ++i) {
      const Vec<V> value = lines_.row(i);
      largest = hn::Max(largest, hn::IfThenElse(hn::Lt(value, cap(c)), value, largest));
    }
    constexpr V kFourUlp = static_cast<V>(1.0 / static_cast<double>(std::int64_t{1} << 50));
    tolerance_ = hn::Mul(hn::Add(largest, hn::Set(d, c.cost[c.sources])), hn::Set(d, kFourUlp));
  }

  /// Anchors [first, end), whose winners are among candidates [c0, c1].
  void search_anchors(std::int64_t first, std::int64_t end, std::int64_t c0, std::int64_t c1) {
    if (first >= end) return;
    const std::int64_t middle = first + (end - first) / 2;
    if (c1 - c0 < kFewCandidates) {
      for (std::int64_t b = first; b < end; ++b) {
        low_[b] = static_cast<std::int32_t>(c0);
        high_[b] = static_cast<std::int32_t>(c1);
      }
      return;
    }
    find_winners(middle, c0, c1);
    search_anchors(first, middle, c0, high_[middle]);
    search_anchors(middle + 1, end, low_[middle], c1);
  }

  /// The first and the last candidate that wins, or nearly so, in some lane at the anchor.
  void find_winners(std::int64_t anchor, std::int64_t c0, std::int64_t c1) {
    const std::int64_t at = lines_.c.first_target + far_[anchor];
    Vec<V> best = hn::Set(d, no_value<V>()), first = hn::Set(d, static_cast<V>(c0)), last = first, number = first;
    const Vec<V> one = hn::Set(d, V{1});
    for (std::int64_t k = c0; k <= c1; ++k) {
      const std::int64_t i = candidates_[k];
      const Vec<V> value = hn::Add(lines_.row(i), lines_.cost(at - i));
      if constexpr (std::is_floating_point_v<V>) {
        first = hn::IfThenElse(hn::Lt(value, hn::Sub(best, tolerance_)), number, first);
        last = hn::IfThenElse(hn::Le(value, hn::Add(best, tolerance_)), number, last);
      } else {
        first = hn::IfThenElse(hn::Lt(value, best), number, first);
        last = hn::IfThenElse(hn::Gt(value, best), last, number);
      }
      best = hn::Min(best, value);
      number = hn::Add(number, one);
    }
    // A lane without a site wins nowhere, and must not widen the range.
    const auto none = hn::Eq(hn::Max(best, hn::Set(d, no_value<V>())), best);
    low_[anchor] = lane(hn::MinOfLanes(d, hn::IfThenElse(none, hn::Set(d, static_cast<V>(c1)), first)));
    high_[anchor] = lane(hn::MaxOfLanes(d, hn::IfThenElse(none, hn::Set(d, static_cast<V>(c0)), last)));
    if (low_[anchor] > high_[anchor]) std::swap(low_[anchor], high_[anchor]);  // no lane has a site
  }

  static HWY_INLINE std::int32_t lane(Vec<V> numbers) { return static_cast<std::int32_t>(hn::GetLane(numbers)); }

  HWY_INLINE void solve(std::int64_t b) {
    const std::int64_t t = far_[b], at = lines_.c.first_target + t;
    const std::int64_t last = b + 1 < count_ ? high_[b + 1] : candidate_count_ - 1;
    Block block = lines_.own(t);
    for (std::int64_t k = low_[b]; k <= last; ++k) {
      const std::int64_t i = candidates_[k];
      const Vec<V> value = lines_.row(i);
      const Vec<V> site = kSites ? lines_.site(i) : value;
      const std::int64_t steps = at - i;
      for (int r = 0; r < kTargets; ++r)
        block.offer(r, hn::Add(value, lines_.cost(steps + r)), site);
    }
    lines_.store(block, t);
  }

  static constexpr std::int64_t kFewCandidates = 8;  ///< fewer are cheaper to try than to search

  const Lines<V, kSites>& lines_;
  const std::int32_t* far_;
  std::int64_t count_;
  std::int32_t* candidates_;  ///< source rows
  std::int32_t* low_;         ///< per anchor: first candidate that can win at it or behind it
  std::int32_t* high_;        ///< per anchor: last candidate that can win at it or before it
  std::int64_t candidate_count_ = 0;
  Vec<V> tolerance_ = hn::Set(d, V{0});
};

}  // namespace fathom::grid::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
