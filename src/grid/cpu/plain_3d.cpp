// Three axes: planes from the bottom up. In each plane the distances along the slow axis follow from bits and carries;
// the middle axis is solved in strips of adjacent columns, one per lane; the fast axis in tiles of rows, segment by
// segment, by a window where the nearest site is near and by a search over the rows of the tile in lock step where it
// is far.
//
// Which is which follows from the plane just finished: distances change by at most 1 per plane. While all bounds of a
// plane are at most kNarrowReach, everything runs in 16 bits.
//
// Source: separable passes (Meijster et al. 2000, Felzenszwalb & Huttenlocher 2012); bounds from finished planes are
// Fathom's. Cost: see plain_window-inl.h and plain_search-inl.h.
#include "core/dispatch.h"
#include "grid/cpu/plain_passes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "grid/cpu/plain_3d.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "grid/cpu/arena.h"
#include "grid/cpu/plain_rows-inl.h"
#include "grid/cpu/plain_sweep-inl.h"
#include "grid/cpu/plain_window-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::plain::HWY_NAMESPACE {
namespace {

/// Rows that share a bound on the distance.
constexpr int kTile = kLanes16 < 16 ? 16 : kLanes16;
constexpr int kTileShift = kTile == 32 ? 5 : 4;
static_assert(1 << kTileShift == kTile);

std::int64_t pieces(const Range& range, std::int64_t size) { return (range.end - range.begin + size - 1) / size; }

struct Scratch {
  std::uint16_t* planes;  ///< [kBlock][pitch], distances along the slow axis
  std::int64_t pitch;
  std::uint16_t* strip;  ///< [kWindowPad + middle + kWindowPad][kLanes16], squares of one strip
  std::int64_t strip_rows;
  std::uint16_t* narrow;  ///< [region's middle][narrow_pitch], squared distances within the plane's columns
  std::int64_t narrow_pitch;
  std::uint32_t* wide;  ///< the same in 32 bits
  std::int64_t wide_pitch;
  RowSearch<D16> search16;
  RowSearch<D32> search32;
  int* reach;             ///< [tiles][segments], bound on the distances in a tile's segment
  int* span;              ///< [tiles][segments], bound on their part along one axis
  int* strip_reach;       ///< [tiles], bound on the distances that a strip can influence
  int* strip_span;        ///< [tiles], bound on their part along one axis
  std::uint32_t* most;    ///< [tiles][segments], largest squared distance found
  std::uint8_t* crowded;  ///< [strips], most candidates of the strip were needed when last counted
};

Scratch carve(Arena& arena, const Frame& frame) {
  const Box& box = frame.box;
  const std::int64_t rows = frame.middle.end - frame.middle.begin;
  const std::int64_t line = std::max(box.middle, box.fast);
  const std::int64_t bounds = pieces(frame.middle, kTile) * pieces(frame.fast, kSegment);
  Scratch s;
  s.pitch = row_pitch(round_up(box.plane(), 64) + kPackSlack);
  s.planes = arena.take<std::uint16_t>(kBlock * s.pitch);
  s.strip_rows = box.middle + 2 * kWindowPad;
  s.strip = arena.take<std::uint16_t>(s.strip_rows * kLanes16);
  s.narrow_pitch = row_pitch(box.fast + kSegment + 2 * kWindowPad);
  s.narrow = arena.take<std::uint16_t>(rows * s.narrow_pitch);
  s.wide_pitch = row_pitch(box.fast + kLanes16);
  s.wide = arena.take<std::uint32_t>(rows * s.wide_pitch);
  s.search16.carve(arena, line);
  s.search32.carve(arena, line);
  s.reach = arena.take<int>(bounds);
  s.span = arena.take<int>(bounds);
  s.strip_span = arena.take<int>(pieces(frame.middle, kTile));
  s.strip_reach = arena.take<int>(pieces(frame.middle, kTile));
  s.most = arena.take<std::uint32_t>(bounds);
  s.crowded = arena.take<std::uint8_t>((box.fast + kLanes16 - 1) / kLanes16);
  return s;
}

class Solver {
 public:
  Solver(const Frame& frame, const Shared& shared, std::int64_t job, const Scratch& scratch)
      : frame_(frame),
        bits_(shared.bits),
        below_(shared.bits.below + job * shared.bits.pitch),
        squares_(shared.squares),
        s_(scratch),
        writer_(frame),
        tiles_(static_cast<int>(pieces(frame.middle, kTile))),
        segments_(static_cast<int>(pieces(frame.fast, kSegment))),
        columns_(round_up(frame.box.plane(), kLanes16)) {
    s_.search16.share(frame, squares_, writer_);
    s_.search32.share(frame, squares_, writer_);
    const std::int64_t rows = frame.middle.end - frame.middle.begin;
    std::fill_n(s_.narrow, rows * s_.narrow_pitch, kNone<std::uint16_t>);
    std::fill_n(s_.strip, s_.strip_rows * kLanes16, kNone<std::uint16_t>);
    std::fill_n(s_.crowded, (frame.box.fast + kLanes16 - 1) / kLanes16, std::uint8_t{0});
    for (int r = 0; r < kBlock; ++r) std::fill(plane(r) + columns_, plane(r) + s_.pitch, kNoSite16);
  }

