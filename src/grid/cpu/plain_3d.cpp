// Three axes: planes from the bottom up, in two steps. First strips of adjacent columns, one per lane: the distances
// along the slow axis follow from bits and carries, and the middle axis is solved while the strip is in the caches.
// Then the fast axis in tiles of rows, segment by segment, by a window where the nearest site is near and by a search
// over the rows of the tile in lock step where it is far.
//
// Which is which follows from the planes just finished: distances change by at most 1 per plane. While all bounds are
// at most kNarrowReach, everything runs in 16 bits, and kSlab planes take the first step together.
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
#include "grid/cpu/prefetch.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::plain::HWY_NAMESPACE {
namespace {

/// Rows that share a bound on the distance.
constexpr int kTile = kLanes16 < 16 ? 16 : kLanes16;
constexpr int kTileShift = kTile == 32 ? 5 : 4;
static_assert(1 << kTileShift == kTile);

/// Planes that take the first step together: more of them read bits and carries less often, but loosen the bounds.
constexpr int kSlab = kBlock / 4;

std::int64_t pieces(const Range& range, std::int64_t size) { return (range.end - range.begin + size - 1) / size; }

struct Scratch {
  std::uint16_t* strip;  ///< [kSlab][strip_rows][kLanes16] after kWindowPad rows: squares along the slow axis
  std::int64_t strip_rows;
  std::uint16_t* narrow;  ///< [kSlab][region's middle][narrow_pitch] after kWindowPad: squares within the planes
  std::int64_t narrow_pitch, narrow_length;
  std::uint32_t* wide;  ///< [region's middle][wide_pitch] in the same memory: one plane's in 32 bits
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
  s.strip_rows = box.middle + kWindowPad;
  s.strip = arena.take<std::uint16_t>((kWindowPad + kSlab * s.strip_rows) * kLanes16);
  s.narrow_pitch = row_pitch(box.fast + kWindowPad);
  s.narrow_length = kWindowPad + kSlab * rows * s.narrow_pitch + kSegment + kWindowPad;
  s.wide_pitch = row_pitch(box.fast + kLanes16);
  s.wide = arena.take<std::uint32_t>(std::max((s.narrow_length + 1) / 2, rows * s.wide_pitch));
  s.narrow = reinterpret_cast<std::uint16_t*>(s.wide);
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
        rows_(frame.middle.end - frame.middle.begin) {
    s_.search16.share(frame, squares_, writer_);
    s_.search32.share(frame, squares_, writer_);
    std::fill_n(s_.strip, (kWindowPad + kSlab * s_.strip_rows) * kLanes16, kNone<std::uint16_t>);
    std::fill_n(s_.crowded, (frame.box.fast + kLanes16 - 1) / kLanes16, std::uint8_t{0});
  }

  void solve(const Job& job, Monitor& monitor) {
    for (std::int64_t block = job.end - 1; block >= job.begin; --block) {
      if (block == job.end - 1) first_bound(block);
      for (int first = kBlock - kSlab; first >= 0; first -= kSlab) solve_slab(block, first);
      monitor.advance(1);
    }
    writer_.finish();
  }

 private:
  std::uint16_t* strip_of(int plane) const { return s_.strip + (kWindowPad + plane * s_.strip_rows) * kLanes16; }
  std::uint16_t* narrow_of(int plane) const { return s_.narrow + kWindowPad + plane * rows_ * s_.narrow_pitch; }
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
  void first_bound(std::int64_t block) {
    for (int tile = 0; tile < tiles_; ++tile)
      for (int segment = 0; segment < segments_; ++segment) {
        const Range rows = rows_of(tile);
        int farthest = 0;
        for (std::int64_t y = rows.begin; y < rows.end; ++y)
          farthest = std::max(farthest, first_bound(block, y, segment));
        reach_of(tile)[segment] = first_reach(frame_, farthest, kLanes16);
      }
  }

