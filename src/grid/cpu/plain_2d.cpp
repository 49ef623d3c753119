// Two axes: blocks of rows from the bottom up. In each block the distances along the slow axis are rebuilt from bits
// and carries; then every row is solved along the fast axis, segment by segment, near ones by a window as soon as the
// row is there, far ones by a walk where rows are convex, else by a search over all rows of the block in lock step.
//
// Which is which follows from the rows just finished: distances change by at most 1 per row. Where nothing is known
// yet, a few columns' distances along the slow axis give a first bound.
//
// Source: separable passes (Meijster et al. 2000, Felzenszwalb & Huttenlocher 2012); bounds from finished rows are
// Fathom's. Cost: see plain_window-inl.h and plain_search-inl.h.
#include "core/dispatch.h"
#include "grid/cpu/plain_passes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "grid/cpu/plain_2d.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "grid/cpu/arena.h"
#include "grid/cpu/plain_rows-inl.h"
#include "grid/cpu/plain_sweep-inl.h"
#include "grid/cpu/plain_walk-inl.h"
#include "grid/cpu/plain_window-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::plain::HWY_NAMESPACE {
namespace {

template <class Form>
struct Scratch {
  using Narrow = typename Form::Narrow;
  using Tiny = typename Form::Tiny;
  std::uint16_t* rows;  ///< [kBlock][pitch], distances along the slow axis, at last as FirstPass has them
  Narrow* narrow;       ///< one row of their values, kWindowPad of "none" before it and after
  Tiny* tiny;           ///< the same in fewer bits
  std::int64_t values_length;
  RowSearch<Form, std::conditional_t<Form::kReal, DDouble, hn::CappedTag<Narrow, kBlock>>> search_narrow;
  RowSearch<Form, hn::ScalableTag<typename Form::Wide>> search_wide;
  RowWalk<Form, D32> walk;
  RowWalk<Form, DDouble> wide_walk;  ///< of keys and real values
  int* reach;                        ///< [segments], bound at the row last finished
  int* block_reach;                  ///< [segments], the same for any row of the block at hand
  int* span;                         ///< [segments], that in columns
  std::uint32_t* most;               ///< [segments], told of the largest distance of the block's first row
  bool* tiny_fits;                   ///< [segments], tiny values are expected to hold all distances, and to pay
  std::int64_t pitch;
};

int segment_count(const Frame& frame) {
  return static_cast<int>((frame.fast.end - frame.fast.begin + kSegment - 1) / kSegment);
}

template <class Form>
Scratch<Form> carve(Arena& arena, const Frame& frame) {
  const std::int64_t columns = round_up(frame.box.fast, 64) + kPackSlack;
  Scratch<Form> s;
  s.pitch = row_pitch(columns + kSegment);
  s.rows = arena.take<std::uint16_t>(kBlock * s.pitch);
  s.values_length = columns + kSegment + 2 * kWindowPad;
  s.narrow = arena.take<typename Form::Narrow>(s.values_length);
  s.tiny = arena.take<typename Form::Tiny>(s.values_length);
  s.search_narrow.carve(arena, frame.box.fast);
  if (!Form::kReal) s.search_wide.carve(arena, frame.box.fast);
  if (!Form::kReal) s.walk.carve(arena, frame.box.fast);
  if (!Form::kSquares) s.wide_walk.carve(arena, frame.box.fast);
  s.reach = arena.take<int>(segment_count(frame));
  s.block_reach = arena.take<int>(segment_count(frame));
  s.span = arena.take<int>(segment_count(frame));
  s.most = arena.take<std::uint32_t>(segment_count(frame));
  s.tiny_fits = arena.take<bool>(segment_count(frame));
  return s;
}

std::int64_t start_of(int segment) { return segment * static_cast<std::int64_t>(kSegment); }

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
        s_(scratch),
        writer_(frame),
        tiny_(first_pass(frame, frame.tiny, frame.tiny.reach)),
        narrow_(first_pass(frame, frame.narrow, frame.narrow.reach)),
        wide_(first_pass(frame, frame.wide, kAnyReach)),
        near_span_(near_span(frame)),
        tiny_span_(Form::kReal ? std::min(frame.ranks->span, kWidestWindow) : frame.tiny.reach / frame.fast_multiple),
        tiny_told_(Form::kReal ? frame.ranks->reach : std::int64_t{frame.tiny.reach} * frame.tiny.reach),
        segments_(segment_count(frame)),
        columns_(round_up(frame.box.fast, kLanes16)) {
    s_.search_narrow.share(frame_, shared.fast, writer_);
    if (!Form::kReal) s_.search_wide.share(frame_, shared.fast, writer_);
    if (!Form::kReal) s_.walk.share(frame_, shared.fast, writer_);
    if (!Form::kSquares) s_.wide_walk.share(frame_, shared.fast, writer_);
    std::fill_n(s_.narrow, s_.values_length, kNone<Narrow>);
    std::fill_n(s_.tiny, s_.values_length, Form::kReal ? Tiny{Ranks::kRows - 1} : kNone<Tiny>);
    std::fill_n(s_.tiny_fits, segments_, false);
    for (int r = 0; r < kBlock; ++r) std::fill_n(s_.rows + r * s_.pitch + columns_, kPackSlack, kNoSite16);
  }