  void solve(const Job& job, Monitor& monitor) {
    for (std::int64_t block = job.end - 1; block >= job.begin; --block) {
      sweep_down(bits_.words + block * bits_.pitch, bits_.above + block * bits_.pitch, columns_, s_.planes, s_.pitch);
      if (block == job.end - 1) first_bound();
      for (int r = kBlock - 1; r >= 0; --r) {
        const int least = sweep_up(bits_.words + block * bits_.pitch, r);
        for (int i = 0; i < tiles_ * segments_; ++i) s_.reach[i] = std::min(frame_.reach, s_.reach[i] + 1);
        const std::int64_t slow = block * kBlock + r;
        if (slow >= frame_.slow.begin && slow < frame_.slow.end) solve_plane(plane(r), least, slow - frame_.slow.begin);
      }
      monitor.advance(1);
    }
    writer_.finish();
  }

 private:
  std::uint16_t* plane(int r) const { return s_.planes + r * s_.pitch; }
  int* reach_of(int tile) const { return s_.reach + static_cast<std::int64_t>(tile) * segments_; }
  SegmentBounds bounds_of(int tile) const {
    return {reach_of(tile), s_.span + static_cast<std::int64_t>(tile) * segments_, segments_};
  }
  std::uint32_t* most_of(int tile) const { return s_.most + static_cast<std::int64_t>(tile) * segments_; }

  /// Rows [begin, end) of the box in a tile.
  Range rows_of(int tile) const {
    const std::int64_t begin = frame_.middle.begin + static_cast<std::int64_t>(tile) * kTile;
    return {begin, std::min(frame_.middle.end, begin + kTile)};
  }

  /// Bounds at the plane under the block from the distances there along the slow axis.
  void first_bound() {
    for (int tile = 0; tile < tiles_; ++tile)
      for (int segment = 0; segment < segments_; ++segment) {
        const Range rows = rows_of(tile);
        int farthest = 0;
        for (std::int64_t y = rows.begin; y < rows.end; ++y) farthest = std::max(farthest, first_bound(y, segment));
        reach_of(tile)[segment] = first_reach(frame_, farthest, kLanes16);
      }
  }

  int first_bound(std::int64_t y, int segment) const {
    const D16 d;
    const std::uint16_t* last = plane(kBlock - 1) + y * frame_.box.fast;
    const std::uint16_t* below = below_ + y * frame_.box.fast;
    const std::int64_t begin = frame_.fast.begin + static_cast<std::int64_t>(segment) * kSegment;
    const std::int64_t end = std::min(frame_.fast.end, begin + kSegment);
    int farthest = 0;
    for (std::int64_t x = begin; x < end; x += kLanes16) {
      // A vector must not reach into the next row.
      const std::int64_t from = std::max<std::int64_t>(0, std::min(x, frame_.box.fast - kLanes16));
      if (from + kLanes16 > frame_.box.fast) return frame_.reach;
      const V16 above = hn::SaturatedAdd(hn::LoadU(d, last + from), hn::Set(d, 1));
      farthest = std::max<int>(farthest, smallest_lane(d, hn::Min(above, hn::LoadU(d, below + from))));
    }
    return farthest;
  }

