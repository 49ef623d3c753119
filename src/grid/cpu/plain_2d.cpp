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

struct Scratch {
  std::uint16_t* rows;     ///< [kBlock][pitch], distances along the slow axis
  std::uint16_t* squares;  ///< one row of their squares, kWindowPad of 65535 before it and after
  std::uint8_t* tiny;      ///< the same in 8 bits, saturated
  std::int64_t squares_length;
  RowSearch<D16Block> search16;
  RowSearch<D32> search32;
  RowWalk walk;
  int* reach;           ///< [segments], bound at the row last finished
  int* block_reach;     ///< [segments], the same for any row of the block at hand
  std::uint32_t* most;  ///< [segments], largest squared distance of the block's first row
  bool* tiny_fits;      ///< [segments], 8 bits are expected to hold all distances, and to pay
  std::int64_t pitch;
};

int segment_count(const Frame& frame) {
  return static_cast<int>((frame.fast.end - frame.fast.begin + kSegment - 1) / kSegment);
}

Scratch carve(Arena& arena, const Frame& frame) {
  const std::int64_t columns = round_up(frame.box.fast, 64) + kPackSlack;
  Scratch s;
  s.pitch = row_pitch(columns + kSegment);
  s.rows = arena.take<std::uint16_t>(kBlock * s.pitch);
  s.squares_length = columns + kSegment + 2 * kWindowPad;
  s.squares = arena.take<std::uint16_t>(s.squares_length);
  s.tiny = arena.take<std::uint8_t>(s.squares_length);
  s.search16.carve(arena, frame.box.fast);
  s.search32.carve(arena, frame.box.fast);
  s.walk.carve(arena, frame.box.fast);
  s.reach = arena.take<int>(segment_count(frame));
  s.block_reach = arena.take<int>(segment_count(frame));
  s.most = arena.take<std::uint32_t>(segment_count(frame));
  s.tiny_fits = arena.take<bool>(segment_count(frame));
  return s;
}

std::int64_t start_of(int segment) { return segment * static_cast<std::int64_t>(kSegment); }

class Solver {
 public:
  Solver(const Frame& frame, const Shared& shared, std::int64_t job, const Scratch& scratch)
      : frame_(frame),
        bits_(shared.bits),
        below_(shared.bits.below + job * shared.bits.pitch),
        s_(scratch),
        writer_(frame),
        segments_(segment_count(frame)),
        columns_(round_up(frame.box.fast, kLanes16)) {
    s_.search16.share(frame_, shared.squares, writer_);
    s_.search32.share(frame_, shared.squares, writer_);
    s_.walk.share(frame_, shared.squares, writer_);
    std::fill_n(s_.squares, s_.squares_length, kNone<std::uint16_t>);
    std::fill_n(s_.tiny, s_.squares_length, kNone<std::uint8_t>);
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
    seam_.close();
    writer_.finish();
  }