  int first_bound(std::int64_t block, std::int64_t y, int segment) const {
    const D16 d;
    const std::int64_t row = y * frame_.box.fast;
    const std::uint16_t* above = bits_.above + block * bits_.pitch + row;
    const std::uint16_t* words = bits_.words + block * bits_.pitch + row;
    const std::int64_t begin = frame_.fast.begin + static_cast<std::int64_t>(segment) * kSegment;
    const std::int64_t end = std::min(frame_.fast.end, begin + kSegment);
    int farthest = 0;
    for (std::int64_t x = begin; x < end; x += kLanes16) {
      // A vector must not reach into the next row.
      const std::int64_t from = std::max<std::int64_t>(0, std::min(x, frame_.box.fast - kLanes16));
      if (from + kLanes16 > frame_.box.fast) return frame_.reach;
      const V16 last = carry_down(hn::LoadU(d, above + from), hn::LoadU(d, words + from));
      const V16 here = hn::Min(hn::SaturatedAdd(last, hn::Set(d, 1)), hn::LoadU(d, below_ + row + from));
      farthest = std::max<int>(farthest, smallest_lane(d, here));
    }
    return farthest;
  }

  /// Planes [first, first + kSlab) of a block.
  void solve_slab(std::int64_t block, int first) {
    const bool wide = *std::max_element(s_.reach, s_.reach + tiles_ * segments_) + kSlab > kNarrowReach;
    if (wide) {
      for (int r = kSlab - 1; r >= 0; --r) solve_planes<1>(block, first + r);
    } else {
      // Results in 32 bits were put where 16 bits expect "none" beside the rows.
      if (wide_) std::fill_n(s_.narrow, s_.narrow_length, kNone<std::uint16_t>);
      solve_planes<kSlab>(block, first);
    }
    wide_ = wide;
  }

  /// Planes [first, first + n) of a block: one in 32 bits, several in 16.
  template <int n>
  void solve_planes(std::int64_t block, int first) {
    const std::int64_t slow = block * kBlock + first - frame_.slow.begin;
    const std::int64_t planes = frame_.slow.end - frame_.slow.begin;
    int plane_least[n];
    std::fill_n(plane_least, n, int{kNoSite16});
    for (std::int64_t x = 0; x < frame_.box.fast; x += kLanes16) {
      int least[n];
      fill_strip<n>(block, first, x, least);
      for (int r = 0; r < n; ++r) {
        plane_least[r] = std::min(plane_least[r], least[r]);
        least_square_ = square_of(least[r]);
        if (slow + r >= 0 && slow + r < planes) solve_strip<n>(r, x);
      }
    }
    for (int r = n - 1; r >= 0; --r) {
      for (int i = 0; i < tiles_ * segments_; ++i) s_.reach[i] = std::min(frame_.reach, s_.reach[i] + 1);
      least_square_ = square_of(plane_least[r]);
      if (slow + r >= 0 && slow + r < planes) solve_rows<n>(r, slow + r);
    }
  }

  /// Rebuilds distances along the slow axis, squared if there are several planes, in columns [x, x + kLanes16).
  /// @param least  [n] smallest distance in each plane of the strip
  template <int n>
  HWY_NOINLINE void fill_strip(std::int64_t block, int first, std::int64_t x, int* least) {
    const D16 d;
    const std::int64_t fast = frame_.box.fast, count = fast - x;
    const std::uint16_t *words = bits_.words + block * bits_.pitch, *carries = bits_.above + block * bits_.pitch;
    const std::uint16_t* const sources[] = {words, carries, below_};
    V16 smallest[n];
    for (int r = 0; r < n; ++r) smallest[r] = hn::Set(d, kNoSite16);
    std::uint16_t* out = strip_of(0);
    for (std::int64_t column = x; column < frame_.box.plane(); column += fast, out += kLanes16) {
      // The strip before this one has read the line that a vector begins in.
      for (const std::uint16_t* source : sources) prefetch(source + column + kRowsAhead * fast + kLanes16 - 1, 1);
      V16 word = hn::LoadU(d, words + column), above = hn::LoadU(d, carries + column), distance[n];
      if (first > 0) {
        above = carry_down(above, hn::ShiftRightSame(word, kBlock - first), first);
        word = hn::ShiftLeftSame(word, first);
      }
      for (int r = 0; r < n; ++r) distance[r] = above = step(above, word, row_bit(r));
      V16 below = hn::LoadU(d, below_ + column);
      for (int r = n - 1; r >= 0; --r) {
        below = step(below, word, row_bit(r));
        const V16 nearer = hn::Min(distance[r], below);
        smallest[r] = hn::Min(smallest[r], nearer);
        hn::Store(n > 1 ? narrow_squares(d, nearer) : nearer, d, out + r * s_.strip_rows * kLanes16);
      }
      // Lanes past the row belong to another strip.
      if (count >= kLanes16) hn::StoreU(below, d, below_ + column);
      else hn::BlendedStore(below, hn::FirstN(d, static_cast<std::size_t>(count)), d, below_ + column);
    }
    for (int r = 0; r < n; ++r) least[r] = smallest_lane(d, smallest[r]);
  }

