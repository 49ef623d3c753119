// Values along many lines at once where the nearest site may be far:
//   out[x] = min over candidates i of f(i) + step(x − i),
// one line per lane, candidates shared by the lanes.
//
// Candidates that no line needs are dropped first: those beyond the bound on the distance, and those that are not
// strictly convex corners of f(i) + i² (a corner's two neighbours are at least as near everywhere). f(i) + step(x − i)
// is Monge, so the leftmost best candidate never moves left as x grows: the best ones at every kLeaf-th position, found by
// halving, enclose those between, which are then tried one by one. Results come a piece of the line at a time, so that
// they are still in the first cache when they are used.
//
// How far along the line a best candidate can be follows from the bound d on the distance, from f of the element itself
// and from the smallest f around: k² ≤ min(d², f(x)) − least f. Where f is even, as beside a plane, that is next to
// nothing.
//
// Source: divide and conquer on monotone argmins (Hirata 1996 and Felzenszwalb & Huttenlocher 2012 build the envelope
// instead, which branches per line and so does not go in lock step). Cost: O(n log n) at worst, about O(n) where the
// bound is good.
#if defined(FATHOM_GRID_CPU_PLAIN_SEARCH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_GRID_CPU_PLAIN_SEARCH_INL_H
#undef FATHOM_GRID_CPU_PLAIN_SEARCH_INL_H
#else
#define FATHOM_GRID_CPU_PLAIN_SEARCH_INL_H
#endif

#include <algorithm>

#include "grid/cpu/plain_bits.h"
#include "grid/cpu/plain_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::plain::HWY_NAMESPACE {

/// The step from a candidate to a position `distance` behind it, in all lanes.
template <class D>
HWY_INLINE hn::Vec<D> broadcast_step(D d, const Steps<hn::TFromD<D>>& steps, std::int64_t distance) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(hn::TFromD<D>) == 2)
    return hn::BitCast(d, hn::Set(hn::RepartitionToWide<D>(), steps.twice[distance]));
  else
#endif
    return hn::Set(d, steps.at[distance]);
}

/// Bounds along a line, one per 2^shift positions.
struct Bounds {
  const int* reach;  ///< on the distance
  const int* span;   ///< on its part along the line
  int shift;
  std::int64_t origin;  ///< position of the first
  int reach_at(std::int64_t x) const { return reach[(x - origin) >> shift]; }
  int span_at(std::int64_t x) const { return span[(x - origin) >> shift]; }
};

/// Positions whose results come together.
inline constexpr int kPiece = 128;
/// Least and largest f are kept per 2^kPatchShift positions.
inline constexpr int kPatchShift = 6;

/// Memory for lines of up to `length` positions.
template <class T>
struct SearchMemory {
  T* values;               ///< [length + kSearchSlack][lanes]: f of the candidates
  T* results;              ///< [kPiece + kSearchSlack][lanes]
  std::int32_t* position;  ///< [length + kSearchSlack] of the candidates
  std::int32_t* before;    ///< [length + kSearchSlack]: candidates left of a position
  T* least;                ///< [(length >> kPatchShift) + 2][lanes]: smallest f of a patch
  T* most;                 ///< the same, largest
};
inline constexpr std::int64_t kSearchSlack = 64;

/// The candidates among positions [begin, end) that some line needs.
struct Candidates {
  std::int64_t begin = 0, end = 0;
  int count = 0;
};

/// Takes f position by position, keeps the candidates.
template <class D>
class Filter {
 public:
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;

  /// @param limit  larger f cannot matter
  HWY_INLINE Filter(const SearchMemory<T>& memory, std::int64_t begin, const Steps<T>& steps, T limit)
      : memory_(memory),
        begin_(begin),
        limit_(hn::Set(D(), limit)),
        slack_(hn::Set(D(), steps.corner())),
        previous_(none()),
        current_(none()),
        least_(none()),
        most_(hn::Zero(D())) {}

