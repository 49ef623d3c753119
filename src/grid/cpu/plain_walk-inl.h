// Squared distances along one row whose squares f across the row are convex from the first site's column to the last's,
//   out[x] = min over columns i of f(i) + (x − i)²,
// as beside a straight line or plane of sites.
//
// Then (x − i)² + f(i) falls and rises once as i grows, so that the best column is found by comparing neighbours,
// without a search. From one x to the next it moves by a column or none: the offsets x − i of the best never shrink,
// and those of a vector of positions lie between the offsets at its ends, few enough to try them all. The best columns
// at the ends of vectors are close to those of the row before. Rows stay rows: nothing is turned into lanes and back.
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
#include "grid/cpu/prefetch.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::plain::HWY_NAMESPACE {

class RowWalk {
 public:
  /// Memory for rows of up to `length` columns.
  void carve(Arena& arena, std::int64_t length) {
    memory_ = arena.take<std::uint32_t>(length + 3 * kLanes32);
    seen_ = arena.take<std::int32_t>(length / kLanes32 + 1);
  }

  void share(const Frame& frame, const Squares& squares, const Writer& writer) {
    f_ = memory_ + kLanes32;
    std::fill_n(seen_, frame.box.fast / kLanes32 + 1, 0);
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
      const auto* next = source.row[std::min(i + 1, tile.count - 1)] + frame_->fast.begin;
      for (Run run = next_run(bounds, 0, above, upto); run.begin < bounds.count;
           run = next_run(bounds, run.end, above, upto))
        solve_run(tile.row[i], sites, run, best, next, i < tile.bounding ? most : nullptr);
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

  /// Columns of a vector from `column` on that are better at x than the next one.
  HWY_INLINE auto better_than_next(std::int64_t column, std::int64_t x) const {
    const D32 d;
    const hn::RebindToSigned<D32> ds;
    const V32 steps = hn::Add(hn::Iota(d, 0), hn::Iota(d, 0));
    // f(i + 1) + (x − i − 1)² > f(i) + (x − i)²
    const V32 rise = hn::Add(hn::Sub(hn::LoadU(d, f_ + column + 1), hn::LoadU(d, f_ + column)), steps);
    return hn::Gt(hn::BitCast(ds, rise), hn::Set(ds, static_cast<std::int32_t>(2 * (x - column) - 1)));
  }

  /// Best column at x, at or after one that is best at some position before x.
  HWY_INLINE std::int64_t advance(std::int64_t column, std::int64_t x) const {
    const hn::RebindToSigned<D32> ds;
    for (;; column += kLanes32) {
      const auto better = better_than_next(column, x);
      if (HWY_LIKELY(!hn::AllFalse(ds, better)))
        return column + static_cast<std::int64_t>(hn::FindKnownFirstTrue(ds, better));
    }
  }

  /// The same; looks around the column that was `seen` to be best in the row before, so that vectors do not wait for
  /// one another.
  HWY_INLINE std::int64_t advance_near(std::int32_t& seen, const Range& sites, std::int64_t before,
                                       std::int64_t x) const {
    const hn::RebindToSigned<D32> ds;
    const std::int64_t column = std::clamp<std::int64_t>(seen - kLanes32 / 2, sites.begin, sites.end - 1);
    const auto first = static_cast<std::int64_t>(hn::FindFirstTrue(ds, better_than_next(column, x)));
    const std::int64_t best = HWY_LIKELY(first > 0) ? column + first : advance(before, x);
    seen = static_cast<std::int32_t>(best);
    return best;
  }

  /// Writes a run of segments; moves `best` along; raises most[segment]; asks for the row to be taken next.
  template <class T>
  HWY_INLINE void solve_run(const OutputRow& out, const Range& sites, const Run& run, std::int64_t& best, const T* next,
                            std::uint32_t* most) const {
    const std::int64_t origin = frame_->fast.begin, width = frame_->fast.end - origin;
    std::int64_t x = run.begin * static_cast<std::int64_t>(kSegment);
    best = advance(best, origin + x);
    std::int64_t offset = origin + x - best;
    Seam seam;
    for (int s = run.begin; s < run.end; ++s) {
      V32 largest = hn::Zero(D32());
      for (const std::int64_t to = std::min(width, x + kSegment); x < to; x += kLanes32) {
        const std::int64_t end = origin + x + kLanes32 - 1;
        prefetch(next + x, 1);
        best = advance_near(seen_[static_cast<std::size_t>(x) / kLanes32], sites, best, end);
        const V32 least = least_of(origin + x, offset, end - best);
        offset = end - best;
        writer_->write_found(out, x, least, to - x, seam);
        largest = hn::Max(largest, first_lanes(least, to - x));
      }
      if (most) most[s] = std::max(most[s], largest_lane(D32(), largest));
    }
    seam.close();
  }

  /// The first `count` lanes, zero in the others.
  static HWY_INLINE V32 first_lanes(V32 v, std::int64_t count) {
    if (HWY_LIKELY(count >= kLanes32)) return v;
    return hn::IfThenElseZero(hn::FirstN(D32(), static_cast<std::size_t>(count)), v);
  }

  /// Least of the values at x with offsets in [from, to], in pairs: one more does no harm.
  HWY_INLINE V32 least_of(std::int64_t x, std::int64_t from, std::int64_t to) const {
    V32 least = value(x, from);
    for (std::int64_t offset = from; offset < to; offset += 2) {
      load_again();
      least = hn::Min(least, hn::Min(value(x, offset + 1), value(x, offset + 2)));
    }
    return least;
  }

  HWY_INLINE V32 value(std::int64_t x, std::int64_t offset) const {
    const D32 d;
    return hn::Add(hn::LoadU(d, f_ + x - offset), hn::Set(d, squares_.wide[offset]));
  }

  std::uint32_t* memory_ = nullptr;
  std::uint32_t* f_ = nullptr;    ///< [length] between vectors of kFar
  std::int32_t* seen_ = nullptr;  ///< best column at each vector's end in the row before
  Squares squares_;
  const Frame* frame_ = nullptr;
  const Writer* writer_ = nullptr;
  bool serves_ = false;
};

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