  /// Fast axis of plane r, the region's number `slow`.
  template <int n>
  void solve_rows(int r, std::int64_t slow) {
    const int bounds = tiles_ * segments_;
    for (int i = 0; i < bounds; ++i) s_.span[i] = span_of(s_.reach[i]);
    std::fill_n(s_.most, bounds, 0u);
    if constexpr (n == 1) clear_after_rows(s_.wide, s_.wide_pitch);
    else clear_after_rows(narrow_of(r), s_.narrow_pitch);
    for (int tile = 0; tile < tiles_; ++tile) {
      if constexpr (n == 1) solve_wide_tile(tile, slow);
      else solve_tile(tile, narrow_of(r), slow);
    }
    for (int i = 0; i < bounds; ++i) s_.reach[i] = std::min(s_.reach[i], reach_from(frame_, s_.most[i]));
  }

  static int square_of(int distance) {
    return static_cast<int>(std::min<std::int64_t>(static_cast<std::int64_t>(distance) * distance, 0xFFFF));
  }

  /// The last strip's lanes past the row's end took elements of the next row.
  template <class T>
  void clear_after_rows(T* rows, std::int64_t pitch) const {
    if (frame_.box.fast % kLanes16 == 0) return;
    for (std::int64_t y = 0; y < rows_; ++y)
      std::fill(rows + y * pitch + frame_.box.fast, rows + y * pitch + round_up(frame_.box.fast, kLanes16), kNone<T>);
  }

  /// No part of a distance along an axis is longer if the distance is at most `reach` and the rest is at least the
  /// smallest distance along the slow axis.
  int span_of(int reach) const {
    const std::int64_t rest = static_cast<std::int64_t>(reach) * reach - least_square_;
    return rest <= 0 ? 0 : root_up(static_cast<std::uint32_t>(rest));
  }

  /// Fills strip_reach and strip_span for columns [x, x + width) of a plane `lift` above those bounded last: a value
  /// there matters to results no farther away than their bound.
  int bound_strip(std::int64_t x, std::int64_t width, int lift) {
    int farthest = 0;
    for (int tile = 0; tile < tiles_; ++tile) {
      int reach = 0;
      for (int segment = 0; segment < segments_; ++segment) {
        const std::int64_t begin = frame_.fast.begin + static_cast<std::int64_t>(segment) * kSegment;
        const std::int64_t gap = std::max(begin - (x + width - 1), x - (begin + kSegment - 1));
        const int bound = std::min(frame_.reach, reach_of(tile)[segment] + lift);
        if (gap <= bound) reach = std::max(reach, bound);
      }
      s_.strip_reach[tile] = reach;
      s_.strip_span[tile] = span_of(reach);
      farthest = std::max(farthest, reach);
    }
    return farthest;
  }
  Bounds strip_bounds() const { return {s_.strip_reach, s_.strip_span, kTileShift, frame_.middle.begin}; }

  /// Middle axis of plane r, columns [x, x + kLanes16).
  template <int n>
  void solve_strip(int r, std::int64_t x) {
    if constexpr (n > 1) {
      solve_narrow_strip(strip_of(r), x, bound_strip(x, kLanes16, n - r), narrow_of(r) + x);
    } else {
      for (std::int64_t half = 0; half < std::min<std::int64_t>(kLanes16, frame_.box.fast - x); half += kLanes32)
        solve_wide_strip(strip_of(0) + half, bound_strip(x + half, kLanes32, 1), s_.wide + x + half);
    }
  }

  void solve_narrow_strip(const std::uint16_t* strip, std::int64_t x, int reach, std::uint16_t* out) {
    const int span = span_of(reach);
    std::uint8_t& crowded = s_.crowded[x / kLanes16];
    if (span > kWindowReach || (span > kSparseReach && !crowded)) {
      const Candidates candidates = collect(strip, reach);
      crowded = candidates.count * 2 >= frame_.box.middle;
      if (span > kWindowReach || !crowded) return search_strip(candidates, out);
    }
    window_strip(strip, out);
  }

