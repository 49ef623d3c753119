// Rows whose nearest sites may be far: a tile of rows becomes lanes, is searched, becomes rows again and is written.
#if defined(FATHOM_GRID_CPU_PLAIN_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_GRID_CPU_PLAIN_ROWS_INL_H
#undef FATHOM_GRID_CPU_PLAIN_ROWS_INL_H
#else
#define FATHOM_GRID_CPU_PLAIN_ROWS_INL_H
#endif

#include "grid/cpu/plain_search-inl.h"
#include "grid/cpu/plain_write-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::plain::HWY_NAMESPACE {

inline constexpr int kSegmentShift = kSegment == 128 ? 7 : 6;
static_assert(1 << kSegmentShift == kSegment);

/// Segments [begin, end) of a row of the region, to be searched together.
struct Run {
  int begin = 0, end = 0;
  int reach = 0;  ///< largest bound among them
};

/// The next run at or after `begin` of segments whose bound is above `above`; empty at the end.
HWY_INLINE Run next_run(const int* reach, int begin, int segments, int above) {
  while (begin < segments && reach[begin] <= above) ++begin;
  Run run{begin, begin, 0};
  for (; run.end < segments && reach[run.end] > above; ++run.end) run.reach = std::max(run.reach, reach[run.end]);
  return run;
}

/// Rows of the output beside one another, at most as many as lanes.
struct OutputTile {
  OutputRow row[kLanes16];
  int count = 0;
  int bounding = 0;  ///< the first so many rows bound the distances to come
};

/// Rows of squares, or of distances along the slow axis that are squared on the way, as lanes.
template <class D>
struct SquareRows {
  using T = hn::TFromD<D>;
  const T* row[hn::MaxLanes(D())];
  static constexpr int kColumns = kBlockLanes<D>;
  HWY_INLINE bool load(std::int64_t x, int reach, hn::Vec<D>* columns) const {
    return rows_to_lanes(D(), row, x, square_limit<T>(reach), columns);
  }
};
struct DistanceRows {
  const std::uint16_t* row[kLanes32];
  static constexpr int kColumns = kBlockLanes<D16Half>;
  HWY_INLINE bool load(std::int64_t x, int reach, V32* columns) const {
    const auto limit = static_cast<std::uint16_t>(std::min(reach, kNoSite16 - 1));
    hn::Vec<D16Half> narrow[kColumns];
    if (!rows_to_lanes(D16Half(), row, x, limit, narrow)) return false;
    for (int c = 0; c < kColumns; ++c) columns[c] = wide_squares(narrow[c]);
    return true;
  }
};

/// What searches along rows share.
template <class D>
struct RowSearch {
  using T = hn::TFromD<D>;
  SearchMemory<T> memory;
  T* rows;  ///< [lanes][kSegment]
  Squares squares;
  const Frame* frame;
  const Writer* writer;

  /// Candidates for columns [from, to) within `reach`, from all lines.
  template <class Source>
  Candidates collect(const Source& source, std::int64_t from, std::int64_t to, int reach) const {
    constexpr std::int64_t kColumns = Source::kColumns;
    const std::int64_t begin = std::max<std::int64_t>(0, from - reach) / kColumns * kColumns;
    const std::int64_t end = std::min<std::int64_t>(frame->box.fast, to + reach);
    Filter<D> filter(memory, begin, square_limit<T>(reach));
    for (std::int64_t x = begin; x < end; x += kColumns) {
      hn::Vec<D> columns[kColumns];
      if (!source.load(x, reach, columns)) {
        filter.skip(kColumns);
        continue;
      }
      for (int c = 0; c < kColumns; ++c) filter.add(columns[c]);
    }
    return filter.end();
  }

  /// Largest of `count` elements.
  static HWY_INLINE std::uint32_t largest(const T* row, std::int64_t count) {
    const D d;
    hn::Vec<D> most = hn::Zero(d);
    std::int64_t i = 0;
    for (; i + static_cast<std::int64_t>(hn::MaxLanes(D())) <= count; i += hn::MaxLanes(D()))
      most = hn::Max(most, hn::Load(d, row + i));
    std::uint32_t result = largest_lane(d, most);
    for (; i < count; ++i) result = std::max<std::uint32_t>(result, row[i]);
    return result;
  }

  HWY_INLINE void write_row(const OutputRow& out, std::int64_t x, const T* row, std::int64_t count) const {
    const D d;
    constexpr std::int64_t kStep = sizeof(T) == 2 ? kGroup * kLanes16 : kLanes32;
    for (std::int64_t i = 0; i < count; i += kStep) {
      if constexpr (sizeof(T) == 2) {
        V16 group[kGroup];
        for (int v = 0; v < kGroup; ++v) group[v] = hn::Load(d, row + i + v * kLanes16);
        writer->write(out, x + i, group, count - i);
      } else {
        writer->write(out, x + i, hn::Load(d, row + i), count - i);
      }
    }
  }

  /// Solves a run of segments for a tile of rows; raises largest[segment].
  template <class Source>
  HWY_NOINLINE void solve(const Source& source, const OutputTile& tile, const Run& run, const int* reach,
                          std::uint32_t* most) const {
    constexpr std::size_t kColumns = kBlockLanes<D>;
    const std::int64_t origin = frame->fast.begin;
    const std::int64_t from = origin + static_cast<std::int64_t>(run.begin) * kSegment;
    const std::int64_t to = std::min(frame->fast.end, origin + static_cast<std::int64_t>(run.end) * kSegment);
    const Candidates candidates = collect(source, from, to, run.reach);
    Search<D>(memory, squares, candidates, Reaches{reach, kSegmentShift, origin}).solve(from, to);

    for (int s = run.begin; s < run.end; ++s) {
      const std::int64_t x = static_cast<std::int64_t>(s) * kSegment;
      const std::int64_t count = std::min<std::int64_t>(kSegment, frame->fast.end - origin - x);
      const T* lanes = memory.results + (x + origin - from) * static_cast<std::int64_t>(hn::MaxLanes(D()));
      for (std::size_t c = 0; c < kSegment; c += kColumns)
        lanes_to_rows(D(), lanes + c * hn::MaxLanes(D()), rows + c, kSegment);
      for (int i = 0; i < tile.count; ++i) {
        const T* row = rows + i * kSegment;
        if (i < tile.bounding) most[s] = std::max(most[s], largest(row, count));
        write_row(tile.row[i], x, row, count);
      }
    }
  }
};

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
