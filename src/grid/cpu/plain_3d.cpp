// Three axes: planes from the bottom up, in two steps. First strips of adjacent columns, one per lane: the distances
// along the slow axis follow from bits and carries, and the middle axis is solved while the strip is in the caches.
// Then the fast axis in tiles of rows, segment by segment, by a window where the nearest site is near, by a search
// over the rows of the tile in lock step where it is far. Far strips and rows that are convex are walked instead.
//
// Which is which follows from the planes just finished: distances change by at most a step per plane. While all bounds
// are within the reach of narrow values, or tiny ones, everything runs in these, and kSlab planes take the first step
// together. Tiny keys reach no farther than a few elements: where bounds do not promise it, they are tried.
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

/// Columns of a strip: a vector, or as many as 16-bit vectors have where that is less.
template <class T>
constexpr int kColumns = sizeof(T) == 1 ? kLanes<D8> : kLanes16;

std::int64_t pieces(const Range& range, std::int64_t size) { return (range.end - range.begin + size - 1) / size; }

template <class Form>
struct Scratch {
  using Wide = typename Form::Wide;
  std::byte* strip;  ///< [kSlab][strip_rows][kColumns] after kWindowPad rows: values of the first pass
  std::int64_t strip_rows, strip_bytes;
  std::byte* planes;  ///< [kSlab][region's middle][row_bytes] after kWindowPad elements: values within the planes
  std::int64_t row_bytes, planes_bytes;
  Wide* wide;  ///< [kSlab][region's middle][wide_pitch] after kWindowPad elements in the same memory: the same, wide
  std::int64_t wide_pitch, wide_bytes;
  RowSearch<Form, hn::ScalableTag<typename Form::Narrow>> search_narrow;
  RowSearch<Form, hn::ScalableTag<Wide>> search_wide;
  RowWalk<Form, D32> walk;
  RowWalk<Form, DDouble> wide_walk;  ///< of keys
  int* reach;                        ///< [tiles][segments], bound on the distances in a tile's segment
  int* span;                         ///< [tiles][segments], bound on their part along the fast axis, in columns
  int* strip_reach;                  ///< [tiles], bound on the distances that a strip can influence
  int* strip_span;                   ///< [tiles], bound on their part along the middle axis, in rows
  std::uint32_t* most;               ///< [tiles][segments], largest squared distance found
  std::uint8_t* crowded;             ///< [strips], most candidates of the strip were needed when last counted
  std::uint16_t* below;              ///< [a plane's columns], carries as they were before tiny keys were tried
  int* reach_before;                 ///< [tiles][segments], bounds as they were then
};

template <class Form>
Scratch<Form> carve(Arena& arena, const Frame& frame) {
  using Narrow = typename Form::Narrow;
  const Box& box = frame.box;
  const std::int64_t rows = frame.middle.end - frame.middle.begin;
  const std::int64_t line = std::max(box.middle, box.fast);
  const std::int64_t bounds = pieces(frame.middle, kTile) * pieces(frame.fast, kSegment);
  constexpr auto kElement = static_cast<std::int64_t>(sizeof(Narrow));
  constexpr auto kWide = static_cast<std::int64_t>(sizeof(typename Form::Wide));
  Scratch<Form> s;
  s.strip_rows = box.middle + kWindowPad;
  s.strip_bytes = (kWindowPad + kSlab * s.strip_rows) * kLanes16 * kElement;
  s.strip = arena.take<std::byte>(s.strip_bytes);
  s.row_bytes = kElement * row_pitch(box.fast + kWindowPad);
  s.planes_bytes = kSlab * rows * s.row_bytes + kElement * (kWindowPad + kSegment + kWindowPad);
  s.wide_pitch = row_pitch(box.fast + kWindowPad);
  s.wide_bytes = (kSlab * rows * s.wide_pitch + 2 * kWindowPad + kSegment) * kWide;
  s.planes = arena.take<std::byte>(std::max(s.planes_bytes, s.wide_bytes));
  s.wide = reinterpret_cast<typename Form::Wide*>(s.planes);
  s.search_narrow.carve(arena, line);
  s.search_wide.carve(arena, line);
  s.walk.carve(arena, box.fast);
  if (Form::kKeys) s.wide_walk.carve(arena, box.fast);
  s.reach = arena.take<int>(bounds);
  s.span = arena.take<int>(bounds);
  s.strip_span = arena.take<int>(pieces(frame.middle, kTile));
  s.strip_reach = arena.take<int>(pieces(frame.middle, kTile));
  s.most = arena.take<std::uint32_t>(bounds);
  s.crowded = arena.take<std::uint8_t>((box.fast + kLanes16 - 1) / kLanes16);
  s.below = arena.take<std::uint16_t>(Form::kKeys ? box.plane() : 0);
  s.reach_before = arena.take<int>(Form::kKeys ? bounds : 0);
  return s;
}