  void solve(const Job& job, Monitor& monitor) {
    for (std::int64_t block = job.end - 1; block >= job.begin; --block) {
      sweep_down(bits_.words + block * bits_.pitch, bits_.above + block * bits_.pitch, columns_, s_.rows, s_.pitch);
      if (block == job.end - 1) first_bound();
      solve_block(block);
      monitor.advance(1);
    }
    seams_.close();
    writer_.finish();
  }

 private:
  static constexpr int kAnyReach = 1 << 29;

  /// Blocks after a row whose distances have ranks are near.
  static int near_span(const Frame& frame) {
    if constexpr (!Form::kReal) return kWindowReach<Form>;
    else
      return std::clamp((frame.ranks->reach + kBlock * frame.slow_multiple) / frame.fast_multiple, kWindowReach<Form>,
                        kWidestWindow);
  }

  static FirstPass<Form> first_pass(const Frame& frame, const Layout& layout, int reach) {
    if constexpr (Form::kReal) return FirstPass<Form>(frame.slow_axis);
    else return {layout, frame.slow_multiple, reach};
  }

  /// Bounds at the row under the block from the distances there along the slow axis.
  void first_bound() {
    const D16 d;
    const std::uint16_t* last = s_.rows + (kBlock - 1) * s_.pitch;
    const std::int64_t end = frame_.fast.end;
    std::int64_t x = frame_.fast.begin;
    for (int segment = 0; segment < segments_; ++segment) {
      int farthest = 0;
      for (const std::int64_t stop = std::min<std::int64_t>(end, x + kSegment); x < stop; x += kLanes16) {
        const V16 above = hn::SaturatedAdd(hn::LoadU(d, last + x), hn::Set(d, 1));
        farthest = std::max<int>(farthest, smallest_lane(d, hn::Min(above, hn::LoadU(d, below_ + x))));
      }
      s_.reach[segment] = first_reach(frame_, farthest, kLanes16);
    }
  }

  void solve_block(std::int64_t block) {
    const std::int64_t top = block * kBlock;
    const int first = static_cast<int>(std::max<std::int64_t>(0, frame_.slow.begin - top));
    const int end = static_cast<int>(std::min<std::int64_t>(kBlock, frame_.slow.end - top));
    bool near = false;
    for (int s = 0; s < segments_; ++s) {
      s_.block_reach[s] = std::min(frame_.reach, s_.reach[s] + kBlock * frame_.slow_multiple);
      s_.span[s] = s_.block_reach[s] / frame_.fast_multiple;
      near |= is_near(s);
      s_.most[s] = 0;
    }
    // Every row of the block pays for tiny values, whether few segments use them or many.
    const bool tiny = 2 * std::count(s_.tiny_fits, s_.tiny_fits + segments_, true) > segments_;
    if (!tiny) std::fill_n(s_.tiny_fits, segments_, false);
    for (int r = kBlock - 1; r >= 0; --r) {
      sweep_up(bits_.words + block * bits_.pitch, r, tiny, near);
      if (near && r >= first && r < end) solve_near(top + r - frame_.slow.begin, r == first);
    }
    solve_rest(top, first, end);
    for (int s = 0; s < segments_; ++s) s_.reach[s] = std::min(s_.block_reach[s], reach_from(frame_, s_.most[s]));
  }

