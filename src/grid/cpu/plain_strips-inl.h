// Strips of adjacent columns, one per lane: the distances along the slow axis follow from bits and carries, and the
// middle axis is solved while the strip is in the caches.
#if defined(FATHOM_GRID_CPU_PLAIN_STRIPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_GRID_CPU_PLAIN_STRIPS_INL_H
#undef FATHOM_GRID_CPU_PLAIN_STRIPS_INL_H
#else
#define FATHOM_GRID_CPU_PLAIN_STRIPS_INL_H
#endif

#include "grid/cpu/plain_slab-inl.h"
#include "grid/cpu/plain_strip_walk-inl.h"
#include "grid/cpu/plain_sweep-inl.h"
#include "grid/cpu/prefetch.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::plain::HWY_NAMESPACE {

template <class Form>
class Strips {
  using Narrow = typename Form::Narrow;
  using Tiny = typename Form::Tiny;
  using Wide = typename Form::Wide;
  using DNarrow = hn::ScalableTag<Narrow>;
  using DWide = hn::ScalableTag<Wide>;

 public:
  /// @param below  [a plane's columns], carries, which go on from plane to plane
  Strips(Slab<Form>& slab, const Shared& shared, std::uint16_t* below)
      : slab_(slab), frame_(slab.frame), s_(slab.s), bits_(shared.bits), below_(below), middle_(shared.middle) {
    std::fill_n(s_.crowded, (frame_.box.fast + kLanes16 - 1) / kLanes16, std::uint8_t{0});
  }

  /// Rebuilds values of the first pass, for wide ones what they follow from, in columns [x, x + kColumns<T>).
  /// @param least  [kSlab] smallest in each plane of the strip
  template <class T>
  HWY_NOINLINE void fill(std::int64_t block, int first, std::int64_t x, std::uint16_t* least) {
    const D16 d;
    V16 smallest[kSlab];
    for (int r = 0; r < kSlab; ++r) smallest[r] = hn::Set(d, FirstPass<Form>::kAbsent);
    // A copy that stores leave in registers.
    const FirstPass<Form> pass = sizeof(T) == 1 ? slab_.narrow : slab_.template first_pass<T>();
    for (std::int64_t y = 0; y < frame_.box.middle; ++y)
      for (std::int64_t i = 0; i < kColumns<T>; i += kLanes16) {
        V16 nearer[kSlab];
        sweep(block, first, y, x + i, nearer);
        for (int r = 0; r < kSlab; ++r) {
          smallest[r] = hn::Min(smallest[r], nearer[r]);
          put_first(pass, nearer[r], slab_.template strip_of<T>(r) + y * kColumns<T> + i,
                    slab_.template strip_of<std::uint16_t>(r) + y * kLanes16);
        }
      }
    for (int r = 0; r < kSlab; ++r) least[r] = smallest_lane(d, smallest[r]);
  }

  /// Middle axis of plane r, columns [x, x + kColumns<T>).
  template <class T>
  void solve(int r, std::int64_t x) {
    T* out = slab_.template plane_of<T>(r) + x;
    const int lift = (kSlab - r) * frame_.slow_multiple;
    if constexpr (kIsWide<Form, T>) {
      solve_wide_strip(slab_.template strip_of<std::uint16_t>(r), x, lift, out);
    } else {
      const int reach = bound_strip(x, kColumns<T>, lift);
      if constexpr (std::is_same_v<T, Narrow>) solve_narrow_strip(slab_.template strip_of<T>(r), x, reach, out);
      else window_strip(slab_.template strip_of<T>(r), out);
    }
  }

 private:
  template <class T>
  static HWY_INLINE void put_first(const FirstPass<Form>& pass, V16 nearer, T* to, std::uint16_t* as_is) {
    const D16 d;
    if constexpr (kIsWide<Form, T>) {
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

  /// Fills strip_reach and strip_span for columns [x, x + width) of a plane `lift` above those bounded last: a value
  /// there matters to results no farther away than their bound.
  int bound_strip(std::int64_t x, std::int64_t width, int lift) {
    int farthest = 0;
    for (int tile = 0; tile < slab_.tiles; ++tile) {
      int reach = 0;
      for (int segment = 0; segment < slab_.segments; ++segment) {
        const std::int64_t begin = frame_.fast.begin + static_cast<std::int64_t>(segment) * kSegment;
        const std::int64_t gap = std::max(begin - (x + width - 1), x - (begin + kSegment - 1)) * frame_.fast_multiple;
        const int bound = std::min(frame_.reach, slab_.reach_of(tile)[segment] + lift);
        if (gap <= bound) reach = std::max(reach, bound);
      }
      s_.strip_reach[tile] = reach;
      s_.strip_span[tile] = slab_.span_of(reach, frame_.middle_multiple);
      farthest = std::max(farthest, reach);
    }
    return farthest;
  }
  Bounds strip_bounds() const { return {s_.strip_reach, s_.strip_span, kTileShift, frame_.middle.begin}; }

  void solve_narrow_strip(const Narrow* strip, std::int64_t x, int reach, Narrow* out) {
    const int span = slab_.span_of(reach, frame_.middle_multiple);
    std::uint8_t& crowded = s_.crowded[x / kLanes16];
    if (span > kWindowReach<Form> && walk_strip(strip, out)) return;
    for (std::int64_t part = 0; part < kLanes16; part += kLanes<DNarrow>) {
      if (span > kWindowReach<Form> || (span > kSparseReach && !crowded)) {
        const Candidates candidates = collect(strip + part, reach);
        crowded = candidates.count * 2 >= frame_.box.middle;
        if (span > kWindowReach<Form> || !crowded) {
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
      const std::int64_t pitch = slab_.template pitch_of<Narrow>(), begin = frame_.middle.begin;
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
      const std::int64_t pitch = slab_.template pitch_of<Narrow>();
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
    const WindowSteps<Form> steps{slab_.template layout<T>().of_square(units * units),
                                  Form::kKeys ? std::int64_t{1} << slab_.template layout<T>().middle : 0, 0};
    const int most = slab_.template layout<T>().reach / frame_.middle_multiple;
    int asked = 0;
    for (std::int64_t y = 0; y < slab_.rows; y += n) {
      hn::Vec<decltype(d)> group[n];
      const int span = std::min(most, s_.strip_span[y >> kTileShift]);
      window(d, strip + (frame_.middle.begin + y) * row, row, row, steps, span, slab_.least_value, asked, group);
      for (int i = 0; i < n && y + i < slab_.rows; ++i)
        hn::StoreU(group[i], d, out + (y + i) * slab_.template pitch_of<T>());
    }
  }

  /// Middle axis of a strip in wide values.
  HWY_NOINLINE void solve_wide_strip(const std::uint16_t* nearer, std::int64_t x, int lift, Wide* out) {
    if (slab_.span_of(bound_strip(x, kLanes16, lift), frame_.middle_multiple) <= kWindowReach<Form>)
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
    const FirstPass<Form> pass = slab_.wide;
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
    if (!any_within(nearer, slab_.wide.within(reach))) {
      for (std::int64_t y = 0; y < slab_.rows; ++y) hn::StoreU(hn::Set(d, kNone<Wide>), d, out + y * s_.wide_pitch);
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
    return slab_.wide.values(DWide(), hn::LoadU(hn::Rebind<std::uint16_t, DWide>(), nearer));
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

  Slab<Form>& slab_;
  const Frame& frame_;
  Scratch<Form>& s_;
  const Bits bits_;
  std::uint16_t* const below_;
  const AxisSteps middle_;
};

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
