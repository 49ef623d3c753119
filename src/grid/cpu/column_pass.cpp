// Work mapping: a vector holds the same row of W neighbouring lines; 8 targets live in registers while sources stream by.
#include "grid/cpu/column_pass.h"

#include "core/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "grid/cpu/column_pass.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class V>
using Tag = hn::ScalableTag<V>;
template <class V>
using Vec = hn::Vec<Tag<V>>;

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

/// Largest of the bounds that hold for the next targets: |D(y + 8) − D(y)| ≤ 8 steps. Strictly above what can be attained.
HWY_INLINE std::int32_t bound_after(std::int32_t value, std::int32_t step, bool euclidean) {
  if (!euclidean) return value + kTargets * step + 1;
  const auto root = static_cast<std::int32_t>(std::sqrt(static_cast<float>(value))) + 2 + kTargets;
  return root * root;
}
HWY_INLINE std::int64_t bound_after(std::int64_t value, std::int64_t step, bool euclidean) {
  if (!euclidean) return value + kTargets * step + 1;
  const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(value))) + 2 + kTargets;
  return root * root;
}
HWY_INLINE double bound_after(double value, double step, bool euclidean) {
  constexpr double kAboveRounding = 1 + 1e-12;
  if (!euclidean) return (value + kTargets * step) * kAboveRounding;
  const double root = std::sqrt(value) + kTargets * step;
  return root * root * kAboveRounding;
}

/// Eight targets of a group of lines, meant to live in registers.
template <class V, bool kCoordinates>
struct Targets {
  Vec<V> best[kTargets];
  Vec<V> from[kTargets];  ///< coordinates of the sources of `best`; without kCoordinates unused
  Vec<V> worst;           ///< no value above it matters
};

/// The search for one group of lines.
template <class V, class Join, bool kCoordinates>
class Search {
 public:
  Search(const Column<V>& column, int group)
      : c_(column),
        rows_(column.source + (static_cast<std::int64_t>(group) * (column.sources + 2 * kPad) + kPad) * kLanes()),
        blocks_((column.sources + kTargets - 1) / kTargets),
        block_min_(column.bounds),
        super_min_(column.bounds + blocks_ * kLanes()),
        line_(group * kLanes()) {}

  void run() {
    pad();
    find_minima();
    Vec<V> bound = Set(c_.cap);
    for (std::int64_t t = 0; t < c_.targets; t += kTargets) bound = search_block(t, bound);
  }

 private:
  using Block = Targets<V, kCoordinates>;
  static constexpr Tag<V> d{};
  static HWY_INLINE int kLanes() { return static_cast<int>(hn::Lanes(d)); }
  static HWY_INLINE Vec<V> Set(V value) { return hn::Set(d, value); }
  HWY_INLINE Vec<V> row(std::int64_t i) const { return hn::Load(d, rows_ + i * kLanes()); }
  HWY_INLINE Vec<V> cost(std::int64_t steps) const { return Set(c_.cost[steps]); }
  HWY_INLINE Vec<V> block_min(std::int64_t b) const { return hn::Load(d, block_min_ + b * kLanes()); }
  HWY_INLINE Vec<V> super_min(std::int64_t s) const { return hn::Load(d, super_min_ + s * kLanes()); }

  void pad() {
    for (std::int64_t i = 0; i < kPad; ++i) {
      hn::Store(Set(no_value<V>()), d, rows_ - (i + 1) * kLanes());
      hn::Store(Set(no_value<V>()), d, rows_ + (c_.sources + i) * kLanes());
    }
  }

  void find_minima() {
    for (std::int64_t b = 0; b < blocks_; ++b) {
      Vec<V> least = row(b * kTargets);  // rows behind the last are padding
      for (int j = 1; j < kTargets; ++j) least = hn::Min(least, row(b * kTargets + j));
      hn::Store(least, d, block_min_ + b * kLanes());
      V* super = super_min_ + b / kSuperblock * kLanes();
      hn::Store(b % kSuperblock ? hn::Min(least, hn::Load(d, super)) : least, d, super);
    }
  }

  /// Whether no value ≥ `least` can change a target: none is below the worst target (or ties with it, if ties matter).
  static HWY_INLINE bool hopeless(Vec<V> least, Vec<V> worst) {
    if constexpr (kCoordinates) return hn::AllTrue(d, hn::Gt(least, worst));
    else return hn::AllFalse(d, hn::Lt(least, worst));
  }

  HWY_INLINE Vec<V> coordinate_of(std::int64_t source) const {
    std::int64_t at = source + c_.origin;
    if (at < 0) at += c_.extent;
    if (at >= c_.extent) at -= c_.extent;
    return Set(static_cast<V>(at));
  }

