// Values along one row whose values f across the row are convex from the first site's column to the last's,
//   out[x] = min over columns i of f(i) + step(x − i),
// as beside a straight line or plane of sites.
//
// Then step(x − i) + f(i) falls and rises once as i grows, so that the best column is found by comparing neighbours,
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

template <class Form, class D>
class RowWalk {
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  using Seams = typename WriterOf<Form>::Seams;

 public:
  /// Memory for rows of up to `length` columns.
  void carve(Arena& arena, std::int64_t length) {
    memory_ = arena.take<T>(length + 2 * kMargin + kLanes<D>);
    seen_ = arena.take<std::int32_t>(length / kLanes<D> + 1);
  }

  void share(const Frame& frame, const AxisSteps& steps, const WriterOf<Form>& writer) {
    f_ = memory_ + kMargin;
    std::fill_n(seen_, frame.box.fast / kLanes<D> + 1, 0);
    frame_ = &frame;
    steps_ = steps.of<T>();
    bend_ = steps_.bend();
    for (int i = 0; i < kLanes<D>; ++i) rises_[i] = static_cast<T>(2 * i * bend_);
    writer_ = &writer;
    const std::int64_t slow = frame.box.slow * frame.slow_multiple, middle = frame.box.middle * frame.middle_multiple;
    const auto most = static_cast<std::int64_t>(kFar);
    serves_ = sizeof(T) == 8 ||
              (bend_ < static_cast<Number>(most / 256) && (Form::kKeys || slow * slow + middle * middle < most / 2));
  }

  /// Solves the segments of a tile that belong to it, raises most[segment]. False if some row is not convex: then all
  /// have to be solved in another way.
  template <class Source, class Belongs>
  HWY_NOINLINE bool solve(const Source& source, const OutputTile<Form>& tile, const SegmentBounds& bounds,
                          const Belongs& belongs, std::uint32_t* most) const {
    if (!serves_) return false;
    for (int i = 0; i < tile.count; ++i) {
      const Range sites = sites_of(source.row[i], source.absent());
      if (!convex_within(source, source.row[i], sites)) return false;
      std::uint32_t* const row_most = i < tile.bounding ? most : nullptr;
      if (source.is_even(i, sites) && sites.begin <= frame_->fast.begin && sites.end >= frame_->fast.end) {
        solve_even(source, i, tile.row[i], bounds, belongs, row_most);
        continue;
      }
      take(source, i, sites);
      std::int64_t best = sites.begin;
      const auto* next = source.row[std::min(i + 1, tile.count - 1)] + frame_->fast.begin;
      for (Run run = next_run(bounds, 0, belongs); run.begin < bounds.count; run = next_run(bounds, run.end, belongs))
        solve_run(tile.row[i], sites, run, best, next, row_most);
    }
    return true;
  }

 private:
  using Number = typename Steps<T>::Number;
  using DMask = std::conditional_t<sizeof(T) == 8, D, hn::RebindToSigned<D32>>;

  /// No site in a column: sums of two, and differences of sums, fit 32 bits with a sign.
  static constexpr T kFar = sizeof(T) == 4 ? static_cast<T>((1u << 30) - 1) : kNone<T>;

  /// Columns beyond the ends of a row that may be looked at.
  static constexpr int kMargin = (1 + Form::kReal) * kLanes<D>;