template <class Form>
class Solver {
  using Narrow = typename Form::Narrow;
  using Tiny = typename Form::Tiny;
  using Wide = typename Form::Wide;
  using Output = WriterOf<Form>;
  using DNarrow = hn::ScalableTag<Narrow>;
  using DWide = hn::ScalableTag<Wide>;

 public:
  Solver(const Frame& frame, const Shared& shared, std::int64_t job, const Scratch<Form>& scratch)
      : frame_(frame),
        bits_(shared.bits),
        below_(shared.bits.below + job * shared.bits.pitch),
        middle_(shared.middle),
        fast_(shared.fast),
        s_(scratch),
        writer_(frame),
        tiny_(frame.tiny, frame.slow_multiple, frame.tiny.reach),
        narrow_(frame.narrow, frame.slow_multiple, frame.narrow.reach),
        wide_(frame.wide, frame.slow_multiple, kAnyReach),
        tiles_(static_cast<int>(pieces(frame.middle, kTile))),
        segments_(static_cast<int>(pieces(frame.fast, kSegment))),
        rows_(frame.middle.end - frame.middle.begin) {
    s_.search_narrow.share(frame, fast_, writer_);
    s_.search_wide.share(frame, fast_, writer_);
    s_.walk.share(frame, fast_, writer_);
    if (Form::kKeys) s_.wide_walk.share(frame, fast_, writer_);
    std::fill_n(s_.crowded, (frame.box.fast + kLanes16 - 1) / kLanes16, std::uint8_t{0});
  }

  void solve(const Job& job, Monitor& monitor) {
    for (std::int64_t block = job.end - 1; block >= job.begin; --block) {
      if (block == job.end - 1) first_bound(block);
      for (int first = kBlock - kSlab; first >= 0; first -= kSlab) solve_slab(block, first);
      monitor.advance(1);
    }
    seams_.close();
    writer_.finish();
  }

 private:
  static constexpr int kReach = kWindowReach<Form>;
  static constexpr int kAnyReach = 1 << 29;
  template <class T>
  static constexpr bool kIsWide = std::is_same_v<T, Wide>;

  template <class T>
  const Layout& layout() const {
    return std::is_same_v<T, Tiny> ? frame_.tiny : kIsWide<T> ? frame_.wide : frame_.narrow;
  }
  template <class T>
  const FirstPass<Form>& first_pass() const {
    return std::is_same_v<T, Tiny> ? tiny_ : kIsWide<T> ? wide_ : narrow_;
  }