  static HWY_INLINE void offer(Block& block, int r, Vec<V> value, Vec<V> coordinate) {
    if constexpr (kCoordinates) {
      const auto better = hn::Or(hn::Lt(value, block.best[r]),
                                 hn::And(hn::Eq(value, block.best[r]), hn::Lt(coordinate, block.from[r])));
      block.best[r] = hn::IfThenElse(better, value, block.best[r]);
      block.from[r] = hn::IfThenElse(better, coordinate, block.from[r]);
    } else {
      block.best[r] = hn::Min(block.best[r], value);
    }
  }

  static HWY_INLINE void update_worst(Block& block, Vec<V> bound) {
    Vec<V> worst = block.best[0];
    for (int r = 1; r < kTargets; ++r) worst = hn::Max(worst, block.best[r]);
    block.worst = hn::Min(worst, bound);
  }

  /// @param t      first target; its source row is first_target + t
  /// @param bound  no result of these targets is above it
  /// @return the bound of the next targets
  HWY_INLINE Vec<V> search_block(std::int64_t t, Vec<V> bound) const {
    const std::int64_t at = c_.first_target + t;
    Block block;
    for (int r = 0; r < kTargets; ++r) {
      block.best[r] = row(at + r);
      if constexpr (kCoordinates) block.from[r] = coordinate_of(at + r);
    }
    if (c_.start) offer_start(block, t);
    update_worst(block, bound);
    if (!window(block, at, bound)) {
      search_left(block, at, bound);
      search_right(block, at, bound);
    }
    store(block, t);
    // A bound only helps where sites are far, and costs a root.
    return hopeless(cost(kWindow), block.worst) ? Set(c_.cap) : next_bound(block.best[kTargets - 1]);
  }

  HWY_INLINE void offer_start(Block& block, std::int64_t t) const {
    const int rows = static_cast<int>(std::min<std::int64_t>(kTargets, c_.targets - t));
    for (int r = 0; r < kTargets; ++r) {
      if (r >= rows) break;
      const std::int64_t i = (t + r) * kStrip + line_;
      Vec<V> from = Set(0);
      if constexpr (kCoordinates) from = hn::Load(d, c_.start_coordinate + i);
      offer(block, r, hn::Load(d, c_.start + i), from);
    }
  }

  /// Whether all sources that the window covers are above what matters: sites are far.
  HWY_INLINE bool window_is_hopeless(const Block& block, std::int64_t at) const {
    const std::int64_t first = std::max<std::int64_t>(at - kWindow, 0) / kTargets;
    const std::int64_t last = std::min((at + kTargets - 1 + kWindow) / kTargets, blocks_ - 1);
    Vec<V> least = block_min(last);
    for (std::int64_t b = first; b < last; ++b) least = hn::Min(least, block_min(b));
    return hopeless(least, block.worst);
  }

  /// Sources up to kWindow steps away. True if no other can matter.
  HWY_INLINE bool window(Block& block, std::int64_t at, Vec<V> bound) const {
    if (hopeless(cost(1), block.worst)) return true;
    if (window_is_hopeless(block, at)) return hopeless(cost(kWindow + 1), block.worst);
    for (int k = 1; k <= kWindow; ++k) {
      const Vec<V> step = cost(k);
      for (int r = 0; r < kTargets; ++r) {
        if constexpr (kCoordinates) {
          offer(block, r, Join::join(row(at + r - k), step), coordinate_of(at + r - k));
          offer(block, r, Join::join(row(at + r + k), step), coordinate_of(at + r + k));
        } else {
          block.best[r] = hn::Min(block.best[r], Join::join(hn::Min(row(at + r - k), row(at + r + k)), step));
        }
      }
      update_worst(block, bound);
      if (hopeless(cost(k + 1), block.worst)) return true;
    }
    return false;
  }

  /// Blocks of sources that lie before the window of the last target.
  HWY_INLINE void search_left(Block& block, std::int64_t at, Vec<V> bound) const {
    const std::int64_t nearest = at + kTargets - 1 - kWindow - 1;
    if (nearest < 0) return;
    for (std::int64_t b = std::min(nearest / kTargets, blocks_ - 1); b >= 0; --b) {
      const Vec<V> gap = cost(std::max<std::int64_t>(kWindow + 1, at - (b * kTargets + kTargets - 1)));
      if (hopeless(gap, block.worst)) return;
      if (b % kSuperblock == kSuperblock - 1 && hopeless(Join::join(super_min(b / kSuperblock), gap), block.worst)) {
        b -= kSuperblock - 1;
        continue;
      }
      if (!hopeless(Join::join(block_min(b), gap), block.worst)) evaluate(block, at, b, bound);
    }
  }

