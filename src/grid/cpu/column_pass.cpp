// Work mapping: a vector holds the same row of W neighbouring lines; 8 targets live in registers while sources stream by.
#include "grid/cpu/column_pass.h"

#include "grid/cpu/dispatch.h"
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
    bound_ = Set(c_.cap);
    for (std::int64_t t = 0; t < c_.targets; t += kTargets) search_block(t);
  }

 private:
  static constexpr Tag<V> d{};
  static HWY_INLINE int kLanes() { return static_cast<int>(hn::Lanes(d)); }
  static HWY_INLINE Vec<V> Set(V value) { return hn::Set(d, value); }
  HWY_INLINE Vec<V> row(std::int64_t i) const { return hn::Load(d, rows_ + i * kLanes()); }

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
  HWY_INLINE bool hopeless(Vec<V> least) const {
    if constexpr (kCoordinates) return hn::AllTrue(d, hn::Gt(least, worst_));
    else return hn::AllTrue(d, hn::Ge(least, worst_));
  }
  HWY_INLINE Vec<V> cost(std::int64_t steps) const { return Set(c_.cost[steps]); }

  HWY_INLINE Vec<V> coordinate_of(std::int64_t source) const {
    std::int64_t at = source + c_.origin;
    if (at < 0) at += c_.extent;
    if (at >= c_.extent) at -= c_.extent;
    return Set(static_cast<V>(at));
  }

  HWY_INLINE void offer(int r, Vec<V> value, Vec<V> coordinate) {
    if constexpr (kCoordinates) {
      const auto better = hn::Or(hn::Lt(value, best_[r]),
                                 hn::And(hn::Eq(value, best_[r]), hn::Lt(coordinate, from_[r])));
      best_[r] = hn::IfThenElse(better, value, best_[r]);
      from_[r] = hn::IfThenElse(better, coordinate, from_[r]);
    } else {
      best_[r] = hn::Min(best_[r], value);
    }
  }

  HWY_INLINE void update_worst() {
    Vec<V> worst = best_[0];
    for (int r = 1; r < kTargets; ++r) worst = hn::Max(worst, best_[r]);
    worst_ = hn::Min(worst, bound_);
  }

  /// @param t  target; its source row is first_target + t
  void search_block(std::int64_t t) {
    const std::int64_t at = c_.first_target + t;
    for (int r = 0; r < kTargets; ++r) {
      best_[r] = row(at + r);
      if constexpr (kCoordinates) from_[r] = coordinate_of(at + r);
    }
    if (c_.start) offer_start(t);
    if (!window(at)) {
      search_left(at);
      search_right(at);
    }
    store(t);
    next_bound();
  }

  void offer_start(std::int64_t t) {
    const int rows = static_cast<int>(std::min<std::int64_t>(kTargets, c_.targets - t));
    for (int r = 0; r < rows; ++r) {
      const std::int64_t i = (t + r) * kStrip + line_;
      Vec<V> from = Set(0);
      if constexpr (kCoordinates) from = hn::Load(d, c_.start_coordinate + i);
      offer(r, hn::Load(d, c_.start + i), from);
    }
  }

  /// Sources up to kWindow steps away. True if no other can matter.
  HWY_INLINE bool window(std::int64_t at) {
    for (int k = 1; k <= kWindow; ++k) {
      update_worst();
      const Vec<V> step = cost(k);
      if (hopeless(step)) return true;
      for (int r = 0; r < kTargets; ++r) {
        if constexpr (kCoordinates) {
          offer(r, Join::join(row(at + r - k), step), coordinate_of(at + r - k));
          offer(r, Join::join(row(at + r + k), step), coordinate_of(at + r + k));
        } else {
          best_[r] = hn::Min(best_[r], Join::join(hn::Min(row(at + r - k), row(at + r + k)), step));
        }
      }
    }
    update_worst();
    return hopeless(cost(kWindow + 1));
  }

  /// Blocks of sources that lie before the window of the last target.
  HWY_INLINE void search_left(std::int64_t at) {
    std::int64_t b = (at + kTargets - 1 - kWindow - 1);
    if (b < 0) return;
    for (b = std::min(b / kTargets, blocks_ - 1); b >= 0; --b) {
      const Vec<V> gap = cost(std::max<std::int64_t>(kWindow + 1, at - (b * kTargets + kTargets - 1)));
      if (hopeless(gap)) return;
      if (b % kSuperblock == kSuperblock - 1 && hopeless(Join::join(super_min(b / kSuperblock), gap))) {
        b -= kSuperblock - 1;
        continue;
      }
      if (!hopeless(Join::join(block_min(b), gap))) evaluate(at, b);
    }
  }

  HWY_INLINE void search_right(std::int64_t at) {
    for (std::int64_t b = (at + kWindow + 1) / kTargets; b < blocks_; ++b) {
      const Vec<V> gap = cost(std::max<std::int64_t>(kWindow + 1, b * kTargets - (at + kTargets - 1)));
      if (hopeless(gap)) return;
      if (b % kSuperblock == 0 && hopeless(Join::join(super_min(b / kSuperblock), gap))) {
        b += kSuperblock - 1;
        continue;
      }
      if (!hopeless(Join::join(block_min(b), gap))) evaluate(at, b);
    }
  }

  HWY_INLINE Vec<V> block_min(std::int64_t b) const { return hn::Load(d, block_min_ + b * kLanes()); }
  HWY_INLINE Vec<V> super_min(std::int64_t s) const { return hn::Load(d, super_min_ + s * kLanes()); }

  /// All pairs of a block of sources and the targets.
  HWY_INLINE void evaluate(std::int64_t at, std::int64_t b) {
    const std::int64_t end = std::min(c_.sources, (b + 1) * kTargets);
    for (std::int64_t i = b * kTargets; i < end; ++i) {
      const Vec<V> value = row(i);
      const Vec<V> coordinate = kCoordinates ? coordinate_of(i) : Set(0);
      for (int r = 0; r < kTargets; ++r) offer(r, Join::join(value, cost(std::abs(at + r - i))), coordinate);
    }
    update_worst();
  }

  HWY_INLINE void store(std::int64_t t) {
    for (int r = 0; r < kTargets; ++r) {
      hn::Store(best_[r], d, c_.result + (t + r) * kStrip + line_);
      if constexpr (kCoordinates) hn::Store(from_[r], d, c_.coordinate + (t + r) * kStrip + line_);
    }
  }

  HWY_INLINE void next_bound() {
    alignas(64) V values[hn::MaxLanes(d)];
    hn::Store(best_[kTargets - 1], d, values);
    for (int i = 0; i < kLanes(); ++i)
      values[i] = values[i] < no_value<V>() ? bound_after(values[i], c_.step, c_.euclidean) : no_value<V>();
    bound_ = hn::Min(hn::Load(d, values), Set(c_.cap));
  }

  const Column<V>& c_;
  V* rows_;
  std::int64_t blocks_;
  V* block_min_;
  V* super_min_;
  int line_;
  Vec<V> best_[kTargets];
  Vec<V> from_[kTargets];
  Vec<V> worst_;
  Vec<V> bound_;
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