 private:
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
      s_.block_reach[s] = std::min(frame_.reach, s_.reach[s] + kBlock);
      near |= s_.block_reach[s] <= kWindowReach;
      s_.most[s] = 0;
    }
    // Every row of the block pays for 8 bits, whether few segments use them or many.
    const bool tiny = 2 * std::count(s_.tiny_fits, s_.tiny_fits + segments_, true) > segments_;
    if (!tiny) std::fill_n(s_.tiny_fits, segments_, false);
    for (int r = kBlock - 1; r >= 0; --r) {
      const int least = sweep_up(bits_.words + block * bits_.pitch, r, tiny);
      if (near && r >= first && r < end) solve_near(top + r - frame_.slow.begin, least, r == first);
    }
    if (!walk_far(top, first, end)) {
      solve_far(s_.search16, kWindowReach, kNarrowReach, top, first, end);
      solve_far(s_.search32, kNarrowReach, frame_.reach, top, first, end);
    }
    for (int s = 0; s < segments_; ++s) s_.reach[s] = std::min(s_.block_reach[s], reach_from(frame_, s_.most[s]));
  }

  /// Completes row r, squares it, returns the smallest square.
  int sweep_up(const std::uint16_t* words, int r, bool tiny) {
    const D16 d;
    const V16 bit = row_bit(r);
    std::uint16_t* row = s_.rows + r * s_.pitch;
    std::uint16_t* squares = s_.squares + kWindowPad;
    V16 least = hn::Set(d, 0xFFFF);
    for (std::int64_t x = 0; x < columns_; x += kLanes16) {
      const V16 up = step(hn::Load(d, below_ + x), hn::Load(d, words + x), bit);
      hn::Store(up, d, below_ + x);
      const V16 distance = hn::Min(up, hn::Load(d, row + x));
      hn::Store(distance, d, row + x);
      const V16 square = narrow_squares(d, distance);
      hn::Store(square, d, squares + x);
      if (tiny) hn::Store(tiny_squares(square), D8Half(), s_.tiny + kWindowPad + x);
      least = hn::Min(least, square);
    }
    return smallest_lane(d, least);
  }

  void solve_near(std::int64_t slow, int least, bool bounding) {
    const std::int64_t width = frame_.fast.end - frame_.fast.begin;
    const OutputRow out = writer_.row(slow, 0), next = writer_.row(std::max<std::int64_t>(0, slow - 1), 0);
    for (Run run = next_run(bounds(), 0, -1, kWindowReach); run.begin < segments_;
         run = next_run(bounds(), run.end, -1, kWindowReach)) {
      writer_.ask_for_ends(next, start_of(run.begin), std::min(width, start_of(run.end)));
      for (int s = run.begin; s < run.end; ++s) solve_segment(out, s, least, bounding);
    }
  }

  void solve_segment(const OutputRow& out, int s, int least, bool bounding) {
    const std::int64_t end = std::min(frame_.fast.end - frame_.fast.begin, start_of(s + 1));
    std::uint32_t* most = bounding ? s_.most + s : nullptr;
    for (std::int64_t x = start_of(s); x < end; x += kGroup * kLanes16) {
      s_.tiny_fits[s] = s_.tiny_fits[s] && solve_group<kGroup>(s_.tiny, out, x, kTinyReach, least, most);
      if (!s_.tiny_fits[s]) solve_columns(out, x, end - x, s_.block_reach[s], least, most);
    }
    if (bounding) s_.tiny_fits[s] = *most > kTinyPays * kTinyPays && *most <= kTinyReach * kTinyReach;
  }

  /// With no more vectors than the columns that are left fill: images may be narrow.
  HWY_INLINE void solve_columns(const OutputRow& out, std::int64_t x, std::int64_t left, int reach, int least,
                                std::uint32_t* most) {
    if (left <= kLanes16) solve_group<1>(s_.squares, out, x, reach, least, most);
    else if (left <= 2 * kLanes16) solve_group<2>(s_.squares, out, x, reach, least, most);
    else solve_group<kGroup>(s_.squares, out, x, reach, least, most);
  }

  /// Writes a group of results as wide as n 16-bit vectors, unless it has some that 8 bits cannot tell; raises `most`.
  template <int n, class T>
  HWY_INLINE bool solve_group(const T* squares, const OutputRow& out, std::int64_t x, int reach, int least,
                              std::uint32_t* most) {
    const hn::ScalableTag<T> d;
    hn::Vec<decltype(d)> group[n * kGroupOf<T> / kGroup];
    int steps = 0;  // groups of images differ too much to learn from one another
    window(d, squares + kWindowPad + frame_.fast.begin + x, kLanes<decltype(d)>, 1, reach, least, steps, group);
    const auto largest = largest_of_group(group);
    if (sizeof(T) == 1 && any_above(d, largest, hn::Set(d, kTinyReach * kTinyReach))) return false;
    writer_.write(d, out, x, group, frame_.fast.end - frame_.fast.begin - x, seam_);
    if (most) *most = std::max<std::uint32_t>(*most, largest_lane(d, largest));
    return true;
  }

  SegmentBounds bounds() const { return {s_.block_reach, s_.block_reach, segments_}; }

  /// Rows [first, end) of the block where sites may be far, unless some row is not convex.
  bool walk_far(std::int64_t top, int first, int end) {
    if (std::all_of(s_.block_reach, s_.block_reach + segments_, [](int reach) { return reach <= kWindowReach; }))
      return true;
    constexpr int kRows = kLanes<D16Block>;
    for (int r = first; r < end; r += kRows) {
      const int count = std::min(kRows, end - r);
      const auto tile = output_tile(top + r, count, r == first);
      if (!s_.walk.solve(rows_from<D16Block>(r, count), tile, bounds(), kWindowReach, frame_.reach, s_.most))
        return false;
    }
    return true;
  }

  /// Rows [first, end) of the block where the bound is in (above, upto].
  template <class D>
  void solve_far(const RowSearch<D>& search, int above, int upto, std::int64_t top, int first, int end) {
    for (Run run = next_run(bounds(), 0, above, upto); run.begin < segments_;
         run = next_run(bounds(), run.end, above, upto))
      for (int r = first; r < end; r += kLanes<D>)
        solve_tile(search, run, top, r, std::min(kLanes<D>, end - r), r == first);
  }

  template <class D>
  void solve_tile(const RowSearch<D>& search, const Run& run, std::int64_t top, int first, int count, bool bounding) {
    search.solve(rows_from<D>(first, count), output_tile(top + first, count, bounding), run, bounds(), s_.most);
  }

  template <class D>
  DistanceRows<D> rows_from(int first, int count) const {
    DistanceRows<D> source;
    for (int i = 0; i < kLanes<D>; ++i) source.row[i] = s_.rows + (first + std::min(i, count - 1)) * s_.pitch;
    return source;
  }
  OutputTile output_tile(std::int64_t slow, int count, bool bounding) const {
    OutputTile tile;
    tile.count = count;
    tile.bounding = bounding;
    for (int i = 0; i < count; ++i) tile.row[i] = writer_.row(slow + i - frame_.slow.begin, 0);
    return tile;
  }

  const Frame& frame_;
  const Bits bits_;
  std::uint16_t* const below_;
  Scratch s_;
  const Writer writer_;
  Seam seam_;  ///< of near results
  const int segments_;
  const std::int64_t columns_;
};

}  // namespace

std::size_t worker_bytes_2d(const Frame& frame) {
  Arena arena(nullptr);
  carve(arena, frame);
  return arena.used();
}

void solve_2d(const Frame& frame, const Shared& shared, const Job& job, std::int64_t index, std::byte* scratch,
              Monitor& monitor) {
  Arena arena(scratch);
  Solver(frame, shared, index, carve(arena, frame)).solve(job, monitor);
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