  HWY_INLINE void search_right(Block& block, std::int64_t at, Vec<V> bound) const {
    for (std::int64_t b = (at + kWindow + 1) / kTargets; b < blocks_; ++b) {
      const Vec<V> gap = cost(std::max<std::int64_t>(kWindow + 1, b * kTargets - (at + kTargets - 1)));
      if (hopeless(gap, block.worst)) return;
      if (b % kSuperblock == 0 && hopeless(Join::join(super_min(b / kSuperblock), gap), block.worst)) {
        b += kSuperblock - 1;
        continue;
      }
      if (!hopeless(Join::join(block_min(b), gap), block.worst)) evaluate(block, at, b, bound);
    }
  }

  /// All pairs of a block of sources and the targets.
  HWY_INLINE void evaluate(Block& block, std::int64_t at, std::int64_t b, Vec<V> bound) const {
    const std::int64_t end = std::min(c_.sources, (b + 1) * kTargets);
    for (std::int64_t i = b * kTargets; i < end; ++i) {
      const Vec<V> value = row(i);
      const Vec<V> coordinate = kCoordinates ? coordinate_of(i) : Set(0);
      const std::int64_t steps = at - i;
      for (int r = 0; r < kTargets; ++r)
        offer(block, r, Join::join(value, cost(std::abs(steps + r))), coordinate);
    }
    update_worst(block, bound);
  }

  HWY_INLINE void store(const Block& block, std::int64_t t) const {
    for (int r = 0; r < kTargets; ++r) {
      hn::Store(block.best[r], d, c_.result + (t + r) * c_.pitch + line_);
      if constexpr (kCoordinates) hn::Store(block.from[r], d, c_.coordinate + (t + r) * c_.pitch + line_);
    }
  }

  HWY_INLINE Vec<V> next_bound(Vec<V> last) const {
    alignas(64) V values[hn::MaxLanes(d)];
    hn::Store(last, d, values);
    for (int i = 0; i < kLanes(); ++i) {
      const V above = bound_after(values[i], c_.step, c_.euclidean);
      values[i] = values[i] < no_value<V>() ? above : no_value<V>();
    }
    return hn::Min(hn::Load(d, values), Set(c_.cap));
  }

  const Column<V>& c_;
  V* rows_;
  std::int64_t blocks_;
  V* block_min_;
  V* super_min_;
  int line_;
};

template <class V, class Join, bool kCoordinates>
void search_strip(const Column<V>& column) {
  const int groups = kStrip / static_cast<int>(hn::Lanes(Tag<V>()));
  for (int g = 0; g < groups; ++g) Search<V, Join, kCoordinates>(column, g).run();
}

template <class V>
void pass(const Column<V>& column) {
  if (column.chessboard) return column.coordinate ? search_strip<V, Max, true>(column) : search_strip<V, Max, false>(column);
  return column.coordinate ? search_strip<V, Add, true>(column) : search_strip<V, Add, false>(column);
}

void pass_i32(const Column<std::int32_t>& column) { pass(column); }
void pass_i64(const Column<std::int64_t>& column) { pass(column); }
void pass_f64(const Column<double>& column) { pass(column); }

int lanes_i32() { return static_cast<int>(hn::Lanes(Tag<std::int32_t>())); }
int lanes_i64() { return static_cast<int>(hn::Lanes(Tag<std::int64_t>())); }
int lanes_f64() { return static_cast<int>(hn::Lanes(Tag<double>())); }

}  // namespace fathom::grid::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::grid::cpu {

std::int64_t bounds_size(std::int64_t sources) {
  const std::int64_t blocks = (sources + kTargets - 1) / kTargets;
  return (blocks + (blocks + kSuperblock - 1) / kSuperblock) * kStrip;
}

template <>
int lanes<std::int32_t>(InstructionSet set) {
  return FATHOM_COMPILED_FOR(set, lanes_i32)();
}
template <>
int lanes<std::int64_t>(InstructionSet set) {
  return FATHOM_COMPILED_FOR(set, lanes_i64)();
}
template <>
int lanes<double>(InstructionSet set) {
  return FATHOM_COMPILED_FOR(set, lanes_f64)();
}

void column_pass(const Column<std::int32_t>& column, InstructionSet set) { FATHOM_COMPILED_FOR(set, pass_i32)(column); }
void column_pass(const Column<std::int64_t>& column, InstructionSet set) { FATHOM_COMPILED_FOR(set, pass_i64)(column); }
void column_pass(const Column<double>& column, InstructionSet set) { FATHOM_COMPILED_FOR(set, pass_f64)(column); }

}  // namespace fathom::grid::cpu
#endif
