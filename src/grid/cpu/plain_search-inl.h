// Squared distances along many lines at once where the nearest site may be far:
//   out[x] = min over candidates i of f(i) + (x − i)²,
// one line per lane, candidates shared by the lanes.
//
// Candidates that no line needs are dropped first: those beyond the bound on the distance, and those that are not
// strictly convex corners of f(i) + i² (a corner's two neighbours are at least as near everywhere). (x − i)² + f(i) is
// Monge, so the leftmost best candidate never moves left as x grows: the best ones at every kLeaf-th position, found by
// halving, enclose those between, which are then tried one by one.
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

/// distance² in all lanes.
template <class D>
HWY_INLINE hn::Vec<D> broadcast_square(D d, const Squares& squares, std::int64_t distance) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) return hn::Set(d, squares.wide[distance]);
#if HWY_TARGET == HWY_SCALAR
  else return hn::Set(d, squares.narrow[distance]);
#else
  else return hn::BitCast(d, hn::Set(hn::RepartitionToWide<D>(), squares.twice[distance]));
#endif
}

/// Squares of the distances distance, distance + 1, …
template <class D>
HWY_INLINE hn::Vec<D> running_squares(D d, const Squares& squares, std::int64_t distance) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) return hn::LoadU(d, squares.wide + distance);
  else return hn::LoadU(d, squares.narrow + distance);
}

/// The square of a bound on the distance, short of "infinitely far".
template <class T>
HWY_INLINE T square_limit(int reach) {
  return static_cast<T>(std::min<std::int64_t>(static_cast<std::int64_t>(reach) * reach, kNone<T> - 1));
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

/// Memory for lines of up to `length` positions.
template <class T>
struct SearchMemory {
  T* values;               ///< [length + kSearchSlack][lanes]: f of the candidates
  T* results;              ///< [length + kSearchSlack][lanes]
  std::int32_t* position;  ///< [length + kSearchSlack] of the candidates
  std::int32_t* before;    ///< [length + kSearchSlack]: candidates left of a position
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
  HWY_INLINE Filter(const SearchMemory<T>& memory, std::int64_t begin, T limit)
      : memory_(memory), begin_(begin), limit_(hn::Set(D(), limit)), previous_(none()), current_(none()) {}

  /// The next position's f, which decides about the position before it.
  HWY_INLINE void add(V next) {
    settle(next);
    previous_ = current_;
    current_ = next;
    ++taken_;
  }

  /// `n` ≥ 1 positions whose f is past the limit in every line.
  HWY_INLINE void skip(int n) {
    add(none());
    previous_ = none();
    for (int i = 1; i < n; ++i) memory_.before[++taken_ - 2] = count_;
  }

  HWY_INLINE Candidates end() {
    settle(none());
    memory_.before[taken_] = count_;
    return {begin_, begin_ + taken_, count_};
  }

 private:
  static HWY_INLINE V none() { return hn::Set(D(), kNone<T>); }

  HWY_INLINE void settle(V next) {
    if (HWY_UNLIKELY(taken_ == 0)) return;
    memory_.before[taken_ - 1] = count_;
    memory_.position[count_] = static_cast<std::int32_t>(begin_ + taken_ - 1);
    hn::Store(current_, D(), memory_.values + static_cast<std::size_t>(count_) * hn::MaxLanes(D()));
    count_ += needed(next);
  }

  /// Whether some line needs the current position: within the limit, and a strictly convex corner, or beside a gap.
  HWY_INLINE bool needed(V next) const {
    const auto corner = less_equal(current_, mean(previous_, next));
    const auto gap = less_equal(none(), hn::Max(previous_, next));
    return !hn::AllFalse(D(), hn::And(less_equal(current_, limit_), hn::Or(corner, gap)));
  }
  static HWY_INLINE V mean(V a, V b) {
    if constexpr (sizeof(T) == 2) return hn::AverageRound(a, b);
    else return hn::ShiftRight<1>(hn::Add(hn::Add(a, b), hn::Set(D(), 1)));  // wraps beside gaps only
  }

  const SearchMemory<T> memory_;
  const std::int64_t begin_;
  const V limit_;
  V previous_, current_;
  std::int64_t taken_ = 0;
  int count_ = 0;
};

template <class D>
class Search {
 public:
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  static constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(D()));

  Search(const SearchMemory<T>& memory, const Squares& squares, const Candidates& candidates, const Bounds& bounds)
      : memory_(memory), squares_(squares), candidates_(candidates), bounds_(bounds) {}

  /// Fills memory.results for positions [from, to), the first at index 0. Exact where at most the bound's square.
  void solve(std::int64_t from, std::int64_t to) {
    origin_ = from;
    halve(from, to, 0, candidates_.count - 1);
  }

 private:
  /// Positions whose best candidates are sought by halving are this far apart.
  static constexpr int kLeaf = 8;
  static_assert(kLeaf < kSearchSlack);

  /// Those candidates in [first, last] that can be best somewhere in [x0, x1], two positions at most kLeaf apart.
  HWY_INLINE void clip(std::int64_t x0, std::int64_t x1, int& first, int& last) const {
    const std::int64_t span = std::max(bounds_.span_at(x0), bounds_.span_at(x1));
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
      for (int i = 0; i < n; ++i) best[i] = hn::Min(best[i], add_far(f, broadcast_square(D(), squares_, distance + i)));
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
    if (to - from < kLeaf || last - first < kLeaf) return try_all(from, to, first, last);
    const std::int64_t middle = from + (to - from) / kLeaf / 2 * kLeaf + (kLeaf - 1);
    const Candidates best = settle(middle, first, last);
    halve(from, middle, first, static_cast<int>(best.end));
    halve(middle + 1, to, static_cast<int>(best.begin), last);
  }

  /// Result at x; returns the first and last index among the lines' best candidates.
  HWY_INLINE Candidates settle(std::int64_t x, const int outer_first, const int outer_last) {
    int first = outer_first, last = outer_last;
    clip(x, x, first, last);
    V best = all(kNone<T>), argument = all(static_cast<T>(first)), index = argument;
    for (int c = first; c <= last; ++c) {
      const V value = add_far(load(c), broadcast_square(D(), squares_, x - memory_.position[c]));
      const V better = hn::Min(best, value);
      argument = hn::IfThenElse(hn::Eq(better, best), argument, index);
      best = better;
      index = hn::Add(index, all(T{1}));
    }
    put(x, best);
    // A line without a result within the bound says nothing about its neighbours.
    const auto found = less_equal(best, all(square_limit<T>(bounds_.reach_at(x))));
    const V lowest = hn::IfThenElse(found, argument, all(static_cast<T>(outer_first)));
    const V highest = hn::IfThenElse(found, argument, all(static_cast<T>(outer_last)));
    return {smallest_lane(D(), lowest), largest_lane(D(), highest), 0};
  }

  const SearchMemory<T> memory_;
  const Squares squares_;
  const Candidates candidates_;
  const Bounds bounds_;
  std::int64_t origin_ = 0;
};

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