  template <class T>
  T* strip_of(int plane) const {
    return reinterpret_cast<T*>(s_.strip) + (kWindowPad + plane * s_.strip_rows) * kColumns<T>;
  }
  template <class T>
  T* plane_of(int plane) const {
    if constexpr (kIsWide<T>) return s_.wide + kWindowPad + plane * rows_ * s_.wide_pitch;
    else return reinterpret_cast<T*>(s_.planes) + kWindowPad + plane * rows_ * pitch_of<T>();
  }
  template <class T>
  std::int64_t pitch_of() const {
    if constexpr (kIsWide<T>) return s_.wide_pitch;
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
    const int before = *std::max_element(s_.reach, s_.reach + tiles_ * segments_);
    const int farthest = std::min(frame_.reach, before + kSlab * frame_.slow_multiple);
    if (farthest <= frame_.tiny.reach) solve_planes<Tiny>(block, first);
    else if (Form::kKeys && before <= frame_.tiny.reach && try_tiny(block, first)) return;
    else if (farthest <= frame_.narrow.reach) solve_planes<Narrow>(block, first);
    else solve_planes<Wide>(block, first);
  }

  /// The same in tiny keys, if they hold all distances.
  bool try_tiny(std::int64_t block, int first) {
    const std::int64_t columns = frame_.box.plane(), bounds = tiles_ * segments_;
    std::copy_n(below_, columns, s_.below);
    std::copy_n(s_.reach, bounds, s_.reach_before);
    if (solve_planes<Tiny>(block, first)) return true;
    std::copy_n(s_.below, columns, below_);
    std::copy_n(s_.reach_before, bounds, s_.reach);
    return false;
  }

  /// The same in values of type T; false if these do not hold all distances.
  template <class T>
  bool solve_planes(std::int64_t block, int first) {
    // Results of another type were put where others expect "none" beside the rows.
    if (element_ != sizeof(T)) {
      fill_none<T>(s_.planes, kIsWide<T> ? s_.wide_bytes : s_.planes_bytes);
      if (!kIsWide<T>) fill_none<T>(s_.strip, s_.strip_bytes);
    }
    element_ = sizeof(T);
    const std::int64_t slow = block * kBlock + first - frame_.slow.begin;
    const std::int64_t planes = frame_.slow.end - frame_.slow.begin;
    std::uint16_t plane_least[kSlab];
    std::fill_n(plane_least, kSlab, FirstPass<Form>::kAbsent);
    for (std::int64_t x = 0; x < frame_.box.fast; x += kColumns<T>) {
      std::uint16_t least[kSlab];
      fill_strip<T>(block, first, x, least);
      for (int r = 0; r < kSlab; ++r) {
        plane_least[r] = std::min(plane_least[r], least[r]);
        set_least<T>(least[r]);
        if (slow + r >= 0 && slow + r < planes) solve_strip<T>(r, x);
      }
    }
    for (int r = kSlab - 1; r >= 0; --r) {
      for (int i = 0; i < tiles_ * segments_; ++i)
        s_.reach[i] = std::min(frame_.reach, s_.reach[i] + frame_.slow_multiple);
      set_least<T>(plane_least[r]);
      if (slow + r >= 0 && slow + r < planes && !solve_rows<T>(plane_of<T>(r), slow + r)) return false;
    }
    return true;
  }

  template <class T>
  static void fill_none(std::byte* memory, std::int64_t bytes) {
    std::fill_n(reinterpret_cast<T*>(memory), bytes / static_cast<std::int64_t>(sizeof(T)), kNone<T>);
  }

  /// @param nearer  smallest of what the first pass left in a strip or plane
  template <class T>
  void set_least(std::uint16_t nearer) {
    const bool none = nearer >= FirstPass<Form>::kAbsent;
    const std::int64_t units = std::int64_t{FirstPass<Form>::distance(nearer)} * frame_.slow_multiple;
    least_square_ = none ? kNoSite32 : units * units;
    least_value_ = first_pass<T>().value(nearer);
  }

