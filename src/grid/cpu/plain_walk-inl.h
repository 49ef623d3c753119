// Squared distances along one row whose squares f across the row are convex from the first site's column to the last's,
//   out[x] = min over columns i of f(i) + (x − i)²,
// as beside a straight line or plane of sites.
//
// Then (x − i)² + f(i) falls and rises once as i grows, so that the best column is found by comparing neighbours, without
// a search. From one x to the next it moves by a column or none: the offsets x − i of the best never shrink, and those of
// a vector of positions lie between the offsets at its ends, few enough to try them all. Rows stay rows: nothing is
// turned into lanes and back.
//
// Source: the lower envelope of Felzenszwalb & Huttenlocher 2012, in which every parabola stays here. Cost per element:
// by how much the offset changes along a vector, at most its lanes; nothing beside a flat plane.
#if defined(FATHOM_GRID_CPU_PLAIN_WALK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_GRID_CPU_PLAIN_WALK_INL_H
#undef FATHOM_GRID_CPU_PLAIN_WALK_INL_H
#else
#define FATHOM_GRID_CPU_PLAIN_WALK_INL_H
#endif

#include <algorithm>

#include "grid/cpu/arena.h"
#include "grid/cpu/plain_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::plain::HWY_NAMESPACE {

class RowWalk {
 public:
  /// Memory for rows of up to `length` columns.
  void carve(Arena& arena, std::int64_t length) { memory_ = arena.take<std::uint32_t>(length + 3 * kLanes32); }

  void share(const Frame& frame, const Squares& squares, const Writer& writer) {
    f_ = memory_ + kLanes32;
    frame_ = &frame;
    squares_ = squares;
    writer_ = &writer;
    const std::int64_t slow = frame.box.slow, middle = frame.box.middle;
    serves_ = slow * slow + middle * middle < kFar / 2;
  }

  /// Solves the segments of a tile whose span is in (above, upto], raises most[segment]. False if some row is not
  /// convex: then all have to be solved in another way.
  template <class Source>
  HWY_NOINLINE bool solve(const Source& source, const OutputTile& tile, const SegmentBounds& bounds, int above,
                          int upto, std::uint32_t* most) const {
    if (!serves_) return false;
    for (int i = 0; i < tile.count; ++i) {
      const Range sites = sites_of(source.row[i], Source::kAbsent);
      if (!convex_within(source.row[i], sites)) return false;
      take(source, i, sites);
      std::int64_t best = sites.begin;
      for (int s = 0; s < bounds.count; ++s) {
        if (bounds.span[s] <= above || bounds.span[s] > upto) continue;
        const std::uint32_t largest = solve_segment(tile.row[i], s * static_cast<std::int64_t>(kSegment), best);
        if (i < tile.bounding) most[s] = std::max(most[s], largest);
      }
    }
    return true;
  }

 private:
  /// No site in a column: sums of two, and differences of sums, fit 32 bits with a sign.
  static constexpr std::uint32_t kFar = (1u << 30) - 1;

  /// Columns from the first with a site to the last.
  template <class T>
  Range sites_of(const T* row, T absent) const {
    const hn::ScalableTag<T> d;
    constexpr std::int64_t n = kLanes<hn::ScalableTag<T>>;
    const auto none = [&](std::int64_t x) {
      return hn::AllTrue(d, less_equal(hn::Set(d, absent), hn::LoadU(d, row + x)));
    };
    Range sites{0, frame_->box.fast};
    while (sites.begin + n <= sites.end && none(sites.begin)) sites.begin += n;
    while (sites.begin + n <= sites.end && none(sites.end - n)) sites.end -= n;
    while (sites.begin < sites.end && row[sites.begin] >= absent) ++sites.begin;
    while (sites.begin < sites.end && row[sites.end - 1] >= absent) --sites.end;
    return sites;
  }

  /// Whether the row is convex where it has neighbours on both sides; then it has no gap, and its squares are, too.
  template <class T>
  static bool convex_within(const T* row, const Range& sites) {
    const hn::ScalableTag<T> d;
    constexpr std::int64_t n = kLanes<hn::ScalableTag<T>>;
    const std::int64_t end = sites.end - 1 - n;
    if (end <= sites.begin) return false;
    for (std::int64_t i = sites.begin + 1; i < end + n; i += n) {
      const T* here = row + std::min(i, end);
      if (!hn::AllTrue(d, convex(d, hn::LoadU(d, here - 1), hn::LoadU(d, here), hn::LoadU(d, here + 1)))) return false;
    }
    return true;
  }

  /// Fills f from row i.
  template <class Source>
  void take(const Source& source, int i, const Range& sites) const {
    const D32 d;
    const V32 far = hn::Set(d, kFar);
    std::int64_t x = sites.begin / kLanes32 * kLanes32;
    hn::Store(far, d, f_ + x - kLanes32);
    for (; x < sites.end; x += kLanes32) hn::Store(hn::Min(source.squares(i, x), far), d, f_ + x);
    hn::Store(far, d, f_ + x);
  }

  /// Best column at x, at or after one that is best at some position before x.
  HWY_INLINE std::int64_t advance(std::int64_t column, std::int64_t x) const {
    const D32 d;
    const hn::RebindToSigned<D32> ds;
    const V32 steps = hn::Add(hn::Iota(d, 0), hn::Iota(d, 0));
    for (;; column += kLanes32) {
      // f(i + 1) + (x − i − 1)² > f(i) + (x − i)²
      const V32 rise = hn::Add(hn::Sub(hn::LoadU(d, f_ + column + 1), hn::LoadU(d, f_ + column)), steps);
      const auto limit = hn::Set(ds, static_cast<std::int32_t>(2 * (x - column) - 1));
      const auto worse = hn::Gt(hn::BitCast(ds, rise), limit);
      if (HWY_LIKELY(!hn::AllFalse(ds, worse)))
        return column + static_cast<std::int64_t>(hn::FindKnownFirstTrue(ds, worse));
    }
  }

  /// Writes the segment at x of the region; moves `best` along; returns its largest square.
  HWY_INLINE std::uint32_t solve_segment(const OutputRow& out, std::int64_t from, std::int64_t& best) const {
    const D32 d;
    const std::int64_t width = frame_->fast.end - frame_->fast.begin,
                       to = std::min<std::int64_t>(width, from + kSegment);
    V32 most = hn::Zero(d);
    best = advance(best, frame_->fast.begin + from);
    std::int64_t offset = frame_->fast.begin + from - best;
    for (std::int64_t x = from; x < to; x += kLanes32) {
      const std::int64_t column = frame_->fast.begin + x, end = column + kLanes32 - 1;
      best = advance(best, end);
      V32 least = value(column, offset);
      while (offset < end - best) least = hn::Min(least, value(column, ++offset));
      writer_->write(out, x, least, to - x);
      most = hn::Max(most, to - x >= kLanes32
                               ? least
                               : hn::IfThenElseZero(hn::FirstN(d, static_cast<std::size_t>(to - x)), least));
    }
    return largest_lane(d, most);
  }

  HWY_INLINE V32 value(std::int64_t x, std::int64_t offset) const {
    const D32 d;
    return hn::Add(hn::LoadU(d, f_ + x - offset), hn::Set(d, squares_.wide[offset]));
  }

  std::uint32_t* memory_ = nullptr;
  std::uint32_t* f_ = nullptr;  ///< [length] after and before a vector of kFar
  Squares squares_;
  const Frame* frame_ = nullptr;
  const Writer* writer_ = nullptr;
  bool serves_ = false;
};

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
