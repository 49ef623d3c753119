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
  void carve(Arena& arena, std::int64_t length) { f_ = arena.take<std::uint32_t>(length + 3 * kLanes32) + kLanes32; }

  void share(const Frame& frame, const Squares& squares, const Writer& writer) {
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
      const Range sites = take(source, i);
      if (!convex(sites)) return false;
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

  /// Fills f from row i; returns the columns from the first with a site to the last.
  template <class Source>
  Range take(const Source& source, int i) const {
    const D32 d;
    const V32 far = hn::Set(d, kFar);
    const std::int64_t length = frame_->box.fast;
    for (std::int64_t x = 0; x < length; x += kLanes32) hn::Store(hn::Min(source.squares(i, x), far), d, f_ + x);
    hn::Store(far, d, f_ - kLanes32);
    hn::StoreU(far, d, f_ + length);
    Range sites{0, length};
    while (sites.begin < length && hn::AllTrue(d, hn::Eq(hn::Load(d, f_ + sites.begin), far))) sites.begin += kLanes32;
    while (sites.begin < length && f_[sites.begin] == kFar) ++sites.begin;
    while (sites.end > sites.begin && hn::AllTrue(d, hn::Eq(hn::LoadU(d, f_ + sites.end - kLanes32), far)))
      sites.end -= kLanes32;
    while (sites.end > sites.begin && f_[sites.end - 1] == kFar) --sites.end;
    return sites;
  }

  /// Whether f(i − 1) + f(i + 1) ≥ 2·f(i) in all columns; a gap is not.
  bool convex(const Range& sites) const {
    const D32 d;
    if (sites.end - sites.begin < kLanes32) return false;
    V32 signs = hn::Zero(d);
    for (std::int64_t i = sites.begin; i < sites.end; i += kLanes32) {
      const std::uint32_t* f = f_ + std::min(i, sites.end - kLanes32);
      const V32 here = hn::LoadU(d, f);
      const V32 around = hn::Add(hn::LoadU(d, f - 1), hn::LoadU(d, f + 1));
      signs = hn::Or(signs, hn::Sub(around, hn::Add(here, here)));
    }
    return hn::AllTrue(d, hn::Eq(hn::ShiftRight<31>(signs), hn::Zero(d)));
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

  std::uint32_t* f_ = nullptr;  ///< [length] after and before a vector of kFar
  Squares squares_;
  const Frame* frame_ = nullptr;
  const Writer* writer_ = nullptr;
  bool serves_ = false;
};

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