  /// Completes plane r, returns its smallest distance.
  int sweep_up(const std::uint16_t* words, int r) {
    const D16 d;
    const V16 bit = row_bit(r);
    std::uint16_t* distances = plane(r);
    V16 least = hn::Set(d, kNoSite16);
    for (std::int64_t x = 0; x < columns_; x += kLanes16) {
      const V16 up = step(hn::Load(d, below_ + x), hn::Load(d, words + x), bit);
      hn::Store(up, d, below_ + x);
      const V16 distance = hn::Min(up, hn::Load(d, distances + x));
      hn::Store(distance, d, distances + x);
      least = hn::Min(least, distance);
    }
    return smallest_lane(d, least);
  }

  void solve_plane(const std::uint16_t* distances, int least, std::int64_t slow) {
    const int bounds = tiles_ * segments_;
    least_square_ = static_cast<int>(std::min<std::int64_t>(static_cast<std::int64_t>(least) * least, 0xFFFF));
    for (int i = 0; i < bounds; ++i) s_.span[i] = span_of(s_.reach[i]);
    const int farthest = *std::max_element(s_.reach, s_.reach + bounds);
    std::fill_n(s_.most, bounds, 0u);
    if (farthest <= kNarrowReach) {
      for (std::int64_t x = 0; x < frame_.box.fast; x += kLanes16) solve_strip(distances, x);
      clear_after_rows(s_.narrow + kWindowPad, s_.narrow_pitch);
      for (int tile = 0; tile < tiles_; ++tile) solve_tile(tile, slow);
    } else {
      for (std::int64_t x = 0; x < frame_.box.fast; x += kLanes32) solve_wide_strip(distances, x);
      clear_after_rows(s_.wide, s_.wide_pitch);
      for (int tile = 0; tile < tiles_; ++tile) solve_wide_tile(tile, slow);
    }
    for (int i = 0; i < bounds; ++i) s_.reach[i] = std::min(s_.reach[i], reach_from(frame_, s_.most[i]));
  }

  /// The last strip's lanes past the row's end took elements of the next row.
  template <class T>
  void clear_after_rows(T* rows, std::int64_t pitch) const {
    if (frame_.box.fast % kLanes16 == 0) return;
    for (std::int64_t y = 0; y < frame_.middle.end - frame_.middle.begin; ++y)
      std::fill(rows + y * pitch + frame_.box.fast, rows + y * pitch + round_up(frame_.box.fast, kLanes16), kNone<T>);
  }

  /// No part of a distance along an axis is longer if the distance is at most `reach` and the rest is at least the
  /// plane's smallest distance.
  int span_of(int reach) const {
    const std::int64_t rest = static_cast<std::int64_t>(reach) * reach - least_square_;
    return rest <= 0 ? 0 : root_up(static_cast<std::uint32_t>(rest));
  }

  /// Fills strip_reach and strip_span for columns [x, x + width): a value there matters to results no farther away than
  /// their bound.
  int bound_strip(std::int64_t x, std::int64_t width) {
    int farthest = 0;
    for (int tile = 0; tile < tiles_; ++tile) {
      int reach = 0;
      for (int segment = 0; segment < segments_; ++segment) {
        const std::int64_t begin = frame_.fast.begin + static_cast<std::int64_t>(segment) * kSegment;
        const std::int64_t gap = std::max(begin - (x + width - 1), x - (begin + kSegment - 1));
        if (gap <= reach_of(tile)[segment]) reach = std::max(reach, reach_of(tile)[segment]);
      }
      s_.strip_reach[tile] = reach;
      s_.strip_span[tile] = span_of(reach);
      farthest = std::max(farthest, reach);
    }
    return farthest;
  }
  Bounds strip_bounds() const { return {s_.strip_reach, s_.strip_span, kTileShift, frame_.middle.begin}; }