  /// Rebuilds values of the first pass, for wide ones what they follow from, in columns [x, x + kColumns<T>).
  /// @param least  [kSlab] smallest in each plane of the strip
  template <class T>
  HWY_NOINLINE void fill_strip(std::int64_t block, int first, std::int64_t x, std::uint16_t* least) {
    const D16 d;
    V16 smallest[kSlab];
    for (int r = 0; r < kSlab; ++r) smallest[r] = hn::Set(d, FirstPass<Form>::kAbsent);
    const FirstPass<Form> pass = sizeof(T) == 1 ? narrow_ : first_pass<T>();  // a copy that stores leave in registers
    for (std::int64_t y = 0; y < frame_.box.middle; ++y)
      for (std::int64_t i = 0; i < kColumns<T>; i += kLanes16) {
        V16 nearer[kSlab];
        sweep(block, first, y, x + i, nearer);
        for (int r = 0; r < kSlab; ++r) {
          smallest[r] = hn::Min(smallest[r], nearer[r]);
          put_first(pass, nearer[r], strip_of<T>(r) + y * kColumns<T> + i, strip_of<std::uint16_t>(r) + y * kLanes16);
        }
      }
    for (int r = 0; r < kSlab; ++r) least[r] = smallest_lane(d, smallest[r]);
  }
  template <class T>
  static HWY_INLINE void put_first(const FirstPass<Form>& pass, V16 nearer, T* to, std::uint16_t* as_is) {
    const D16 d;
    if constexpr (kIsWide<T>) {
      hn::Store(nearer, d, as_is);
    } else if constexpr (sizeof(T) == 1) {
      hn::Store(tiny_squares(pass.values(d, nearer)), D8Half(), to);
    } else if constexpr (sizeof(T) == 2) {
      hn::Store(pass.values(d, nearer), d, to);
    } else {
      alignas(64) std::uint16_t spill[kLanes16];
      hn::Store(nearer, d, spill);
      for (int i = 0; i < kLanes16; i += kLanes32)
        hn::Store(pass.values(D32(), hn::Load(D16Half(), spill + i)), D32(), to + i);
    }
  }