  /// Completes row r, finds its values.
  void sweep_up(const std::uint16_t* words, int r, bool tiny, bool near) {
    const D16 d;
    const V16 bit = row_bit(r);
    std::uint16_t* row = s_.rows + r * s_.pitch;
    V16 least = hn::Set(d, 0xFFFF);
    const FirstPass<Form> tiny_pass = tiny_, narrow_pass = narrow_;  // copies that stores leave in registers
    for (std::int64_t x = 0; x < columns_; x += kLanes16) {
      const V16 up = step(hn::Load(d, below_ + x), hn::Load(d, words + x), bit);
      hn::Store(up, d, below_ + x);
      const V16 nearer = FirstPass<Form>::nearer(hn::Load(d, row + x), up);
      hn::Store(nearer, d, row + x);
      if constexpr (Form::kKeys) {
        if (tiny) hn::Store(tiny_pass.values(d, nearer), d, s_.tiny + kWindowPad + x);
      } else if constexpr (Form::kReal) {
        if (tiny) hn::Store(at_most(Ranks::kRows - 1, nearer), D8Half(), s_.tiny + kWindowPad + x);
      } else {
        const V16 square = narrow_pass.values(d, nearer);
        hn::Store(square, d, s_.narrow + kWindowPad + x);
        if (tiny) hn::Store(tiny_squares(square), D8Half(), s_.tiny + kWindowPad + x);
      }
      least = hn::Min(least, nearer);
    }
    const std::uint16_t nearest = smallest_lane(d, least);
    if constexpr (Form::kReal) tiny_least_ = std::min<int>(nearest, Ranks::kRows - 1);
    else tiny_least_ = tiny_.value(nearest);
    narrow_least_ = narrow_.value(nearest);
    narrow_row_ = Form::kSquares ? row : nullptr;
    if (near && !tiny) fill_narrow(row);
  }

  /// Finds a row's narrow values, unless they are there.
  void fill_narrow(const std::uint16_t* row) {
    if (narrow_row_ == row) return;
    narrow_row_ = row;
    const hn::ScalableTag<Narrow> d;
    const hn::Rebind<std::uint16_t, decltype(d)> half;
    const FirstPass<Form> pass = narrow_;
    for (std::int64_t x = 0; x < columns_; x += kLanes<decltype(d)>)
      hn::Store(pass.values(d, hn::Load(half, row + x)), d, s_.narrow + kWindowPad + x);
  }

  void solve_near(std::int64_t slow, bool bounding) {
    const std::int64_t width = frame_.fast.end - frame_.fast.begin;
    const auto out = writer_.row(slow, 0), next = writer_.row(std::max<std::int64_t>(0, slow - 1), 0);
    const auto belongs = [&](int s) { return is_near(s); };
    for (Run run = next_run(bounds(), 0, belongs); run.begin < segments_; run = next_run(bounds(), run.end, belongs)) {
      writer_.ask_for_ends(next, start_of(run.begin), std::min(width, start_of(run.end)));
      for (int s = run.begin; s < run.end; ++s) solve_segment(slow, out, s, bounding);
    }
  }

  void solve_segment(std::int64_t slow, const typename Output::Row& out, int s, bool bounding) {
    const std::int64_t end = std::min(frame_.fast.end - frame_.fast.begin, start_of(s + 1));
    std::uint32_t* most = bounding ? s_.most + s : nullptr;
    for (std::int64_t x = start_of(s); x < end; x += kGroup * kLanes16) {
      s_.tiny_fits[s] = s_.tiny_fits[s] && solve_group<kGroup>(s_.tiny, out, x, tiny_span_, most);
      if (s_.tiny_fits[s]) continue;
      fill_narrow(s_.rows + (slow + frame_.slow.begin) % kBlock * s_.pitch);
      solve_columns(out, x, end - x, s_.span[s], most);
    }
    if (bounding) s_.tiny_fits[s] = *most > kTinyPays<Form> && *most <= tiny_told_;
  }