  /// Middle axis, columns [x, x + kLanes16).
  void solve_strip(const std::uint16_t* distances, std::int64_t x) {
    const D16 d;
    const int reach = bound_strip(x, kLanes16), span = span_of(reach);
    std::uint16_t* strip = s_.strip + kWindowPad * kLanes16;
    for (std::int64_t y = 0; y < frame_.box.middle; ++y)
      hn::Store(narrow_squares(d, hn::LoadU(d, distances + y * frame_.box.fast + x)), d, strip + y * kLanes16);

    std::uint8_t& crowded = s_.crowded[x / kLanes16];
    if (span > kWindowReach || (span > kSparseReach && !crowded)) {
      const Candidates candidates = collect(strip, reach);
      crowded = candidates.count * 2 >= frame_.box.middle;
      if (span > kWindowReach || !crowded) return search_strip(candidates, x);
    }
    window_strip(strip, x);
  }

  Candidates collect(const std::uint16_t* strip, int reach) const {
    Filter<D16> filter(s_.search16.memory, 0, square_limit<std::uint16_t>(reach));
    for (std::int64_t y = 0; y < frame_.box.middle; ++y) filter.add(hn::Load(D16(), strip + y * kLanes16));
    return filter.end();
  }

  void search_strip(const Candidates& candidates, std::int64_t x) {
    const D16 d;
    const SearchMemory<std::uint16_t>& memory = s_.search16.memory;
    Search<D16> search(memory, squares_, candidates, strip_bounds());
    search.solve(frame_.middle.begin, frame_.middle.end, [&](std::int64_t begin, std::int64_t end) {
      std::uint16_t* out = s_.narrow + (begin - frame_.middle.begin) * s_.narrow_pitch + kWindowPad + x;
      for (std::int64_t i = 0; i < end - begin; ++i)
        hn::StoreU(hn::Load(d, memory.results + i * kLanes16), d, out + i * s_.narrow_pitch);
    });
  }

  void window_strip(const std::uint16_t* strip, std::int64_t x) {
    const std::int64_t rows = frame_.middle.end - frame_.middle.begin;
    std::uint16_t* out = s_.narrow + kWindowPad + x;
    for (std::int64_t y = 0; y < rows; y += kGroup) {
      V16 group[kGroup];
      const int span = s_.strip_span[y >> kTileShift];
      window(strip + (frame_.middle.begin + y) * kLanes16, kLanes16, kLanes16, span, least_square_, group);
      for (int i = 0; i < kGroup && y + i < rows; ++i) hn::StoreU(group[i], D16(), out + (y + i) * s_.narrow_pitch);
    }
  }

  /// Fast axis, one tile of rows.
  void solve_tile(int tile, std::int64_t slow) {
    const Range rows = rows_of(tile);
    for (std::int64_t y = rows.begin; y < rows.end; ++y) {
      const std::int64_t row = y - frame_.middle.begin;
      solve_near(s_.narrow + row * s_.narrow_pitch + kWindowPad, writer_.row(slow, row), tile);
    }
    const SegmentBounds bounds = bounds_of(tile);
    for (Run run = next_run(bounds, 0, kWindowReach, kNarrowReach); run.begin < segments_;
         run = next_run(bounds, run.end, kWindowReach, kNarrowReach))
      search_rows(s_.search16, s_.narrow + kWindowPad, s_.narrow_pitch, tile, slow, run);
  }

  void solve_near(const std::uint16_t* squares, const OutputRow& out, int tile) {
    const std::int64_t width = frame_.fast.end - frame_.fast.begin;
    const int* span = bounds_of(tile).span;
    std::uint32_t* most = most_of(tile);
    for (int s = 0; s < segments_; ++s) {
      if (span[s] > kWindowReach) continue;
      const std::int64_t end = std::min<std::int64_t>(width, (s + 1) * static_cast<std::int64_t>(kSegment));
      for (std::int64_t x = s * static_cast<std::int64_t>(kSegment); x < end; x += kGroup * kLanes16) {
        V16 group[kGroup];
        window(squares + frame_.fast.begin + x, kLanes16, 1, span[s], least_square_, group);
        writer_.write(out, x, group, width - x);
        most[s] = std::max<std::uint32_t>(most[s], largest_lane(D16(), largest_of_group(group)));
      }
    }
  }