  Candidates collect(const std::uint16_t* strip, int reach) const {
    Filter<D16> filter(s_.search16.memory, 0, square_limit<std::uint16_t>(reach));
    for (std::int64_t y = 0; y < frame_.box.middle; ++y) filter.add(hn::Load(D16(), strip + y * kLanes16));
    return filter.end();
  }

  void search_strip(const Candidates& candidates, std::uint16_t* out) {
    const D16 d;
    const SearchMemory<std::uint16_t>& memory = s_.search16.memory;
    Search<D16> search(memory, squares_, candidates, strip_bounds());
    search.solve(frame_.middle.begin, frame_.middle.end, [&](std::int64_t begin, std::int64_t end) {
      std::uint16_t* to = out + (begin - frame_.middle.begin) * s_.narrow_pitch;
      for (std::int64_t i = 0; i < end - begin; ++i)
        hn::StoreU(hn::Load(d, memory.results + i * kLanes16), d, to + i * s_.narrow_pitch);
    });
  }

  void window_strip(const std::uint16_t* strip, std::uint16_t* out) {
    for (std::int64_t y = 0; y < rows_; y += kGroup) {
      V16 group[kGroup];
      const int span = s_.strip_span[y >> kTileShift];
      window(strip + (frame_.middle.begin + y) * kLanes16, kLanes16, kLanes16, span, least_square_, group);
      for (int i = 0; i < kGroup && y + i < rows_; ++i) hn::StoreU(group[i], D16(), out + (y + i) * s_.narrow_pitch);
    }
  }

  /// Fast axis, one tile of rows.
  void solve_tile(int tile, const std::uint16_t* squares, std::int64_t slow) {
    const Range rows = rows_of(tile);
    for (std::int64_t y = rows.begin; y < rows.end; ++y) {
      const std::int64_t row = y - frame_.middle.begin;
      solve_near(squares + row * s_.narrow_pitch, writer_.row(slow, row), tile);
    }
    const SegmentBounds bounds = bounds_of(tile);
    for (Run run = next_run(bounds, 0, kWindowReach, kNarrowReach); run.begin < segments_;
         run = next_run(bounds, run.end, kWindowReach, kNarrowReach))
      search_rows(s_.search16, squares, s_.narrow_pitch, tile, slow, run);
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

  /// The same in 32 bits, columns [x, x + kLanes32).
  void solve_wide_strip(const std::uint16_t* distances, int reach, std::uint32_t* out) {
    const D32 d;
    const SearchMemory<std::uint32_t>& memory = s_.search32.memory;
    const Candidates candidates = collect_wide(distances, reach);
    if (candidates.count == 0) {
      for (std::int64_t y = 0; y < rows_; ++y) hn::StoreU(hn::Set(d, kNoSite32), d, out + y * s_.wide_pitch);
      return;
    }
    Search<D32> search(memory, squares_, candidates, strip_bounds());
    search.solve(frame_.middle.begin, frame_.middle.end, [&](std::int64_t begin, std::int64_t end) {
      std::uint32_t* to = out + (begin - frame_.middle.begin) * s_.wide_pitch;
      for (std::int64_t i = 0; i < end - begin; ++i)
        hn::StoreU(hn::Load(d, memory.results + i * kLanes32), d, to + i * s_.wide_pitch);
    });
  }

  Candidates collect_wide(const std::uint16_t* distances, int reach) const {
    const D16Half d;
    hn::Vec<D16Half> least = hn::Set(d, kNoSite16);
    for (std::int64_t y = 0; y < frame_.box.middle; ++y) least = hn::Min(least, hn::LoadU(d, distances + y * kLanes16));
    const auto limit = static_cast<std::uint16_t>(std::min(reach, kNoSite16 - 1));
    if (hn::AllFalse(d, less_equal(least, hn::Set(d, limit)))) return {};

    Filter<D32> filter(s_.search32.memory, 0, square_limit<std::uint32_t>(reach));
    for (std::int64_t y = 0; y < frame_.box.middle; ++y)
      filter.add(wide_squares(hn::LoadU(d, distances + y * kLanes16)));
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
  const std::int64_t rows_;
  bool wide_ = true;      ///< whether `narrow` needs "none" beside its rows
  int least_square_ = 0;  ///< smallest along the slow axis in the plane's strip or the plane at hand, saturated
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
