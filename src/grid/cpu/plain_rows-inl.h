// Rows whose nearest sites may be far: a tile of rows becomes lanes, is searched, becomes rows again and is written.
#if defined(FATHOM_GRID_CPU_PLAIN_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_GRID_CPU_PLAIN_ROWS_INL_H
#undef FATHOM_GRID_CPU_PLAIN_ROWS_INL_H
#else
#define FATHOM_GRID_CPU_PLAIN_ROWS_INL_H
#endif

#include "grid/cpu/arena.h"
#include "grid/cpu/plain_first-inl.h"
#include "grid/cpu/plain_reals-inl.h"
#include "grid/cpu/plain_search-inl.h"
#include "grid/cpu/plain_sites-inl.h"
#include "grid/cpu/plain_write-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::plain::HWY_NAMESPACE {

inline constexpr int kSegmentShift = kSegment == 128 ? 7 : 6;
static_assert(1 << kSegmentShift == kSegment);

/// Bounds per segment of a row: on the distances, and on their part along the row.
struct SegmentBounds {
  const int* reach;
  const int* span;
  int count;
};

/// Segments [begin, end) to be searched together, and their largest bounds.
struct Run {
  int begin = 0, end = 0;
  int reach = 0, span = 0;
};

/// The next run at or after `begin` of segments that belong to it; empty at the end.
template <class Belongs>
HWY_INLINE Run next_run(const SegmentBounds& bounds, int begin, const Belongs& belongs) {
  while (begin < bounds.count && !belongs(begin)) ++begin;
  Run run{begin, begin, 0, 0};
  for (; run.end < bounds.count && belongs(run.end); ++run.end) {
    run.reach = std::max(run.reach, bounds.reach[run.end]);
    run.span = std::max(run.span, bounds.span[run.end]);
  }
  return run;
}

template <class Form>
using WriterOf = std::conditional_t<Form::kKeys, SiteWriter, std::conditional_t<Form::kReal, RealWriter, Writer>>;

/// Rows of the output beside one another, at most as many as lanes.
template <class Form>
struct OutputTile {
  typename WriterOf<Form>::Row row[kLanes16];
  int count = 0;
  int bounding = 0;  ///< the first so many rows bound the distances to come
};

/// Rows of values as lanes.
template <class D>
struct ValueRows {
  using T = hn::TFromD<D>;
  const T* row[hn::MaxLanes(D())];
  Steps<T> steps;
  static constexpr std::size_t kColumns = kBlockLanes<D>;

  HWY_INLINE bool load(std::int64_t x, int reach, hn::Vec<D>* columns) const {
    return rows_to_lanes(D(), row, x, steps.limit(reach), columns);
  }
  T absent() const { return kNone<T>; }
  bool is_even(int, const Range&) const { return false; }  // windows have taken those
  /// A vector of row i.
  template <class DW>
  HWY_INLINE hn::Vec<DW> values(DW d, int i, std::int64_t x) const {
    if constexpr (sizeof(T) == sizeof(hn::TFromD<DW>)) {
      return hn::LoadU(d, row[i] + x);
    } else {
      const auto wide = hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, DW>(), row[i] + x));
      return hn::IfThenElse(hn::Eq(wide, hn::Set(d, kNone<T>)), hn::Set(d, kNone<hn::TFromD<DW>>), wide);
    }
  }
  HWY_INLINE bool convex_at(const T* here) const {
    const hn::ScalableTag<T> d;
    return hn::AllTrue(d, convex(d, hn::LoadU(d, here - 1), hn::LoadU(d, here), hn::LoadU(d, here + 1)));
  }
};

/// Rows as the first pass leaves them, whose values are found on the way.
template <class Form, class D>
struct FirstRows {
  using DNarrow = hn::Rebind<std::uint16_t, D>;
  const std::uint16_t* row[hn::MaxLanes(D())];
  FirstPass<Form> first;
  static constexpr std::size_t kColumns = kBlockLanes<DNarrow>;