  /// Fast axis, the rows of a tile as many at a time as there are lanes.
  template <class D, class T = hn::TFromD<D>>
  void search_rows(const RowSearch<D>& search, const T* squares, std::int64_t pitch, int tile, std::int64_t slow,
                   const Run& run) {
    constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
    const std::int64_t begin = rows_of(tile).begin - frame_.middle.begin, end = rows_of(tile).end - frame_.middle.begin;
    for (std::int64_t y = begin; y < end; y += kLanes) {
      OutputTile output;
      output.count = output.bounding = static_cast<int>(std::min<std::int64_t>(kLanes, end - y));
      SquareRows<D> source;
      for (int i = 0; i < kLanes; ++i) source.row[i] = squares + std::min(y + i, end - 1) * pitch;
      for (int i = 0; i < output.count; ++i) output.row[i] = writer_.row(slow, y + i);
      search.solve(source, output, run, bounds_of(tile), most_of(tile));
    }
  }

  /// Middle axis in 32 bits, columns [x, x + kLanes32).
  void solve_wide_strip(const std::uint16_t* distances, std::int64_t x) {
    const D32 d;
    const SearchMemory<std::uint32_t>& memory = s_.search32.memory;
    const Candidates candidates = collect_wide(distances + x, bound_strip(x, kLanes32));
    const std::int64_t rows = frame_.middle.end - frame_.middle.begin;
    std::uint32_t* out = s_.wide + x;
    if (candidates.count == 0) {
      for (std::int64_t y = 0; y < rows; ++y) hn::StoreU(hn::Set(d, kNoSite32), d, out + y * s_.wide_pitch);
      return;
    }
    Search<D32> search(memory, squares_, candidates, strip_bounds());
    search.solve(frame_.middle.begin, frame_.middle.end, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = 0; i < end - begin; ++i)
        hn::StoreU(hn::Load(d, memory.results + i * kLanes32), d,
                   out + (begin - frame_.middle.begin + i) * s_.wide_pitch);
    });
  }

  Candidates collect_wide(const std::uint16_t* column, int reach) const {
    const D16Half d;
    hn::Vec<D16Half> least = hn::Set(d, kNoSite16);
    for (std::int64_t y = 0; y < frame_.box.middle; ++y)
      least = hn::Min(least, hn::LoadU(d, column + y * frame_.box.fast));
    const auto limit = static_cast<std::uint16_t>(std::min(reach, kNoSite16 - 1));
    if (hn::AllFalse(d, less_equal(least, hn::Set(d, limit)))) return {};

    Filter<D32> filter(s_.search32.memory, 0, square_limit<std::uint32_t>(reach));
    for (std::int64_t y = 0; y < frame_.box.middle; ++y)
      filter.add(wide_squares(hn::LoadU(d, column + y * frame_.box.fast)));
    return filter.end();
  }

  void solve_wide_tile(int tile, std::int64_t slow) {
    const Run all = next_run(bounds_of(tile), 0, -1, frame_.reach);
    search_rows(s_.search32, s_.wide, s_.wide_pitch, tile, slow, all);
  }

  const Frame& frame_;
  const Bits bits_;
  std::uint16_t* const below_;
  const Squares squares_;
  Scratch s_;
  const Writer writer_;
  const int tiles_, segments_;
  int least_square_ = 0;  ///< of the plane at hand, saturated
  const std::int64_t columns_;
};

}  // namespace

std::size_t worker_bytes_3d(const Frame& frame) {
  Arena arena(nullptr);
  carve(arena, frame);
  return arena.used();
}

void solve_3d(const Frame& frame, const Shared& shared, const Job& job, std::int64_t index, std::byte* scratch,
              Monitor& monitor) {
  Arena arena(scratch);
  Solver(frame, shared, index, carve(arena, frame)).solve(job, monitor);
}

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::grid::cpu::plain {

std::size_t worker_bytes_3d(const Frame& frame, InstructionSet set) {
  return FATHOM_COMPILED_FOR(set, worker_bytes_3d)(frame);
}
void solve_3d(const Frame& frame, InstructionSet set, const Shared& shared, const Job& job, std::int64_t index,
              std::byte* scratch, Monitor& monitor) {
  FATHOM_COMPILED_FOR(set, solve_3d)(frame, shared, job, index, scratch, monitor);
}

}  // namespace fathom::grid::cpu::plain
#endif