  /// What the first pass leaves of one vector of columns in kSlab planes.
  HWY_INLINE void sweep(std::int64_t block, int first, std::int64_t y, std::int64_t x, V16* nearer) {
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
    for (int r = 0; r < kSlab; ++r) nearer[r] = above = step(above, word, row_bit(r));
    for (int r = kSlab - 1; r >= 0; --r) {
      below = step(below, word, row_bit(r));
      nearer[r] = FirstPass<Form>::nearer(nearer[r], below);
    }
    // Lanes past the row belong to another strip.
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(0, fast - x));
    if (count >= kLanes16) hn::StoreU(below, d, below_carries);
    else hn::BlendedStore(below, hn::FirstN(d, count), d, below_carries);
  }

  /// Fast axis of one plane, the region's number `slow`; false if T does not hold all distances.
  template <class T>
  bool solve_rows(T* values, std::int64_t slow) {
    const int bounds = tiles_ * segments_;
    for (int i = 0; i < bounds; ++i) s_.span[i] = span_of(s_.reach[i], frame_.fast_multiple);
    std::fill_n(s_.most, bounds, 0u);
    clear_after_rows(values);
    for (int tile = 0; tile < tiles_; ++tile) solve_tile(tile, values, slow);
    if (std::is_same_v<T, Tiny> && Form::kKeys && !holds_all()) return false;
    for (int i = 0; i < bounds; ++i) s_.reach[i] = std::min(s_.reach[i], reach_from(frame_, s_.most[i]));
    return true;
  }

  /// Whether tiny keys held all distances of a plane, as far as any matter.
  bool holds_all() const {
    const std::uint32_t most = *std::max_element(s_.most, s_.most + tiles_ * segments_);
    return most <= static_cast<std::uint32_t>(frame_.tiny.reach * frame_.tiny.reach) ||
           frame_.reach <= frame_.tiny.reach;
  }

  /// The last strip's lanes past the row's end took elements of the next row.
  template <class T>
  void clear_after_rows(T* rows) const {
    const std::int64_t fast = frame_.box.fast, end = round_up(fast, kColumns<T>);
    if (fast == end) return;
    for (std::int64_t y = 0; y < rows_; ++y, rows += pitch_of<T>()) std::fill(rows + fast, rows + end, kNone<T>);
  }

  /// No part of a distance along an axis has more steps if the distance is at most `reach` and the rest is at least the
  /// smallest distance along the slow axis.
  int span_of(int reach, int multiple) const {
    const std::int64_t rest = static_cast<std::int64_t>(reach) * reach - least_square_;
    return rest <= 0 ? 0 : root_up(rest) / multiple;
  }

  /// Fills strip_reach and strip_span for columns [x, x + width) of a plane `lift` above those bounded last: a value
  /// there matters to results no farther away than their bound.
  int bound_strip(std::int64_t x, std::int64_t width, int lift) {
    int farthest = 0;
    for (int tile = 0; tile < tiles_; ++tile) {
      int reach = 0;
      for (int segment = 0; segment < segments_; ++segment) {
        const std::int64_t begin = frame_.fast.begin + static_cast<std::int64_t>(segment) * kSegment;
        const std::int64_t gap = std::max(begin - (x + width - 1), x - (begin + kSegment - 1)) * frame_.fast_multiple;
        const int bound = std::min(frame_.reach, reach_of(tile)[segment] + lift);
        if (gap <= bound) reach = std::max(reach, bound);
      }
      s_.strip_reach[tile] = reach;
      s_.strip_span[tile] = span_of(reach, frame_.middle_multiple);
      farthest = std::max(farthest, reach);
    }
    return farthest;
  }
  Bounds strip_bounds() const { return {s_.strip_reach, s_.strip_span, kTileShift, frame_.middle.begin}; }

  /// Middle axis of plane r, columns [x, x + kColumns<T>).
  template <class T>
  void solve_strip(int r, std::int64_t x) {
    T* out = plane_of<T>(r) + x;
    const int lift = (kSlab - r) * frame_.slow_multiple;
    if constexpr (kIsWide<T>) {
      solve_wide_strip(strip_of<std::uint16_t>(r), x, lift, out);
    } else {
      const int reach = bound_strip(x, kColumns<T>, lift);
      if constexpr (std::is_same_v<T, Narrow>) solve_narrow_strip(strip_of<T>(r), x, reach, out);
      else window_strip(strip_of<T>(r), out);
    }
  }

  void solve_narrow_strip(const Narrow* strip, std::int64_t x, int reach, Narrow* out) {
    const int span = span_of(reach, frame_.middle_multiple);
    std::uint8_t& crowded = s_.crowded[x / kLanes16];
    if (span > kReach && walk_strip(strip, out)) return;
    for (std::int64_t part = 0; part < kLanes16; part += kLanes<DNarrow>) {
      if (span > kReach || (span > kSparseReach && !crowded)) {
        const Candidates candidates = collect(strip + part, reach);
        crowded = candidates.count * 2 >= frame_.box.middle;
        if (span > kReach || !crowded) {
          search_strip(candidates, out + part);
          continue;
        }
      }
      window_strip(strip + part, out + part);
    }
  }

  HWY_NOINLINE bool walk_strip(const Narrow* strip, Narrow* out) const {
    if constexpr (!Form::kKeys) {
      const D16 d;
      StripScan scan;
      if (!scan.convex<kNone<std::uint16_t>>(strip, frame_.box.middle, [](V16 v) { return v; })) return false;
      StripWalk<D16> walk(strip, scan.sites(0, kLanes16), middle_.of16);
      const std::int64_t pitch = pitch_of<Narrow>(), begin = frame_.middle.begin;
      walk.solve(begin, frame_.middle.end, [&](std::int64_t y, V16 v) { hn::StoreU(v, d, out + (y - begin) * pitch); });
      return true;
    }
    return false;
  }

  Candidates collect(const Narrow* strip, int reach) const {
    const Steps<Narrow>& steps = middle_.of<Narrow>();
    Filter<DNarrow> filter(s_.search_narrow.memory, 0, steps, steps.limit(reach));
    for (std::int64_t y = 0; y < frame_.box.middle; ++y) filter.add(hn::Load(DNarrow(), strip + y * kLanes16));
    return filter.end();
  }

  void search_strip(const Candidates& candidates, Narrow* out) {
    const DNarrow d;
    const SearchMemory<Narrow>& memory = s_.search_narrow.memory;
    Search<DNarrow> search(memory, middle_.of<Narrow>(), candidates, strip_bounds());
    search.solve(frame_.middle.begin, frame_.middle.end, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t pitch = pitch_of<Narrow>();
      Narrow* to = out + (begin - frame_.middle.begin) * pitch;
      for (std::int64_t i = 0; i < end - begin; ++i)
        hn::StoreU(hn::Load(d, memory.results + i * kLanes<DNarrow>), d, to + i * pitch);
    });
  }

  /// A vector's columns of a strip.
  /// @param row  from one of its rows to the next
  template <class T>
  void window_strip(const T* strip, T* out, std::int64_t row = kColumns<T>) {
    const hn::ScalableTag<T> d;
    // In 8 bits strips are so wide that their largest elements differ little: more of them ask less often.
    constexpr std::int64_t n = sizeof(T) == 1 ? 2 * kGroup : kGroup;
    static_assert(kTile % n == 0);
    const std::int64_t units = frame_.middle_multiple;
    const WindowSteps<Form> steps{layout<T>().of_square(units * units),
                                  Form::kKeys ? std::int64_t{1} << layout<T>().middle : 0, 0};
    const int most = layout<T>().reach / frame_.middle_multiple;
    int asked = 0;
    for (std::int64_t y = 0; y < rows_; y += n) {
      hn::Vec<decltype(d)> group[n];
      const int span = std::min(most, s_.strip_span[y >> kTileShift]);
      window(d, strip + (frame_.middle.begin + y) * row, row, row, steps, span, least_value_, asked, group);
      for (int i = 0; i < n && y + i < rows_; ++i) hn::StoreU(group[i], d, out + (y + i) * pitch_of<T>());
    }
  }

  /// Fast axis, one tile of rows.
  template <class T>
  void solve_tile(int tile, const T* values, std::int64_t slow) {
    const Range rows = rows_of(tile);
    for (std::int64_t row = rows.begin - frame_.middle.begin; row < rows.end - frame_.middle.begin; ++row)
      solve_near(values + row * pitch_of<T>(), writer_.row(slow, row), tile);
    if constexpr (kIsWide<T> && Form::kKeys) search_rows(s_.search_wide, s_.wide_walk, values, tile, slow);
    else if constexpr (kIsWide<T>) search_rows(s_.search_wide, s_.walk, values, tile, slow);
    else if constexpr (std::is_same_v<T, Narrow>) search_rows(s_.search_narrow, s_.walk, values, tile, slow);
  }

  template <class T>
  void solve_near(const T* values, const typename Output::Row& out, int tile) {
    const hn::ScalableTag<T> d;
    const std::int64_t width = frame_.fast.end - frame_.fast.begin;
    const int* span = bounds_of(tile).span;
    std::uint32_t* most = most_of(tile);
    const std::int64_t units = frame_.fast_multiple;
    const WindowSteps<Form> steps{layout<T>().of_square(units * units), 0, Form::kKeys ? 1 : 0};
    const int most_steps = layout<T>().reach / frame_.fast_multiple;
    int asked = 0;
    for (int s = 0; s < segments_; ++s) {
      if (span[s] > kReach && !std::is_same_v<T, Tiny>) continue;
      const std::int64_t end = std::min<std::int64_t>(width, (s + 1) * static_cast<std::int64_t>(kSegment));
      for (std::int64_t x = s * static_cast<std::int64_t>(kSegment); x < end; x += kGroup * kLanes16) {
        hn::Vec<decltype(d)> group[kGroupOf<T>];
        if constexpr (sizeof(T) == 1) writer_.ask_ahead(out, x);
        window(d, values + frame_.fast.begin + x, kLanes<decltype(d)>, 1, steps, std::min(most_steps, span[s]),
               least_value_, asked, group);
        writer_.write(d, out, x, group, width - x, seams_);
        most[s] =
            std::max(most[s], squared_in(largest_lane(d, largest_of_first(d, group, width - x)), layout<T>().square));
      }
    }
  }

  /// Segments that windows have left, the rows of a tile as many at a time as there are lanes.
  template <class D, class DW, class T = hn::TFromD<D>>
  HWY_NOINLINE void search_rows(const RowSearch<Form, D>& search, const RowWalk<Form, DW>& walk, const T* values,
                                int tile, std::int64_t slow) {
    const SegmentBounds bounds = bounds_of(tile);
    const auto belongs = [&](int s) { return bounds.span[s] > kReach; };
    if (next_run(bounds, 0, belongs).begin == segments_) return;
    constexpr int kRows = kLanes<D>;
    const std::int64_t begin = rows_of(tile).begin - frame_.middle.begin, end = rows_of(tile).end - frame_.middle.begin;
    for (std::int64_t y = begin; y < end; y += kRows) {
      OutputTile<Form> output;
      output.count = output.bounding = static_cast<int>(std::min<std::int64_t>(kRows, end - y));
      ValueRows<D> source;
      source.steps = fast_.of<T>();
      for (int i = 0; i < kRows; ++i) source.row[i] = values + std::min(y + i, end - 1) * pitch_of<T>();
      for (int i = 0; i < output.count; ++i) output.row[i] = writer_.row(slow, y + i);
      if (walk.solve(source, output, bounds, belongs, most_of(tile))) continue;
      for (Run run = next_run(bounds, 0, belongs); run.begin < segments_; run = next_run(bounds, run.end, belongs))
        search.solve(source, output, run, bounds, most_of(tile));
    }
  }

  /// Middle axis of a strip in wide values.
  HWY_NOINLINE void solve_wide_strip(const std::uint16_t* nearer, std::int64_t x, int lift, Wide* out) {
    if (span_of(bound_strip(x, kLanes16, lift), frame_.middle_multiple) <= kReach)
      return window_wide_strip(nearer, x, out);
    StripScan scan;
    scan.convex<FirstPass<Form>::kAbsent>(nearer, frame_.box.middle,
                                          [](V16 v) { return FirstPass<Form>::distance(v); });
    for (std::int64_t part = 0; part < std::min<std::int64_t>(kLanes16, frame_.box.fast - x); part += kLanes<DWide>) {
      const StripSites sites = scan.sites(part, part + kLanes<DWide>);
      if (sites.low <= sites.last) walk_wide_strip(nearer + part, sites, out + part);
      else search_wide_strip(nearer + part, bound_strip(x + part, kLanes<DWide>, lift), out + part);
    }
  }

  void window_wide_strip(const std::uint16_t* nearer, std::int64_t x, Wide* out) {
    constexpr std::int64_t kRow = kLanes<DWide>;
    const std::int64_t length = frame_.box.middle;
    Wide* const values = s_.search_wide.memory.values + kWindowPad * kRow;
    const FirstPass<Form> pass = wide_;
    const hn::Rebind<std::uint16_t, DWide> half;
    std::fill_n(values - kWindowPad * kRow, kWindowPad * kRow, kNone<Wide>);
    std::fill_n(values + length * kRow, kWindowPad * kRow, kNone<Wide>);
    for (std::int64_t part = 0; part < std::min<std::int64_t>(kLanes16, frame_.box.fast - x); part += kRow) {
      for (std::int64_t y = 0; y < length; ++y)
        hn::Store(pass.values(DWide(), hn::LoadU(half, nearer + part + y * kLanes16)), DWide(), values + y * kRow);
      window_strip(values, out + part, kRow);
    }
  }

  void search_wide_strip(const std::uint16_t* nearer, int reach, Wide* out) {
    const DWide d;
    if (!any_within(nearer, wide_.within(reach))) {
      for (std::int64_t y = 0; y < rows_; ++y) hn::StoreU(hn::Set(d, kNone<Wide>), d, out + y * s_.wide_pitch);
      return;
    }
    const SearchMemory<Wide>& memory = s_.search_wide.memory;
    Search<DWide> search(memory, middle_.of<Wide>(), collect_wide(nearer, reach), strip_bounds());
    search.solve(frame_.middle.begin, frame_.middle.end, [&](std::int64_t begin, std::int64_t end) {
      Wide* to = out + (begin - frame_.middle.begin) * s_.wide_pitch;
      for (std::int64_t i = 0; i < end - begin; ++i)
        hn::StoreU(hn::Load(d, memory.results + i * kLanes<DWide>), d, to + i * s_.wide_pitch);
    });
  }

  bool any_within(const std::uint16_t* nearer, std::uint16_t limit) const {
    const hn::Rebind<std::uint16_t, DWide> d;
    auto least = hn::Set(d, FirstPass<Form>::kAbsent);
    for (std::int64_t y = 0; y < frame_.box.middle; ++y) least = hn::Min(least, hn::LoadU(d, nearer + y * kLanes16));
    return !hn::AllFalse(d, less_equal(least, hn::Set(d, limit)));
  }

  hn::Vec<DWide> wide_values(const std::uint16_t* nearer) const {
    return wide_.values(DWide(), hn::LoadU(hn::Rebind<std::uint16_t, DWide>(), nearer));
  }

  void walk_wide_strip(const std::uint16_t* nearer, const StripSites& sites, Wide* out) const {
    const DWide d;
    Wide* const values = s_.search_wide.memory.values;
    for (std::int64_t y = sites.low; y <= sites.last; ++y)
      hn::Store(wide_values(nearer + y * kLanes16), d, values + y * kLanes<DWide>);
    hn::Store(hn::Set(d, kNone<Wide>), d, values + (sites.last + 1) * kLanes<DWide>);
    StripWalk<DWide> walk(values, sites, middle_.of<Wide>());
    const std::int64_t pitch = s_.wide_pitch, begin = frame_.middle.begin;
    walk.solve(begin, frame_.middle.end,
               [&](std::int64_t y, hn::Vec<DWide> v) { hn::StoreU(v, d, out + (y - begin) * pitch); });
  }

  Candidates collect_wide(const std::uint16_t* nearer, int reach) const {
    const Steps<Wide>& steps = middle_.of<Wide>();
    Filter<DWide> filter(s_.search_wide.memory, 0, steps, steps.limit(reach));
    for (std::int64_t y = 0; y < frame_.box.middle; ++y) filter.add(wide_values(nearer + y * kLanes16));
    return filter.end();
  }

  const Frame& frame_;
  const Bits bits_;
  std::uint16_t* const below_;
  const AxisSteps middle_, fast_;
  Scratch<Form> s_;
  const Output writer_;
  typename Output::Seams seams_;  ///< of near results
  const FirstPass<Form> tiny_, narrow_, wide_;
  const int tiles_, segments_;
  const std::int64_t rows_;
  std::size_t element_ = 0;        ///< size of the values that `planes` was used for last
  std::int64_t least_square_ = 0;  ///< smallest along the slow axis in the plane's strip or the plane at hand
  std::int64_t least_value_ = 0;   ///< no value there is smaller
};

template <class Form>
void solve(const Frame& frame, const Shared& shared, const Job& job, std::int64_t index, std::byte* scratch,
           Monitor& monitor) {
  Arena arena(scratch);
  Solver<Form>(frame, shared, index, carve<Form>(arena, frame)).solve(job, monitor);
}

}  // namespace

std::size_t worker_bytes_3d(const Frame& frame) {
  Arena arena(nullptr);
  if (frame.keys) carve<OfSites>(arena, frame);
  else carve<OfDistances>(arena, frame);
  return arena.used();
}

void solve_3d(const Frame& frame, const Shared& shared, const Job& job, std::int64_t index, std::byte* scratch,
              Monitor& monitor) {
  (frame.keys ? solve<OfSites> : solve<OfDistances>)(frame, shared, job, index, scratch, monitor);
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