  HWY_INLINE bool load(std::int64_t x, int reach, hn::Vec<D>* columns) const {
    hn::Vec<DNarrow> nearer[kColumns];
    if (!rows_to_lanes(DNarrow(), row, x, first.within(reach), nearer)) return false;
    const FirstPass<Form> pass = first;
    for (std::size_t c = 0; c < kColumns; ++c) columns[c] = pass.values(D(), nearer[c]);
    return true;
  }
  std::uint16_t absent() const { return static_cast<std::uint16_t>(first.limit() + 1); }
  /// Whether row i, which is convex between its first and its last site, has one distance in all columns there: then
  /// these are nearest to their own sites.
  bool is_even(int i, const Range& sites) const {
    const auto at = [&](std::int64_t x) { return FirstPass<Form>::distance(row[i][x]); };
    const auto least = at(sites.begin);
    return Form::kKeys && at(sites.end - 1) == least && at((sites.begin + sites.end) / 2) == least;
  }
  template <class DW>
  HWY_INLINE hn::Vec<DW> values(DW d, int i, std::int64_t x) const {
    return first.values(d, hn::LoadU(hn::Rebind<std::uint16_t, DW>(), row[i] + x));
  }
  /// Of distances: then values are convex, for sides differ only where these are even.
  HWY_INLINE bool convex_at(const std::uint16_t* here) const {
    const D16 d;
    const auto at = [&](int i) { return FirstPass<Form>::distance(hn::LoadU(d, here + i)); };
    return hn::AllTrue(d, convex(d, at(-1), at(0), at(1)));
  }
};

/// What searches along rows share.
template <class Form, class D>
struct RowSearch {
  using T = hn::TFromD<D>;
  using Tile = OutputTile<Form>;
  using Seams = typename WriterOf<Form>::Seams;
  SearchMemory<T> memory;
  T* rows;  ///< [lanes][kSegment]
  Steps<T> steps;
  const Frame* frame;
  const WriterOf<Form>* writer;

  /// Memory for lines of up to `length` positions.
  void carve(Arena& arena, std::int64_t length) {
    constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
    const std::int64_t line = length + kSegment + kSearchSlack;
    memory.values = arena.take<T>(line * kLanes);
    memory.results = arena.take<T>((kPiece + kSearchSlack) * kLanes);
    memory.position = arena.take<std::int32_t>(line);
    memory.before = arena.take<std::int32_t>(line);
    const std::int64_t patches = (line >> kPatchShift) + 2;
    memory.least = arena.take<T>(patches * kLanes);
    memory.most = arena.take<T>(patches * kLanes);
    rows = arena.take<T>(kLanes * kSegment);
  }

  void share(const Frame& its_frame, const AxisSteps& its_steps, const WriterOf<Form>& its_writer) {
    frame = &its_frame;
    steps = its_steps.of<T>();
    writer = &its_writer;
  }

  /// Candidates for columns [from, to), the run's.
  template <class Source>
  Candidates collect(const Source& source, std::int64_t from, std::int64_t to, const Run& run) const {
    constexpr auto kColumns = static_cast<std::int64_t>(Source::kColumns);
    const std::int64_t begin = std::max<std::int64_t>(0, from - run.span) / kColumns * kColumns;
    const std::int64_t end = std::min<std::int64_t>(frame->box.fast, to + run.span);
    Filter<D> filter(memory, begin, steps, steps.limit(run.reach));
    for (std::int64_t x = begin; x < end; x += kColumns) {
      hn::Vec<D> columns[kColumns];
      if (!source.load(x, run.reach, columns)) {
        filter.skip(static_cast<int>(kColumns));
        continue;
      }
      for (int c = 0; c < kColumns; ++c) filter.add(columns[c]);
    }
    return filter.end();
  }