  /// With no more vectors than the columns that are left fill: images may be narrow. Vectors of doubles are many.
  HWY_INLINE void solve_columns(const typename Output::Row& out, std::int64_t x, std::int64_t left, int span,
                                std::uint32_t* most) {
    if constexpr (Form::kReal)
      for (int i = 0; i < kGroup && i * kLanes16 < left; ++i)
        solve_group<1>(s_.narrow, out, x + i * kLanes16, span, most);
    else if (left <= kLanes16) solve_group<1>(s_.narrow, out, x, span, most);
    else if (left <= 2 * kLanes16) solve_group<2>(s_.narrow, out, x, span, most);
    else solve_group<kGroup>(s_.narrow, out, x, span, most);
  }

  /// Writes a group of results as wide as n 16-bit vectors, unless it has some that tiny values cannot tell; raises
  /// `most`.
  template <int n, class T>
  HWY_INLINE bool solve_group(const T* values, const typename Output::Row& out, std::int64_t x, int span,
                              std::uint32_t* most) {
    constexpr bool kTiny = std::is_same_v<T, Tiny>;
    const hn::ScalableTag<T> d;
    const Layout& layout = kTiny ? frame_.tiny : frame_.narrow;
    hn::Vec<decltype(d)> group[n * kGroupOf<T> / kGroup];
    int asked = 0;  // groups of images differ too much to learn from one another
    window(d, values + kWindowPad + frame_.fast.begin + x, kLanes<decltype(d)>, 1, steps<T>(layout), span,
           kTiny ? tiny_least_ : narrow_least_, asked, group);
    const std::int64_t left = frame_.fast.end - frame_.fast.begin - x;
    const auto largest = largest_of_first(d, group, left);
    const std::int64_t most_told =
        Form::kReal ? Ranks::kUnranked - 1 : layout.of_square(layout.reach * layout.reach + 1) - 1;
    if (kTiny && any_above(d, largest, hn::Set(d, static_cast<T>(most_told)))) return false;
    writer_.write(d, out, x, group, left, seams_);
    if (most) *most = std::max(*most, told(largest_lane(d, largest), layout));
    return true;
  }

  template <class T>
  auto steps(const Layout& layout) const {
    if constexpr (Form::kReal && sizeof(T) == 1) {
      return RankSteps{frame_.ranks};
    } else if constexpr (Form::kReal) {
      return RealSteps{fast_.of64.at};
    } else {
      const std::int64_t units = frame_.fast_multiple;
      return WindowSteps<Form>{layout.of_square(units * units), 0, Form::kKeys ? 1 : 0};
    }
  }
  template <class T>
  std::uint32_t told(T value, const Layout& layout) const {
    if constexpr (Form::kReal && sizeof(T) == 1) return frame_.ranks->told[value];
    else if constexpr (Form::kReal) return fast_.of64.told(value);
    else return squared_in(value, layout.square);
  }

  SegmentBounds bounds() const { return {s_.block_reach, s_.span, segments_}; }
  bool is_narrow(int s) const { return s_.block_reach[s] <= frame_.narrow.reach; }
  bool is_near(int s) const { return s_.span[s] <= near_span_ && is_narrow(s); }

  /// Rows [first, end) of the block where sites may be far: by a walk where they are convex. Keys are walked in as few
  /// bits as their segments allow.
  void solve_rest(std::int64_t top, int first, int end) {
    const auto far = [&](int s) { return !is_near(s); };
    const auto wide = [&](int s) { return !is_narrow(s); };
    const auto narrow = [&](int s) { return is_narrow(s) && !is_near(s); };
    if constexpr (Form::kReal) {
      if (!walk_far(s_.wide_walk, narrow_, far, top, first, end))
        solve_far(s_.search_narrow, narrow_, far, top, first, end);
    } else if constexpr (Form::kKeys) {
      if (!walk_far(s_.walk, narrow_, narrow, top, first, end))
        solve_far(s_.search_narrow, narrow_, narrow, top, first, end);
      if (!walk_far(s_.wide_walk, wide_, wide, top, first, end))
        solve_far(s_.search_wide, wide_, wide, top, first, end);
    } else if (!walk_far(s_.walk, wide_, far, top, first, end)) {
      solve_far(s_.search_narrow, narrow_, narrow, top, first, end);
      solve_far(s_.search_wide, wide_, wide, top, first, end);
    }
  }