  /// Columns from the first with a site to the last.
  template <class E>
  Range sites_of(const E* row, E absent) const {
    const hn::ScalableTag<E> d;
    constexpr std::int64_t n = kLanes<hn::ScalableTag<E>>;
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
  template <class Source, class E>
  static bool convex_within(const Source& source, const E* row, const Range& sites) {
    constexpr std::int64_t n = kLanes<hn::ScalableTag<E>>;
    const std::int64_t end = sites.end - 1 - n;
    if (end <= sites.begin) return false;
    for (std::int64_t i = sites.begin + 1; i < end + n; i += n)
      if (!source.convex_at(row + std::min(i, end))) return false;
    return true;
  }

  /// Row i, of which every element is nearest to its column's site.
  template <class Source, class Belongs>
  void solve_even(const Source& source, int i, const typename WriterOf<Form>::Row& out, const SegmentBounds& bounds,
                  const Belongs& belongs, std::uint32_t* most) const {
    if constexpr (std::is_same_v<Source, ValueRows<D>> || !Form::kKeys) return;
    else {
      const std::int64_t width = frame_->fast.end - frame_->fast.begin;
      const std::uint16_t* const row = source.row[i] + frame_->fast.begin;
      const auto pass = source.first;
      const auto squared = static_cast<std::uint32_t>(pass.value(row[0]) >> steps_.square);
      Seams seams;
      for (int s = 0; s < bounds.count; ++s) {
        if (!belongs(s)) continue;
        const std::int64_t begin = s * static_cast<std::int64_t>(kSegment), end = std::min(width, begin + kSegment);
        for (std::int64_t x = begin; x < end; x += kLanes32) {
          const auto parts = pass.parts(hn::LoadU(D16Half(), row + x));
          writer_->template write_parts<T>(out, x, parts.squared, parts.rest, end - x, seams);
        }
        if (most) most[s] = std::max(most[s], squared);
      }
      seams.close();
    }
  }

  /// Fills f from row i.
  template <class Source>
  void take(const Source& source, int i, const Range& sites) const {
    const D d;
    const V far = hn::Set(d, kFar);
    std::int64_t x = sites.begin / kLanes<D> * kLanes<D>;
    std::fill_n(f_ + x - kMargin, kMargin, kFar);
    const Source copy = source;  // which stores leave in registers
    T* const f = f_;
    for (; x < sites.end; x += kLanes<D>) hn::Store(hn::Min(copy.values(d, i, x), far), d, f + x);
    std::fill_n(f_ + x, kMargin, kFar);
  }

  /// Columns of a vector from `column` on that are at least as good at x as the next one.
  HWY_INLINE auto no_worse_than_next(std::int64_t column, std::int64_t x) const {
    const D d;
    const hn::RebindToSigned<D32> ds;
    // f(i + 1) + step(x − i − 1) ≥ f(i) + step(x − i); sides do not decide, since no two keys are equal
    const V rise = hn::Add(hn::Sub(hn::LoadU(d, f_ + column + 1), hn::LoadU(d, f_ + column)), hn::Load(d, rises_));
    const Number least = static_cast<Number>(2 * (x - column) - 1) * bend_ - !Form::kReal;
    if constexpr (sizeof(T) == 8) {
      return hn::Gt(rise, hn::Set(d, static_cast<T>(least)));
    } else {
      constexpr Number kBeyond = 3 << 29;
      return hn::Gt(hn::BitCast(ds, rise),
                    hn::Set(ds, static_cast<std::int32_t>(std::clamp(least, -kBeyond, kBeyond))));
    }
  }

  /// Best column at x, at or after one that is best at some position before x.
  HWY_INLINE std::int64_t advance(std::int64_t column, std::int64_t x) const {
    const DMask ds;
    for (;; column += kLanes<D>) {
      const auto good = no_worse_than_next(column, x);
      if (HWY_LIKELY(!hn::AllFalse(ds, good)))
        return column + static_cast<std::int64_t>(hn::FindKnownFirstTrue(ds, good));
    }
  }

  /// The same; looks around the column that was `seen` to be best in the row before, so that vectors do not wait for
  /// one another.
  HWY_INLINE std::int64_t advance_near(std::int32_t& seen, const Range& sites, std::int64_t before,
                                       std::int64_t x) const {
    const DMask ds;
    const std::int64_t column = std::clamp<std::int64_t>(seen - kLanes<D> / 2, sites.begin, sites.end - 1);
    const auto first = static_cast<std::int64_t>(hn::FindFirstTrue(ds, no_worse_than_next(column, x)));
    const std::int64_t best = HWY_LIKELY(first > 0) ? column + first : advance(before, x);
    seen = static_cast<std::int32_t>(best);
    return best;
  }

  /// Writes a run of segments; moves `best` along; raises most[segment]; asks for the row to be taken next.
  template <class E>
  HWY_INLINE void solve_run(const typename WriterOf<Form>::Row& out, const Range& sites, const Run& run,
                            std::int64_t& best, const E* next, std::uint32_t* most) const {
    const std::int64_t origin = frame_->fast.begin, width = frame_->fast.end - origin;
    std::int64_t x = run.begin * static_cast<std::int64_t>(kSegment);
    best = advance(best, origin + x);
    std::int64_t offset = origin + x - best;
    Seams seams;
    for (int s = run.begin; s < run.end; ++s) {
      V largest = hn::Zero(D());
      for (const std::int64_t to = std::min(width, x + kSegment); x < to; x += kLanes32) {
        prefetch(next + x, 1);
        V least[kVectors];
        for (int i = 0; i < kVectors; ++i) {
          const std::int64_t from = x + i * kLanes<D>, end = origin + from + kLanes<D> - 1;
          least[i] = hn::Zero(D());
          if (i > 0 && from >= to) continue;
          best = advance_near(seen_[static_cast<std::size_t>(from) / kLanes<D>], sites, best, end);
          // Where values are rounded, the neighbours of the best column may be as good.
          least[i] = least_of(origin + from, offset - Form::kReal, end - best + Form::kReal);
          offset = end - best;
          largest = hn::Max(largest, first_lanes(least[i], to - from));
        }
        write(out, x, least, to - x, seams);
      }
      if (most) most[s] = std::max(most[s], steps_.told(largest_lane(D(), largest)));
    }
    seams.close();
  }

  /// Vectors of as many values as are written at once.
  static constexpr int kVectors = kLanes32 / kLanes<D>;

  HWY_INLINE void write(const typename WriterOf<Form>::Row& out, std::int64_t x, const V (&values)[kVectors],
                        std::int64_t count, Seams& seams) const {
    if constexpr (Form::kSquares) {
      writer_->write_found(out, x, values[0], count, seams);
    } else {
      alignas(64) T spill[kLanes32];
      for (int i = 0; i < kVectors; ++i) hn::Store(values[i], D(), spill + i * kLanes<D>);
      writer_->write(out, x, spill, count, seams);
    }
  }

  /// The first `count` lanes, zero in the others.
  static HWY_INLINE V first_lanes(V v, std::int64_t count) {
    if (HWY_LIKELY(count >= kLanes<D>)) return v;
    return hn::IfThenElseZero(hn::FirstN(D(), static_cast<std::size_t>(count)), v);
  }

  /// Least of the values at x with offsets in [from, to], in pairs: one more does no harm.
  HWY_INLINE V least_of(std::int64_t x, std::int64_t from, std::int64_t to) const {
    V least = value(x, from);
    for (std::int64_t offset = from; offset < to; offset += 2) {
      load_again();
      least = hn::Min(least, hn::Min(value(x, offset + 1), value(x, offset + 2)));
    }
    return least;
  }

  HWY_INLINE V value(std::int64_t x, std::int64_t offset) const {
    const D d;
    return hn::Add(hn::LoadU(d, f_ + x - offset), hn::Set(d, steps_.at[offset]));
  }

  T* memory_ = nullptr;
  T* f_ = nullptr;                ///< [length] between margins of kFar
  std::int32_t* seen_ = nullptr;  ///< best column at each vector's end in the row before
  Steps<T> steps_;
  Number bend_ = 0;                      ///< of the steps
  alignas(64) T rises_[kLanes<D>] = {};  ///< by which steps rise from column to column
  const Frame* frame_ = nullptr;
  const WriterOf<Form>* writer_ = nullptr;
  bool serves_ = false;
};

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