  /// Largest of `count` elements.
  static HWY_INLINE T largest(const T* row, std::int64_t count) {
    const D d;
    hn::Vec<D> most = hn::Zero(d);
    std::int64_t i = 0;
    for (; i + static_cast<std::int64_t>(hn::MaxLanes(D())) <= count; i += hn::MaxLanes(D()))
      most = hn::Max(most, hn::Load(d, row + i));
    T result = largest_lane(d, most);
    for (; i < count; ++i) result = std::max(result, row[i]);
    return result;
  }

  HWY_INLINE void write_row(const typename WriterOf<Form>::Row& out, std::int64_t x, const T* row, std::int64_t count,
                            Seams& seams) const {
    constexpr int kStep = sizeof(T) == 2 ? kGroup * kLanes16 : kLanes32;
    for (std::int64_t i = 0; i < count; i += kStep) writer->write(out, x + i, row + i, count - i, seams);
  }

  /// Solves a run of segments for a tile of rows; raises most[segment].
  template <class Source>
  HWY_NOINLINE void solve(const Source& source, const Tile& tile, const Run& run, const SegmentBounds& bounds,
                          std::uint32_t* most) const {
    const std::int64_t origin = frame->fast.begin;
    const std::int64_t from = origin + static_cast<std::int64_t>(run.begin) * kSegment;
    const std::int64_t to = std::min(frame->fast.end, origin + static_cast<std::int64_t>(run.end) * kSegment);
    const Candidates candidates = collect(source, from, to, run);
    Seams seams[kLanes<D>];
    if (candidates.count <= kFewCandidates) {
      for (std::int64_t x = from; x < to; x += kSegment) {
        try_few(candidates.count, tile.count, x);
        write_segment(tile, x, std::min(to, x + kSegment), most, seams);
      }
      for (Seams& seam : seams) seam.close();
      return;
    }
    Search<D, Form::kReal> search(memory, steps, candidates, Bounds{bounds.reach, bounds.span, kSegmentShift, origin});
    search.solve(from, to, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t x = begin; x < end; x += kSegment) {
        to_rows(x - begin);
        write_segment(tile, x, std::min(end, x + kSegment), most, seams);
      }
    });
    for (Seams& seam : seams) seam.close();
  }

  /// Writes `rows`, columns [begin, end) of a segment.
  HWY_INLINE void write_segment(const Tile& tile, std::int64_t begin, std::int64_t end, std::uint32_t* most,
                                Seams* seams) const {
    const std::int64_t x = begin - frame->fast.begin;
    std::uint32_t& segment_most = most[x >> kSegmentShift];
    for (int i = 0; i < tile.count; ++i) {
      if (i < tile.bounding)
        segment_most = std::max(segment_most, steps.told(largest(rows + i * kSegment, end - begin)));
      write_row(tile.row[i], x, rows + i * kSegment, end - begin, seams[i]);
    }
  }

  /// rows = results of a segment, the first at `index`.
  HWY_INLINE void to_rows(std::int64_t index) const {
    constexpr std::size_t kColumns = kBlockLanes<D>, kLanes = hn::MaxLanes(D());
    const T* lanes = memory.results + index * static_cast<std::int64_t>(kLanes);
    for (std::size_t c = 0; c < kSegment; c += kColumns) lanes_to_rows(D(), lanes + c * kLanes, rows + c, kSegment);
  }

  /// rows = results of the segment from x on, from a few candidates.
  HWY_INLINE void try_few(int candidates, int row_count, std::int64_t x) const {
    const D d;
    constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
    for (int i = 0; i < row_count; ++i)
      for (std::int64_t k = 0; k < kSegment; k += kLanes) {
        hn::Vec<D> best = hn::Set(d, kNone<T>);
        for (int c = 0; c < candidates; ++c) {
          const hn::Vec<D> f = hn::Set(d, memory.values[c * kLanes + i]);
          best = hn::Min(best, add_far(f, hn::LoadU(d, steps.at + (x + k - memory.position[c]))));
        }
        hn::Store(best, d, rows + i * kSegment + k);
      }
  }
};

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