  /// False if some row is not convex.
  template <class D, class Belongs>
  bool walk_far(const RowWalk<Form, D>& walk, const FirstPass<Form>& pass, const Belongs& belongs, std::int64_t top,
                int first, int end) {
    if (next_run(bounds(), 0, belongs).begin == segments_) return true;
    constexpr int kRows = kLanes<D16Block>;
    for (int r = first; r < end; r += kRows) {
      const int count = std::min(kRows, end - r);
      const auto tile = output_tile(top + r, count, r == first);
      if (!walk.solve(rows_from<D16Block>(pass, r, count), tile, bounds(), belongs, s_.most)) return false;
    }
    return true;
  }

  /// Rows [first, end) of the block in segments that belong to the search.
  template <class D, class Belongs>
  void solve_far(const RowSearch<Form, D>& search, const FirstPass<Form>& pass, const Belongs& belongs,
                 std::int64_t top, int first, int end) {
    for (Run run = next_run(bounds(), 0, belongs); run.begin < segments_; run = next_run(bounds(), run.end, belongs))
      for (int r = first; r < end; r += kLanes<D>) {
        const int count = std::min(kLanes<D>, end - r);
        search.solve(rows_from<D>(pass, r, count), output_tile(top + r, count, r == first), run, bounds(), s_.most);
      }
  }

  template <class D>
  FirstRows<Form, D> rows_from(const FirstPass<Form>& pass, int first, int count) const {
    FirstRows<Form, D> source;
    for (int i = 0; i < kLanes<D>; ++i) source.row[i] = s_.rows + (first + std::min(i, count - 1)) * s_.pitch;
    source.first = pass;
    return source;
  }
  OutputTile<Form> output_tile(std::int64_t slow, int count, bool bounding) const {
    OutputTile<Form> tile;
    tile.count = count;
    tile.bounding = bounding;
    for (int i = 0; i < count; ++i) tile.row[i] = writer_.row(slow + i - frame_.slow.begin, 0);
    return tile;
  }

  const Frame& frame_;
  const Bits bits_;
  std::uint16_t* const below_;
  const AxisSteps fast_;
  Scratch<Form> s_;
  const Output writer_;
  typename Output::Seams seams_;  ///< of near results
  const FirstPass<Form> tiny_, narrow_, wide_;
  using Least = std::conditional_t<Form::kReal, double, std::int64_t>;
  Least tiny_least_ = 0, narrow_least_ = 0;    ///< no value of the row at hand is smaller
  const std::uint16_t* narrow_row_ = nullptr;  ///< the row whose narrow values are there
  const int near_span_;                        ///< columns within which a window is taken
  const int tiny_span_;                        ///< columns within the reach of tiny values
  const std::int64_t tiny_told_;               ///< what is told of the largest distance that these hold
  const int segments_;
  const std::int64_t columns_;
};

template <class Form>
void solve(const Frame& frame, const Shared& shared, const Job& job, std::int64_t index, std::byte* scratch,
           Monitor& monitor) {
  Arena arena(scratch);
  Solver<Form>(frame, shared, index, carve<Form>(arena, frame)).solve(job, monitor);
}

}  // namespace

std::size_t worker_bytes_2d(const Frame& frame) {
  Arena arena(nullptr);
  if (frame.keys) carve<OfSites>(arena, frame);
  else if (frame.real) carve<OfReals>(arena, frame);
  else carve<OfDistances>(arena, frame);
  return arena.used();
}

void solve_2d(const Frame& frame, const Shared& shared, const Job& job, std::int64_t index, std::byte* scratch,
              Monitor& monitor) {
  const auto solve_form = frame.keys ? solve<OfSites> : frame.real ? solve<OfReals> : solve<OfDistances>;
  solve_form(frame, shared, job, index, scratch, monitor);
}

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::grid::cpu::plain {

std::size_t worker_bytes_2d(const Frame& frame, InstructionSet set) {
  return FATHOM_COMPILED_FOR(set, worker_bytes_2d)(frame);
}
void solve_2d(const Frame& frame, InstructionSet set, const Shared& shared, const Job& job, std::int64_t index,
              std::byte* scratch, Monitor& monitor) {
  FATHOM_COMPILED_FOR(set, solve_2d)(frame, shared, job, index, scratch, monitor);
}

}  // namespace fathom::grid::cpu::plain
#endif
