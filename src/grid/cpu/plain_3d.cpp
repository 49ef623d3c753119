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

#include "grid/cpu/plain_slab-inl.h"
#include "grid/cpu/plain_strips-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::plain::HWY_NAMESPACE {
namespace {

template <class Form>
class Solver {
  using Narrow = typename Form::Narrow;
  using Tiny = typename Form::Tiny;
  using Wide = typename Form::Wide;
  using Output = WriterOf<Form>;

 public:
  Solver(const Frame& frame, const Shared& shared, std::int64_t job, const Scratch<Form>& scratch)
      : frame_(frame),
        bits_(shared.bits),
        below_(shared.bits.below + job * shared.bits.pitch),
        fast_(shared.fast),
        slab_(frame, scratch),
        s_(slab_.s),
        strips_(slab_, shared, below_),
        writer_(frame) {
    s_.search_narrow.share(frame, fast_, writer_);
    s_.search_wide.share(frame, fast_, writer_);
    s_.walk.share(frame, fast_, writer_);
    if (Form::kKeys) s_.wide_walk.share(frame, fast_, writer_);
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
  SegmentBounds bounds_of(int tile) const {
    return {slab_.reach_of(tile), s_.span + static_cast<std::int64_t>(tile) * slab_.segments, slab_.segments};
  }
  std::uint32_t* most_of(int tile) const { return s_.most + static_cast<std::int64_t>(tile) * slab_.segments; }

  /// Rows [begin, end) of the box in a tile.
  Range rows_of(int tile) const {
    const std::int64_t begin = frame_.middle.begin + static_cast<std::int64_t>(tile) * kTile;
    return {begin, std::min(frame_.middle.end, begin + kTile)};
  }

  /// Bounds at the plane under the block from the distances there along the slow axis.
  void first_bound(std::int64_t block) {
    for (int tile = 0; tile < slab_.tiles; ++tile)
      for (int segment = 0; segment < slab_.segments; ++segment) {
        const Range rows = rows_of(tile);
        int farthest = 0;
        for (std::int64_t y = rows.begin; y < rows.end; ++y)
          farthest = std::max(farthest, first_bound(block, y, segment));
        slab_.reach_of(tile)[segment] = first_reach(frame_, farthest, kLanes16);
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
    const int before = *std::max_element(s_.reach, s_.reach + slab_.tiles * slab_.segments);
    const int farthest = std::min(frame_.reach, before + kSlab * frame_.slow_multiple);
    if (farthest <= frame_.tiny.reach) solve_planes<Tiny>(block, first);
    else if (Form::kKeys && before <= frame_.tiny.reach && try_tiny(block, first)) return;
    else if (farthest <= frame_.narrow.reach) solve_planes<Narrow>(block, first);
    else solve_planes<Wide>(block, first);
  }

  /// The same in tiny keys, if they hold all distances.
  bool try_tiny(std::int64_t block, int first) {
    const std::int64_t columns = frame_.box.plane(), bounds = slab_.tiles * slab_.segments;
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
      fill_none<T>(s_.planes, kIsWide<Form, T> ? s_.wide_bytes : s_.planes_bytes);
      if (!kIsWide<Form, T>) fill_none<T>(s_.strip, s_.strip_bytes);
    }
    element_ = sizeof(T);
    const std::int64_t slow = block * kBlock + first - frame_.slow.begin;
    const std::int64_t planes = frame_.slow.end - frame_.slow.begin;
    std::uint16_t plane_least[kSlab];
    std::fill_n(plane_least, kSlab, FirstPass<Form>::kAbsent);
    for (std::int64_t x = 0; x < frame_.box.fast; x += kColumns<T>) {
      std::uint16_t least[kSlab];
      strips_.template fill<T>(block, first, x, least);
      for (int r = 0; r < kSlab; ++r) {
        plane_least[r] = std::min(plane_least[r], least[r]);
        slab_.template set_least<T>(least[r]);
        if (slow + r >= 0 && slow + r < planes) strips_.template solve<T>(r, x);
      }
    }
    for (int r = kSlab - 1; r >= 0; --r) {
      for (int i = 0; i < slab_.tiles * slab_.segments; ++i)
        s_.reach[i] = std::min(frame_.reach, s_.reach[i] + frame_.slow_multiple);
      slab_.template set_least<T>(plane_least[r]);
      if (slow + r >= 0 && slow + r < planes && !solve_rows<T>(slab_.template plane_of<T>(r), slow + r)) return false;
    }
    return true;
  }

  template <class T>
  static void fill_none(std::byte* memory, std::int64_t bytes) {
    std::fill_n(reinterpret_cast<T*>(memory), bytes / static_cast<std::int64_t>(sizeof(T)), kNone<T>);
  }

  /// Fast axis of one plane, the region's number `slow`; false if T does not hold all distances.
  template <class T>
  bool solve_rows(T* values, std::int64_t slow) {
    const int bounds = slab_.tiles * slab_.segments;
    for (int i = 0; i < bounds; ++i) s_.span[i] = slab_.span_of(s_.reach[i], frame_.fast_multiple);
    std::fill_n(s_.most, bounds, 0u);
    clear_after_rows(values);
    for (int tile = 0; tile < slab_.tiles; ++tile) solve_tile(tile, values, slow);
    if (std::is_same_v<T, Tiny> && Form::kKeys && !holds_all()) return false;
    for (int i = 0; i < bounds; ++i) s_.reach[i] = std::min(s_.reach[i], reach_from(frame_, s_.most[i]));
    return true;
  }

  /// Whether tiny keys held all distances of a plane, as far as any matter.
  bool holds_all() const {
    const std::uint32_t most = *std::max_element(s_.most, s_.most + slab_.tiles * slab_.segments);
    return most <= static_cast<std::uint32_t>(frame_.tiny.reach * frame_.tiny.reach) ||
           frame_.reach <= frame_.tiny.reach;
  }

  /// The last strip's lanes past the row's end took elements of the next row.
  template <class T>
  void clear_after_rows(T* rows) const {
    const std::int64_t fast = frame_.box.fast, end = round_up(fast, kColumns<T>);
    if (fast == end) return;
    for (std::int64_t y = 0; y < slab_.rows; ++y, rows += slab_.template pitch_of<T>())
      std::fill(rows + fast, rows + end, kNone<T>);
  }

  /// Fast axis, one tile of rows.
  template <class T>
  void solve_tile(int tile, const T* values, std::int64_t slow) {
    const Range rows = rows_of(tile);
    for (std::int64_t row = rows.begin - frame_.middle.begin; row < rows.end - frame_.middle.begin; ++row)
      solve_near(values + row * slab_.template pitch_of<T>(), writer_.row(slow, row), tile);
    if constexpr (kIsWide<Form, T> && Form::kKeys) search_rows(s_.search_wide, s_.wide_walk, values, tile, slow);
    else if constexpr (kIsWide<Form, T>) search_rows(s_.search_wide, s_.walk, values, tile, slow);
    else if constexpr (std::is_same_v<T, Narrow>) search_rows(s_.search_narrow, s_.walk, values, tile, slow);
  }

  template <class T>
  void solve_near(const T* values, const typename Output::Row& out, int tile) {
    const hn::ScalableTag<T> d;
    const std::int64_t width = frame_.fast.end - frame_.fast.begin;
    const int* span = bounds_of(tile).span;
    std::uint32_t* most = most_of(tile);
    const std::int64_t units = frame_.fast_multiple;
    const WindowSteps<Form> steps{slab_.template layout<T>().of_square(units * units), 0, Form::kKeys ? 1 : 0};
    const int most_steps = slab_.template layout<T>().reach / frame_.fast_multiple;
    int asked = 0;
    for (int s = 0; s < slab_.segments; ++s) {
      if (span[s] > kWindowReach<Form> && !std::is_same_v<T, Tiny>) continue;
      const std::int64_t end = std::min<std::int64_t>(width, (s + 1) * static_cast<std::int64_t>(kSegment));
      for (std::int64_t x = s * static_cast<std::int64_t>(kSegment); x < end; x += kGroup * kLanes16) {
        hn::Vec<decltype(d)> group[kGroupOf<T>];
        if constexpr (sizeof(T) == 1) writer_.ask_ahead(out, x);
        window(d, values + frame_.fast.begin + x, kLanes<decltype(d)>, 1, steps, std::min(most_steps, span[s]),
               slab_.least_value, asked, group);
        writer_.write(d, out, x, group, width - x, seams_);
        most[s] = std::max(most[s], squared_in(largest_lane(d, largest_of_first(d, group, width - x)),
                                               slab_.template layout<T>().square));
      }
    }
  }

  /// Segments that windows have left, the rows of a tile as many at a time as there are lanes.
  template <class D, class DW, class T = hn::TFromD<D>>
  HWY_NOINLINE void search_rows(const RowSearch<Form, D>& search, const RowWalk<Form, DW>& walk, const T* values,
                                int tile, std::int64_t slow) {
    const SegmentBounds bounds = bounds_of(tile);
    const auto belongs = [&](int s) { return bounds.span[s] > kWindowReach<Form>; };
    if (next_run(bounds, 0, belongs).begin == slab_.segments) return;
    constexpr int kRows = kLanes<D>;
    const std::int64_t begin = rows_of(tile).begin - frame_.middle.begin, end = rows_of(tile).end - frame_.middle.begin;
    for (std::int64_t y = begin; y < end; y += kRows) {
      OutputTile<Form> output;
      output.count = output.bounding = static_cast<int>(std::min<std::int64_t>(kRows, end - y));
      ValueRows<D> source;
      source.steps = fast_.of<T>();
      for (int i = 0; i < kRows; ++i) source.row[i] = values + std::min(y + i, end - 1) * slab_.template pitch_of<T>();
      for (int i = 0; i < output.count; ++i) output.row[i] = writer_.row(slow, y + i);
      if (walk.solve(source, output, bounds, belongs, most_of(tile))) continue;
      for (Run run = next_run(bounds, 0, belongs); run.begin < slab_.segments; run = next_run(bounds, run.end, belongs))
        search.solve(source, output, run, bounds, most_of(tile));
    }
  }

  const Frame& frame_;
  const Bits bits_;
  std::uint16_t* const below_;
  const AxisSteps fast_;
  Slab<Form> slab_;
  Scratch<Form>& s_;
  Strips<Form> strips_;
  const Output writer_;
  typename Output::Seams seams_;  ///< of near results
  std::size_t element_ = 0;       ///< size of the values that `planes` was used for last
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