  /// The next position's f, which decides about the position before it.
  HWY_INLINE void add(V next) {
    settle(next);
    previous_ = current_;
    current_ = next;
    least_ = hn::Min(least_, next);
    most_ = hn::Max(most_, next);
    advance();
  }

  /// `n` ≥ 1 positions whose f is past the limit in every line.
  HWY_INLINE void skip(int n) {
    add(none());
    previous_ = none();
    for (int i = 1; i < n; ++i) {
      memory_.before[taken_ - 1] = count_;
      most_ = none();
      advance();
    }
  }

  HWY_INLINE Candidates end() {
    settle(none());
    memory_.before[taken_] = count_;
    if (taken_ % kPatch != 0) close_patch(taken_ >> kPatchShift);
    return {begin_, begin_ + taken_, count_};
  }

 private:
  static constexpr std::int64_t kPatch = 1 << kPatchShift;
  static HWY_INLINE V none() { return hn::Set(D(), kNone<T>); }

  HWY_INLINE void advance() {
    if (HWY_UNLIKELY(++taken_ % kPatch == 0)) close_patch((taken_ >> kPatchShift) - 1);
  }
  HWY_INLINE void close_patch(std::int64_t patch) {
    constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
    hn::Store(least_, D(), memory_.least + patch * kLanes);
    hn::Store(most_, D(), memory_.most + patch * kLanes);
    least_ = none();
    most_ = hn::Zero(D());
  }

  HWY_INLINE void settle(V next) {
    if (HWY_UNLIKELY(taken_ == 0)) return;
    memory_.before[taken_ - 1] = count_;
    memory_.position[count_] = static_cast<std::int32_t>(begin_ + taken_ - 1);
    hn::Store(current_, D(), memory_.values + static_cast<std::size_t>(count_) * hn::MaxLanes(D()));
    count_ += needed(next);
  }

  /// Whether some line needs the current position: within the limit, and a strictly convex corner, or beside a gap.
  HWY_INLINE bool needed(V next) const {
    const auto corner = less_equal(current_, add_far(mean(previous_, next), slack_));
    const auto gap = less_equal(none(), hn::Max(previous_, next));
    return !hn::AllFalse(D(), hn::And(less_equal(current_, limit_), hn::Or(corner, gap)));
  }
  static HWY_INLINE V mean(V a, V b) {
    if constexpr (sizeof(T) == 2) return hn::AverageRound(a, b);
    else if constexpr (sizeof(T) == 8) return hn::Mul(hn::Add(a, b), hn::Set(D(), 0.5));
    else return hn::ShiftRight<1>(hn::Add(hn::Add(a, b), hn::Set(D(), 1)));  // wraps beside gaps only
  }

  const SearchMemory<T> memory_;
  const std::int64_t begin_;
  const V limit_, slack_;
  V previous_, current_;
  V least_, most_;  ///< of the patch at hand
  std::int64_t taken_ = 0;
  int count_ = 0;
};