/// Position of the only set bit of each lane; lanes without a bit give anything.
template <class D32>
HWY_INLINE hn::Vec<D32> bit_position(D32 di, hn::Vec<D32> bit) {
  const hn::Rebind<float, D32> df;
  const auto exponent = hn::ShiftRight<23>(hn::BitCast(di, hn::ConvertTo(df, bit)));
  return hn::Sub(hn::And(exponent, hn::Set(di, 0xFF)), hn::Set(di, 127));  // 2³¹ converts as −2³¹: the sign is cut off
}

template <class D32>
HWY_INLINE hn::Vec<D32> lowest_bit(D32 di, hn::Vec<D32> bits) {
  return hn::And(bits, hn::Sub(hn::Zero(di), bits));
}

std::uint32_t reversed(std::uint32_t v) {
  v = ((v >> 1) & 0x55555555u) | ((v & 0x55555555u) << 1);
  v = ((v >> 2) & 0x33333333u) | ((v & 0x33333333u) << 2);
  v = ((v >> 4) & 0x0F0F0F0Fu) | ((v & 0x0F0F0F0Fu) << 4);
  return __builtin_bswap32(v);
}

void strip_distances(const RowWord& word, std::int64_t x0, std::int64_t extent, bool changes, std::uint32_t* distance,
                     std::int32_t* site) {
  const Tag<std::int32_t> di;
  const Tag<std::uint32_t> du;
  const auto set = [&](std::int64_t v) { return hn::Set(di, static_cast<std::int32_t>(v)); };
  const auto zero = hn::Zero(di), one = set(1), n = set(extent);
  const auto bits = set(static_cast<std::int32_t>(word.bits));
  const auto mirrored = set(static_cast<std::int32_t>(reversed(word.bits)));
  const auto pinned = set(static_cast<std::int32_t>(word.pinned));
  for (int lane = 0; lane < kStrip; lane += static_cast<int>(hn::Lanes(di))) {
    const auto j = hn::Add(hn::Iota(di, lane), zero);
    const auto x = hn::Add(j, set(x0));
    // The last site at or before j is, in the mirrored word, the first at or behind 31 − j.
    const auto not_before = hn::Sub(zero, hn::Shl(one, hn::Sub(set(31), j)));
    const auto before = hn::And(mirrored, not_before);
    const auto at = hn::Sub(set(x0 + 31 - (changes ? 1 : 0)), bit_position(di, lowest_bit(di, before)));
    const auto left = hn::IfThenElse(hn::Eq(before, zero), set(word.left), at);
    const auto behind = hn::And(bits, hn::Sub(zero, hn::Shl(hn::Shl(one, j), one)));
    const auto right = hn::IfThenElse(hn::Eq(behind, zero), set(word.right),
                                      hn::Add(set(x0), bit_position(di, lowest_bit(di, behind))));
    // Unsigned: what is missing on a side is at least 2³¹ steps away.
    const auto to_left = hn::BitCast(du, hn::Sub(x, left)), to_right = hn::BitCast(du, hn::Sub(right, x));
    const auto is_pinned = hn::Ne(hn::And(pinned, hn::Shl(one, j)), zero);
    const auto nearest = hn::BitCast(di, hn::Min(to_left, to_right));
    hn::StoreU(hn::BitCast(du, hn::IfThenElse(is_pinned, zero, nearest)), du, distance + lane);
    if (!site) continue;
    const auto wrapped_left = hn::IfThenElse(hn::Lt(left, zero), hn::Add(left, n), left);
    const auto wrapped_right = hn::IfThenElse(hn::Lt(right, n), right, hn::Sub(right, n));
    const auto left_nearer = hn::RebindMask(di, hn::Lt(to_left, to_right));
    const auto right_nearer = hn::RebindMask(di, hn::Lt(to_right, to_left));
    const auto nearer = hn::IfThenElse(left_nearer, wrapped_left,
                                       hn::IfThenElse(right_nearer, wrapped_right,
                                                      hn::Min(wrapped_left, wrapped_right)));
    hn::StoreU(hn::IfThenElse(is_pinned, x, nearer), di, site + lane);
  }
}

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
  HWY_INLINE Vec<std::int32_t> steps() const { return steps_; }

 private:
  static constexpr Tag<std::int32_t> d{};
  Vec<std::int32_t> bit_, steps_;
};

void boundaries_of_lines(const std::uint32_t* changes, std::int64_t extent, bool periodic, std::int32_t* steps,
                         std::int32_t* site) {
  const Tag<std::int32_t> d;
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

void line_boundaries(const std::uint32_t* changes, std::int64_t extent, bool periodic, std::int32_t* steps,
                     std::int32_t* site, InstructionSet set) {
  FATHOM_COMPILED_FOR(set, boundaries_of_lines)(changes, extent, periodic, steps, site);
}

void row_distances(const RowWord& word, std::int64_t x0, std::int64_t extent, bool changes, std::uint32_t* distance,
                   std::int32_t* site, InstructionSet set) {
  FATHOM_COMPILED_FOR(set, strip_distances)(word, x0, extent, changes, distance, site);
}

}  // namespace fathom::grid::cpu
#endif
