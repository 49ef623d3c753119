// Three axes: planes from the bottom up, in two steps. First strips of adjacent columns, one per lane: the distances
// along the slow axis follow from bits and carries, and the middle axis is solved while the strip is in the caches.
// Then the fast axis in tiles of rows, segment by segment, by a window where the nearest site is near, by a search
// over the rows of the tile in lock step where it is far. Far strips and rows that are convex are walked instead.
//
// Which is which follows from the planes just finished: distances change by at most 1 per plane. While all bounds are
// at most kNarrowReach, or kTinyReach, everything runs in 16 bits, or 8, and kSlab planes take the first step together.
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
#include "grid/cpu/plain_strip_walk-inl.h"
#include "grid/cpu/plain_sweep-inl.h"
#include "grid/cpu/plain_walk-inl.h"
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

/// Columns of a strip: a vector, or two halves of which each is one in 32 bits.
template <class T>
constexpr int kColumns = sizeof(T) == 1 ? kLanes<D8> : kLanes16;

std::int64_t pieces(const Range& range, std::int64_t size) { return (range.end - range.begin + size - 1) / size; }

struct Scratch {
  std::byte* strip;  ///< [kSlab][strip_rows][vector] after kWindowPad rows: squares along the slow axis
  std::int64_t strip_rows, strip_bytes;
  std::byte* planes;  ///< [kSlab][region's middle][row_bytes] after kWindowPad elements: squares within the planes
  std::int64_t row_bytes, planes_bytes;
  std::uint32_t* wide;  ///< [kSlab][region's middle][wide_pitch] in the same memory: the same in 32 bits
  std::int64_t wide_pitch;
  RowSearch<D16> search16;
  RowSearch<D32> search32;
  RowWalk walk;
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
  s.strip_bytes = (kWindowPad + kSlab * s.strip_rows) * kLanes16 * 2;
  s.strip = arena.take<std::byte>(s.strip_bytes);
  s.row_bytes = 2 * row_pitch(box.fast + kWindowPad);
  s.planes_bytes = kSlab * rows * s.row_bytes + 2 * (kWindowPad + kSegment + kWindowPad);
  s.wide_pitch = row_pitch(box.fast + kLanes16);
  s.planes = arena.take<std::byte>(std::max(s.planes_bytes, kSlab * rows * s.wide_pitch * 4));
  s.wide = reinterpret_cast<std::uint32_t*>(s.planes);
  s.search16.carve(arena, line);
  s.search32.carve(arena, line);
  s.walk.carve(arena, box.fast);
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
    s_.walk.share(frame, squares_, writer_);
    std::fill_n(s_.crowded, (frame.box.fast + kLanes16 - 1) / kLanes16, std::uint8_t{0});
  }

  void solve(const Job& job, Monitor& monitor) {
    for (std::int64_t block = job.end - 1; block >= job.begin; --block) {
      if (block == job.end - 1) first_bound(block);
      for (int first = kBlock - kSlab; first >= 0; first -= kSlab) solve_slab(block, first);
      monitor.advance(1);
    }
    seam_.close();
    writer_.finish();
  }

 private:
  template <class T>
  T* strip_of(int plane) const {
    return reinterpret_cast<T*>(s_.strip) + (kWindowPad + plane * s_.strip_rows) * kColumns<T>;
  }
  template <class T>
  T* plane_of(int plane) const {
    if constexpr (sizeof(T) == 4) return s_.wide + plane * rows_ * s_.wide_pitch;
    else return reinterpret_cast<T*>(s_.planes) + kWindowPad + plane * rows_ * pitch_of<T>();
  }
  template <class T>
  std::int64_t pitch_of() const {
    if constexpr (sizeof(T) == 4) return s_.wide_pitch;
    else return s_.row_bytes / static_cast<std::int64_t>(sizeof(T));
  }
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
    const int farthest = *std::max_element(s_.reach, s_.reach + tiles_ * segments_) + kSlab;
    if (farthest <= kTinyReach) return solve_planes<std::uint8_t>(block, first);
    if (farthest <= kNarrowReach) return solve_planes<std::uint16_t>(block, first);
    solve_planes<std::uint32_t>(block, first);
  }

  /// The same in squares of type T.
  template <class T>
  void solve_planes(std::int64_t block, int first) {
    // Results of another type were put where narrow ones expect "none" beside the rows.
    if (sizeof(T) < 4 && element_ != sizeof(T)) {
      std::fill_n(s_.planes, s_.planes_bytes, std::byte{0xFF});
      std::fill_n(s_.strip, s_.strip_bytes, std::byte{0xFF});
    }
    element_ = sizeof(T);
    const std::int64_t slow = block * kBlock + first - frame_.slow.begin;
    const std::int64_t planes = frame_.slow.end - frame_.slow.begin;
    int plane_least[kSlab];
    std::fill_n(plane_least, kSlab, int{kNoSite16});
    for (std::int64_t x = 0; x < frame_.box.fast; x += kColumns<T>) {
      int least[kSlab];
      fill_strip<T>(block, first, x, least);
      for (int r = 0; r < kSlab; ++r) {
        plane_least[r] = std::min(plane_least[r], least[r]);
        least_square_ = square_of(least[r]);
        if (slow + r >= 0 && slow + r < planes) solve_strip<T>(r, x);
      }
    }
    for (int r = kSlab - 1; r >= 0; --r) {
      for (int i = 0; i < tiles_ * segments_; ++i) s_.reach[i] = std::min(frame_.reach, s_.reach[i] + 1);
      least_square_ = square_of(plane_least[r]);
      if (slow + r >= 0 && slow + r < planes) solve_rows<T>(plane_of<T>(r), slow + r);
    }
  }

  /// Rebuilds squared distances along the slow axis, for 32 bits the distances, in columns [x, x + kColumns<T>).
  /// @param least  [kSlab] smallest distance in each plane of the strip
  template <class T>
  HWY_NOINLINE void fill_strip(std::int64_t block, int first, std::int64_t x, int* least) {
    const D16 d;
    V16 smallest[kSlab];
    for (int r = 0; r < kSlab; ++r) smallest[r] = hn::Set(d, kNoSite16);
    for (std::int64_t y = 0; y < frame_.box.middle; ++y)
      for (std::int64_t i = 0; i < kColumns<T>; i += kLanes16) {
        V16 distance[kSlab];
        sweep(block, first, y, x + i, distance);
        for (int r = 0; r < kSlab; ++r) {
          smallest[r] = hn::Min(smallest[r], distance[r]);
          const std::int64_t to = (r * s_.strip_rows + y) * kColumns<T> + i;
          if constexpr (sizeof(T) == 4) hn::Store(distance[r], d, strip_of<std::uint16_t>(r) + y * kLanes16);
          else if constexpr (sizeof(T) == 2) hn::Store(narrow_squares(d, distance[r]), d, strip_of<T>(0) + to);
          else hn::Store(tiny_squares(narrow_squares(d, distance[r])), D8Half(), strip_of<T>(0) + to);
        }
      }
    for (int r = 0; r < kSlab; ++r) least[r] = smallest_lane(d, smallest[r]);
  }

  /// Distances along the slow axis in kSlab planes, of one vector of columns.
  HWY_INLINE void sweep(std::int64_t block, int first, std::int64_t y, std::int64_t x, V16* distance) {
    const D16 d;
    const std::int64_t fast = frame_.box.fast, column = y * fast + x;
    const std::uint16_t* words = bits_.words + block * bits_.pitch + column;
    const std::uint16_t* carries = bits_.above + block * bits_.pitch + column;
    std::uint16_t* below_carries = below_ + column;
    // The strip before this one has read the line that a vector begins in.
    const std::int64_t ahead = kRowsAhead * fast + kLanes16 - 1;
    prefetch(words + ahead, 1);
    prefetch(carries + ahead, 1);
    prefetch(below_carries + ahead, 1);
    V16 word = hn::LoadU(d, words), above = hn::LoadU(d, carries), below = hn::LoadU(d, below_carries);
    if (first > 0) {
      above = carry_down(above, hn::ShiftRightSame(word, kBlock - first), first);
      word = hn::ShiftLeftSame(word, first);
    }
    for (int r = 0; r < kSlab; ++r) distance[r] = above = step(above, word, row_bit(r));
    for (int r = kSlab - 1; r >= 0; --r) {
      below = step(below, word, row_bit(r));
      distance[r] = hn::Min(distance[r], below);
    }
    // Lanes past the row belong to another strip.
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(0, fast - x));
    if (count >= kLanes16) hn::StoreU(below, d, below_carries);
    else hn::BlendedStore(below, hn::FirstN(d, count), d, below_carries);
  }

  /// Fast axis of one plane, the region's number `slow`.
  template <class T>
  void solve_rows(T* squares, std::int64_t slow) {
    const int bounds = tiles_ * segments_;
    for (int i = 0; i < bounds; ++i) s_.span[i] = span_of(s_.reach[i]);
    std::fill_n(s_.most, bounds, 0u);
    clear_after_rows(squares);
    for (int tile = 0; tile < tiles_; ++tile) solve_tile(tile, squares, slow);
    for (int i = 0; i < bounds; ++i) s_.reach[i] = std::min(s_.reach[i], reach_from(frame_, s_.most[i]));
  }

  static int square_of(int distance) {
    return static_cast<int>(std::min<std::int64_t>(static_cast<std::int64_t>(distance) * distance, 0xFFFF));
  }

  /// The last strip's lanes past the row's end took elements of the next row.
  template <class T>
  void clear_after_rows(T* rows) const {
    const std::int64_t fast = frame_.box.fast, end = round_up(fast, kColumns<T>);
    if (fast == end) return;
    for (std::int64_t y = 0; y < rows_; ++y, rows += pitch_of<T>()) std::fill(rows + fast, rows + end, kNone<T>);
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

  /// Middle axis of plane r, columns [x, x + kColumns<T>).
  template <class T>
  void solve_strip(int r, std::int64_t x) {
    T* out = plane_of<T>(r) + x;
    const int lift = kSlab - r;
    if constexpr (sizeof(T) == 4) {
      solve_wide_strip(strip_of<std::uint16_t>(r), x, lift, out);
    } else {
      const int reach = bound_strip(x, kColumns<T>, lift);
      if constexpr (sizeof(T) == 2) solve_narrow_strip(strip_of<T>(r), x, reach, out);
      else window_strip(strip_of<T>(r), out);
    }
  }

  void solve_narrow_strip(const std::uint16_t* strip, std::int64_t x, int reach, std::uint16_t* out) {
    const int span = span_of(reach);
    std::uint8_t& crowded = s_.crowded[x / kLanes16];
    if (span > kWindowReach && walk_strip(strip, out)) return;
    if (span > kWindowReach || (span > kSparseReach && !crowded)) {
      const Candidates candidates = collect(strip, reach);
      crowded = candidates.count * 2 >= frame_.box.middle;
      if (span > kWindowReach || !crowded) return search_strip(candidates, out);
    }
    window_strip(strip, out);
  }

  HWY_NOINLINE bool walk_strip(const std::uint16_t* strip, std::uint16_t* out) const {
    const D16 d;
    StripScan scan;
    if (!scan.convex<kNone<std::uint16_t>>(strip, frame_.box.middle)) return false;
    StripWalk<D16> walk(strip, scan.sites(0, kLanes16), squares_);
    const std::int64_t pitch = pitch_of<std::uint16_t>(), begin = frame_.middle.begin;
    walk.solve(begin, frame_.middle.end, [&](std::int64_t y, V16 v) { hn::StoreU(v, d, out + (y - begin) * pitch); });
    return true;
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
      const std::int64_t pitch = pitch_of<std::uint16_t>();
      std::uint16_t* to = out + (begin - frame_.middle.begin) * pitch;
      for (std::int64_t i = 0; i < end - begin; ++i)
        hn::StoreU(hn::Load(d, memory.results + i * kLanes16), d, to + i * pitch);
    });
  }

  template <class T>
  void window_strip(const T* strip, T* out) {
    const hn::ScalableTag<T> d;
    // In 8 bits strips are so wide that their largest elements differ little: more of them ask less often.
    constexpr std::int64_t kRow = kColumns<T>, n = sizeof(T) == 1 ? 2 * kGroup : kGroup;
    static_assert(kTile % n == 0);
    int steps = 0;
    for (std::int64_t y = 0; y < rows_; y += n) {
      hn::Vec<decltype(d)> group[n];
      const int span = s_.strip_span[y >> kTileShift];
      window(d, strip + (frame_.middle.begin + y) * kRow, kRow, kRow, span, least_square_, steps, group);
      for (int i = 0; i < n && y + i < rows_; ++i) hn::StoreU(group[i], d, out + (y + i) * pitch_of<T>());
    }
  }

  /// Fast axis, one tile of rows.
  template <class T>
  void solve_tile(int tile, const T* squares, std::int64_t slow) {
    if constexpr (sizeof(T) < 4) {
      const Range rows = rows_of(tile);
      for (std::int64_t row = rows.begin - frame_.middle.begin; row < rows.end - frame_.middle.begin; ++row)
        solve_near(squares + row * pitch_of<T>(), writer_.row(slow, row), tile);
    }
    if constexpr (sizeof(T) == 4) search_rows(s_.search32, squares, tile, slow, -1, frame_.reach);
    else if constexpr (sizeof(T) == 2) search_rows(s_.search16, squares, tile, slow, kWindowReach, kNarrowReach);
  }

  template <class T>
  void solve_near(const T* squares, const OutputRow& out, int tile) {
    const hn::ScalableTag<T> d;
    const std::int64_t width = frame_.fast.end - frame_.fast.begin;
    const int* span = bounds_of(tile).span;
    std::uint32_t* most = most_of(tile);
    int steps = 0;
    for (int s = 0; s < segments_; ++s) {
      if (span[s] > kWindowReach) continue;
      const std::int64_t end = std::min<std::int64_t>(width, (s + 1) * static_cast<std::int64_t>(kSegment));
      for (std::int64_t x = s * static_cast<std::int64_t>(kSegment); x < end; x += kGroup * kLanes16) {
        hn::Vec<decltype(d)> group[kGroupOf<T>];
        if constexpr (sizeof(T) == 1) writer_.ask_ahead(out, x);
        window(d, squares + frame_.fast.begin + x, kLanes<decltype(d)>, 1, span[s], least_square_, steps, group);
        writer_.write(d, out, x, group, width - x, seam_);
        most[s] = std::max<std::uint32_t>(most[s], largest_lane(d, largest_of_group(group)));
      }
    }
  }

  /// Segments whose span is in (above, upto], the rows of a tile as many at a time as there are lanes.
  template <class D, class T = hn::TFromD<D>>
  HWY_NOINLINE void search_rows(const RowSearch<D>& search, const T* squares, int tile, std::int64_t slow, int above,
                                int upto) {
    const SegmentBounds bounds = bounds_of(tile);
    if (next_run(bounds, 0, above, upto).begin == segments_) return;
    constexpr int kRows = kLanes<D>;
    const std::int64_t begin = rows_of(tile).begin - frame_.middle.begin, end = rows_of(tile).end - frame_.middle.begin;
    for (std::int64_t y = begin; y < end; y += kRows) {
      OutputTile output;
      output.count = output.bounding = static_cast<int>(std::min<std::int64_t>(kRows, end - y));
      SquareRows<D> source;
      for (int i = 0; i < kRows; ++i) source.row[i] = squares + std::min(y + i, end - 1) * pitch_of<T>();
      for (int i = 0; i < output.count; ++i) output.row[i] = writer_.row(slow, y + i);
      if (s_.walk.solve(source, output, bounds, above, upto, most_of(tile))) continue;
      for (Run run = next_run(bounds, 0, above, upto); run.begin < segments_;
           run = next_run(bounds, run.end, above, upto))
        search.solve(source, output, run, bounds, most_of(tile));
    }
  }

  /// The same in 32 bits.
  HWY_NOINLINE void solve_wide_strip(const std::uint16_t* distances, std::int64_t x, int lift, std::uint32_t* out) {
    StripScan scan;
    scan.convex<kNoSite16>(distances, frame_.box.middle);
    for (std::int64_t half = 0; half < std::min<std::int64_t>(kLanes16, frame_.box.fast - x); half += kLanes32) {
      const StripSites sites = scan.sites(half, half + kLanes32);
      if (sites.low <= sites.last) walk_wide_strip(distances + half, sites, out + half);
      else search_wide_strip(distances + half, bound_strip(x + half, kLanes32, lift), out + half);
    }
  }

  void search_wide_strip(const std::uint16_t* distances, int reach, std::uint32_t* out) {
    const D32 d;
    if (!any_within(distances, reach)) {
      for (std::int64_t y = 0; y < rows_; ++y) hn::StoreU(hn::Set(d, kNoSite32), d, out + y * s_.wide_pitch);
      return;
    }
    const SearchMemory<std::uint32_t>& memory = s_.search32.memory;
    Search<D32> search(memory, squares_, collect_wide(distances, reach), strip_bounds());
    search.solve(frame_.middle.begin, frame_.middle.end, [&](std::int64_t begin, std::int64_t end) {
      std::uint32_t* to = out + (begin - frame_.middle.begin) * s_.wide_pitch;
      for (std::int64_t i = 0; i < end - begin; ++i)
        hn::StoreU(hn::Load(d, memory.results + i * kLanes32), d, to + i * s_.wide_pitch);
    });
  }

  bool any_within(const std::uint16_t* distances, int reach) const {
    const D16Half d;
    hn::Vec<D16Half> least = hn::Set(d, kNoSite16);
    for (std::int64_t y = 0; y < frame_.box.middle; ++y) least = hn::Min(least, hn::LoadU(d, distances + y * kLanes16));
    const auto limit = static_cast<std::uint16_t>(std::min(reach, kNoSite16 - 1));
    return !hn::AllFalse(d, less_equal(least, hn::Set(d, limit)));
  }

  void walk_wide_strip(const std::uint16_t* distances, const StripSites& sites, std::uint32_t* out) const {
    const D32 d;
    std::uint32_t* const squares = s_.search32.memory.values;
    for (std::int64_t y = sites.low; y <= sites.last; ++y)
      hn::Store(wide_squares(hn::LoadU(D16Half(), distances + y * kLanes16)), d, squares + y * kLanes32);
    hn::Store(hn::Set(d, kNoSite32), d, squares + (sites.last + 1) * kLanes32);
    StripWalk<D32> walk(squares, sites, squares_);
    const std::int64_t pitch = s_.wide_pitch, begin = frame_.middle.begin;
    walk.solve(begin, frame_.middle.end, [&](std::int64_t y, V32 v) { hn::StoreU(v, d, out + (y - begin) * pitch); });
  }

  Candidates collect_wide(const std::uint16_t* distances, int reach) const {
    Filter<D32> filter(s_.search32.memory, 0, square_limit<std::uint32_t>(reach));
    for (std::int64_t y = 0; y < frame_.box.middle; ++y)
      filter.add(wide_squares(hn::LoadU(D16Half(), distances + y * kLanes16)));
    return filter.end();
  }

  const Frame& frame_;
  const Bits bits_;
  std::uint16_t* const below_;
  const Squares squares_;
  Scratch s_;
  const Writer writer_;
  Seam seam_;  ///< of near results
  const int tiles_, segments_;
  const std::int64_t rows_;
  std::size_t element_ = 0;  ///< size of the squares that `planes` was used for last
  int least_square_ = 0;     ///< smallest along the slow axis in the plane's strip or the plane at hand, saturated
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