/// @tparam kReal  values are rounded, so that near ones count as equal where the range of the best is asked for
template <class D, bool kReal = false>
class Search {
 public:
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  static constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(D()));

  Search(const SearchMemory<T>& memory, const Steps<T>& steps, const Candidates& candidates, const Bounds& bounds)
      : memory_(memory), steps_(steps), candidates_(candidates), bounds_(bounds) {}

  /// Solves positions [from, to), in order, up to kPiece at a time: calls take(begin, end) with the results in
  /// memory.results, the first at index 0. Exact where at most the bound's square.
  template <class Take>
  void solve(std::int64_t from, std::int64_t to, const Take& take) {
    split(from, to, 0, candidates_.count - 1, take);
  }

 private:
  /// Positions whose best candidates are sought by halving are this far apart.
  static constexpr int kLeaf = 8;
  /// Work, in candidates × positions, below which halving does not pay.
  static constexpr std::int64_t kTryAll = 512;
  static_assert(kLeaf < kSearchSlack && kPiece % kLeaf == 0);
  /// Candidates of which a first look takes the best only, and how many there must be for that to pay.
  static constexpr int kGlance = 8, kMany = 40;

  /// What is known at a position.
  struct Settled {
    V result;
    int first, last;  ///< among the lines' best candidates
  };

  template <class Take>
  void split(std::int64_t from, std::int64_t to, int first, int last, const Take& take) {
    if (to - from <= kPiece) {
      origin_ = from;
      span_ = span_of(from, to);
      halve(from, to, first, last);
      return take(from, to);
    }
    const std::int64_t middle = from + ((to - from) / kPiece + 1) / 2 * kPiece;
    span_ = span_of(middle - 1, middle);
    const Settled best = settle(middle - 1, first, last);
    split(from, middle, first, best.last, take);
    split(middle, to, best.first, last, take);
  }

  /// How far from positions [from, to) along the line their best candidates can be.
  HWY_INLINE int span_of(std::int64_t from, std::int64_t to) const {
    int reach = 0, span = 0;
    for (std::int64_t x = from; x < to; x = next_bound(x)) {
      reach = std::max(reach, bounds_.reach_at(x));
      span = std::max(span, bounds_.span_at(x));
    }
    const V highest = hn::Min(all(steps_.limit(reach)), over_patches(memory_.most, from, to, all(0), Larger()));
    const V lowest = over_patches(memory_.least, from - span, to + span, all(kNone<T>), Smaller());
    const V rest = hn::Sub(hn::Max(highest, lowest), lowest);
    return std::min(span, steps_.span(largest_lane(D(), rest)));
  }
  std::int64_t next_bound(std::int64_t x) const {
    return ((((x - bounds_.origin) >> bounds_.shift) + 1) << bounds_.shift) + bounds_.origin;
  }

  struct Smaller {
    HWY_INLINE V operator()(V a, V b) const { return hn::Min(a, b); }
  };
  struct Larger {
    HWY_INLINE V operator()(V a, V b) const { return hn::Max(a, b); }
  };
  /// `combine` over the patches that hold positions [from, to).
  template <class Combine>
  HWY_INLINE V over_patches(const T* patches, std::int64_t from, std::int64_t to, V value, Combine combine) const {
    const auto [begin, end, count] = candidates_;
    const std::int64_t last = (std::min(to, end) - 1 - begin) >> kPatchShift;
    for (std::int64_t patch = (std::max(from, begin) - begin) >> kPatchShift; patch <= last; ++patch)
      value = combine(value, hn::Load(D(), patches + patch * kLanes));
    return value;
  }

  /// Those candidates in [first, last] that can be best somewhere in [x0, x1], two positions at most kLeaf apart.
  HWY_INLINE void clip(std::int64_t x0, std::int64_t x1, int& first, int& last) const {
    const std::int64_t span = std::min(span_, std::max(bounds_.span_at(x0), bounds_.span_at(x1)));
    const auto [begin, end, count] = candidates_;
    first = std::max(first, memory_.before[std::clamp(x0 - span, begin, end) - begin]);
    last = std::min(last, memory_.before[std::clamp(x1 + span + 1, begin, end) - begin] - 1);
  }

  HWY_INLINE V load(int candidate) const { return hn::Load(D(), memory_.values + candidate * kLanes); }
  HWY_INLINE void put(std::int64_t x, V result) const {
    hn::Store(result, D(), memory_.results + (x - origin_) * kLanes);
  }
  static HWY_INLINE V all(T value) { return hn::Set(D(), value); }

  /// Tries candidates [first, last] at n positions from x on, of which `used` matter.
  template <int n>
  HWY_INLINE void leaf(std::int64_t x, std::int64_t used, int first, int last) const {
    clip(x, x + used - 1, first, last);
    V best[n];
    for (int i = 0; i < n; ++i) best[i] = all(kNone<T>);
    for (int c = first; c <= last; ++c) {
      const V f = load(c);
      const std::int64_t distance = x - memory_.position[c];
      for (int i = 0; i < n; ++i) best[i] = hn::Min(best[i], add_far(f, broadcast_step(D(), steps_, distance + i)));
    }
    for (int i = 0; i < n; ++i) put(x + i, best[i]);
  }

  /// [from, to) ends the line, where results may spill past the end, or has a length of 7 modulo 8.
  void try_all(std::int64_t from, std::int64_t to, int first, int last) const {
    for (; to - from >= kLeaf; from += kLeaf) leaf<kLeaf>(from, kLeaf, first, last);
    if (from < to) leaf<kLeaf - 1>(from, to - from, first, last);
  }

  /// Results at [from, to), whose best candidates are in [first, last].
  void halve(std::int64_t from, std::int64_t to, int first, int last) {
    if (to - from < kLeaf || few(to - from, last - first)) return try_all(from, to, first, last);
    const std::int64_t middle = from + (to - from) / kLeaf / 2 * kLeaf + (kLeaf - 1);
    const Settled best = settle(middle, first, last);
    put(middle, best.result);
    halve(from, middle, first, best.last);
    halve(middle + 1, to, best.first, last);
  }
  /// Whether trying all candidates at `width` positions is cheaper than halving them further.
  HWY_INLINE bool few(std::int64_t width, int candidates) const {
    return std::min<std::int64_t>(candidates, 2 * span_ + kLeaf) * width <= kTryAll;
  }

  HWY_INLINE V value(int candidate, std::int64_t x) const {
    return add_far(load(candidate), broadcast_step(D(), steps_, x - memory_.position[candidate]));
  }

  /// Narrows [first, last] to groups of kGlance candidates that hold the leftmost best ones at x.
  HWY_INLINE void glance(std::int64_t x, int& first, int& last) const {
    V best = all(kNone<T>), argument = all(static_cast<T>(first));
    for (int group = first; group <= last; group += kGlance) {
      const int begin = std::min(group, last + 1 - kGlance);
      V least = best;
      for (int i = 0; i < kGlance; ++i) least = hn::Min(least, value(begin + i, x));
      argument = hn::IfThenElse(hn::Eq(least, best), argument, all(static_cast<T>(begin)));
      best = least;
    }
    first = static_cast<int>(smallest_lane(D(), argument));
    last = static_cast<int>(largest_lane(D(), argument)) + kGlance - 1;
  }

  HWY_INLINE Settled settle(std::int64_t x, const int outer_first, const int outer_last) const {
    int first = outer_first, last = outer_last;
    clip(x, x, first, last);
    if (!kReal && last - first >= kMany) glance(x, first, last);
    V best = all(kNone<T>), argument = all(static_cast<T>(first)), index = argument, latest = argument;
    const V tolerance = all(static_cast<T>(steps_.real.tolerance));
    for (int c = first; c <= last; ++c) {
      const V here = value(c, x), better = hn::Min(best, here);
      if constexpr (kReal) {
        argument = hn::IfThenElse(less_equal(hn::Sub(best, tolerance), here), argument, index);
        latest = hn::IfThenElse(less_equal(here, hn::Add(best, tolerance)), index, latest);
      } else {
        argument = hn::IfThenElse(hn::Eq(better, best), argument, index);
      }
      best = better;
      index = hn::Add(index, all(T{1}));
    }
    if (!kReal) latest = argument;
    // A line without a result within the bound says nothing about its neighbours.
    const auto found = less_equal(best, all(steps_.limit(bounds_.reach_at(x))));
    const V lowest = hn::IfThenElse(found, argument, all(static_cast<T>(outer_first)));
    const V highest = hn::IfThenElse(found, latest, all(static_cast<T>(outer_last)));
    return {best, static_cast<int>(smallest_lane(D(), lowest)), static_cast<int>(largest_lane(D(), highest))};
  }

  const SearchMemory<T> memory_;
  const Steps<T> steps_;
  const Candidates candidates_;
  const Bounds bounds_;
  std::int64_t origin_ = 0;  ///< of the piece at hand
  int span_ = 0;             ///< at the position or piece at hand
};

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
