// A group of neighbouring lines in lock step: one vector per row, and eight targets that live in registers.
#if defined(FATHOM_GRID_CPU_COLUMN_LINES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_GRID_CPU_COLUMN_LINES_INL_H
#undef FATHOM_GRID_CPU_COLUMN_LINES_INL_H
#else
#define FATHOM_GRID_CPU_COLUMN_LINES_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "grid/cpu/column_pass.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class V>
using Tag = hn::ScalableTag<V>;
template <class V>
using Vec = hn::Vec<Tag<V>>;

/// ⊕ of the Euclidean and taxicab metrics, and of the chessboard metric.
struct Add {
  template <class T>
  static HWY_INLINE T join(T a, T b) {
    return hn::Add(a, b);
  }
};
struct Max {
  template <class T>
  static HWY_INLINE T join(T a, T b) {
    return hn::Max(a, b);
  }
};

/// Eight targets. Without kSites `from` is unused.
template <class V, bool kSites>
struct Targets {
  Vec<V> best[kTargets];
  Vec<V> from[kTargets];  ///< sites behind the sources of `best`

  HWY_INLINE void offer(int r, Vec<V> value, Vec<V> site) {
    if constexpr (kSites) {
      const auto tied = hn::And(hn::Eq(value, best[r]), hn::Lt(site, from[r]));
      const auto better = hn::Or(hn::Lt(value, best[r]), tied);
      best[r] = hn::IfThenElse(better, value, best[r]);
      from[r] = hn::IfThenElse(better, site, from[r]);
    } else {
      best[r] = hn::Min(best[r], value);
    }
  }

  HWY_INLINE Vec<V> worst() const {
    Vec<V> w = best[0];
    for (int r = 1; r < kTargets; ++r) w = hn::Max(w, best[r]);
    return w;
  }
};

template <class V, bool kSites>
class Lines {
 public:
  static constexpr Tag<V> d{};
  using Block = Targets<V, kSites>;

  Lines(const Column<V>& column, int group)
      : c(column),
        rows_(column.source + source_at(column.sources, lane_count(), 0, group * lane_count())),
        sites_(kSites ? column.site + (rows_ - column.source) : nullptr),
        line_(group * lane_count()) {}

  static HWY_INLINE int lane_count() { return static_cast<int>(hn::Lanes(d)); }
  static HWY_INLINE Vec<V> set(V value) { return hn::Set(d, value); }
  HWY_INLINE Vec<V> row(std::int64_t i) const { return hn::Load(d, rows_ + i * lane_count()); }
  HWY_INLINE Vec<V> cost(std::int64_t steps) const { return set(c.cost[steps]); }

  void pad() const {
    for (std::int64_t i = 0; i < kPad; ++i) {
      hn::Store(set(no_value<V>()), d, rows_ - (i + 1) * lane_count());
      hn::Store(set(no_value<V>()), d, rows_ + (c.sources + i) * lane_count());
      if constexpr (kSites) {
        hn::Store(set(0), d, sites_ - (i + 1) * lane_count());
        hn::Store(set(0), d, sites_ + (c.sources + i) * lane_count());
      }
    }
  }

  /// Whether no source is below the cap: targets keep what they start with.
  HWY_INLINE bool empty() const {
    Vec<V> least = set(no_value<V>());
    for (std::int64_t i = 0; i < c.sources; ++i) least = hn::Min(least, row(i));
    return hn::AllFalse(d, hn::Lt(least, set(c.cap)));
  }

  /// Whether no value ≥ `least` can change targets whose worst value is `worst`: none is below it (or ties, if ties
  /// matter).
  static HWY_INLINE bool hopeless(Vec<V> least, Vec<V> worst) {
    if constexpr (kSites) return hn::AllTrue(d, hn::Gt(least, worst));
    else return hn::AllFalse(d, hn::Lt(least, worst));
  }

  HWY_INLINE Vec<V> site(std::int64_t i) const { return hn::Load(d, sites_ + i * lane_count()); }

  /// Targets t … t + 7 with what lies at their own places, and what they start from.
  HWY_INLINE Block own(std::int64_t t) const {
    const std::int64_t at = c.first_target + t;
    Block block;
    for (int r = 0; r < kTargets; ++r) {
      block.best[r] = row(at + r);
      if constexpr (kSites) block.from[r] = site(at + r);
    }
    if (!c.start) return block;
    const int rows = static_cast<int>(std::min<std::int64_t>(kTargets, c.targets - t));
    for (int r = 0; r < kTargets; ++r) {
      if (r >= rows) break;
      const std::int64_t i = (t + r) * kStrip + line_;
      Vec<V> from = set(0);
      if constexpr (kSites) from = hn::Load(d, c.start_site + i);
      block.offer(r, hn::Load(d, c.start + i), from);
    }
    return block;
  }

  HWY_INLINE void store(const Block& block, std::int64_t t) const {
    for (int r = 0; r < kTargets; ++r) {
      hn::Store(block.best[r], d, c.result + (t + r) * c.pitch + line_);
      if constexpr (kSites) hn::Store(block.from[r], d, c.found + (t + r) * c.pitch + line_);
    }
  }

  const Column<V>& c;

 private:
  V* rows_;
  V* sites_;
  int line_;
};

/// Offers the two sources that lie `steps` away from each of the targets at source rows at … at + 7.
template <class Join, class V, bool kSites>
HWY_INLINE void offer_window(const Lines<V, kSites>& lines, Targets<V, kSites>& block, std::int64_t at, int steps) {
  const Vec<V> cost = lines.cost(steps);
  for (int r = 0; r < kTargets; ++r) {
    const Vec<V> before = lines.row(at + r - steps), behind = lines.row(at + r + steps);
    if constexpr (kSites) {
      block.offer(r, Join::join(before, cost), lines.site(at + r - steps));
      block.offer(r, Join::join(behind, cost), lines.site(at + r + steps));
    } else {
      block.offer(r, Join::join(hn::Min(before, behind), cost), cost);
    }
  }
}

}  // namespace fathom::grid::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
