// The general engine: row words first, then one pass per remaining axis, from the fastest to the slowest.
//
// With this order the tie rule needs no care beyond "the lowest coordinate wins" within each pass: among equal
// distances the slowest axis decides last and so first, and the nearest site comes out as the one with the lowest
// linear index.
//
// Labels and signed fields: an element looks for the nearest element of another class. Along a line that is a source of
// value 0 at each end of the run of equal classes around the element. All other sources of the line may stay: beyond
// the ends of the run they are farther than the ends themselves. So these transforms are ordinary passes that start
// from the distance to the ends of the run ("start" of a Column).
//
// Source: Hirata 1996, Meijster et al. 2000; for labels the run-wise passes of Silversmith's edt, without cutting
// lines. Lines at different places along the last axis never meet again after the row words: for three axes or more,
// runs of 128 neighbouring lines go through all passes one after the other.
//
// Memory: words of ⅜ byte per element, with classes ⅛ byte more for each axis; for three axes or more, values
// (and indices) of one run of all rows.
#include "grid/cpu/general.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "core/parallel.h"
#include "fathom/core/error.h"
#include "grid/cpu/classes.h"
#include "grid/cpu/column_pass.h"
#include "grid/cpu/emit.h"
#include "grid/cpu/general_memory.h"
#include "grid/cpu/indices.h"
#include "grid/cpu/line_starts.h"
#include "grid/cpu/lines.h"
#include "grid/cpu/near_engine.h"
#include "grid/cpu/prefetch.h"
#include "grid/cpu/row_values.h"
#include "grid/cpu/row_words.h"
#include "grid/metric.h"

namespace fathom::grid::cpu {
namespace general {
namespace {

template <class V>
class Transform {
 public:
  Transform(const Problem& problem, InstructionSet instruction_set, int threads, std::byte* scratch,
            const Execution& execution)
      : p_(problem),
        e_(problem),
        set_(instruction_set),
        threads_(threads),
        lanes_(lanes<V>(instruction_set)),
        classes_(problem, instruction_set),
        emitter_(problem, classes_, instruction_set),
        cap_(cap_above(largest_kept<V>(problem))),
        execution_(execution),
        monitor_(execution, e_.rows * (e_.strips + (problem.rank - 1) * e_.region_strips())) {
    memory_.take(scratch, problem, e_, threads);
    for (int k = 0; k < last(); ++k) {
      const AxisCost<V> cost = axis_cost<V>(problem, k);
      const std::int64_t most = most_steps(problem, k);
      for (std::int64_t i = 0; i <= most; ++i)
        memory_.cost[at_axis(k)][most - i] = memory_.cost[at_axis(k)][most + i] = cost(i);
    }
    if constexpr (std::is_same_v<V, std::int32_t>)
      if (e_.near) {
        near_.emplace(problem, classes_, emitter_, instruction_set);
        // The buffer of 16-bit values lies where those of 32 bits go if the group fails.
        near_->use(memory_.words, class_words(), memory_.near, reinterpret_cast<std::uint16_t*>(memory_.values),
                   e_.group_strips() * kStrip);
      }
  }

  void run() {
    find_row_words();
    if (p_.rank == 1) return emit_row();
    for (std::int64_t strip = e_.first_strip; strip < e_.end_strip; strip = group_.end) {
      group_ = {strip, std::min(strip + e_.group_strips(), e_.end_strip)};
      if (e_.buffered && near_group()) continue;
      for (int axis = last() - 1; axis >= 0; --axis) pass(axis);
    }
  }

 private:
  int last() const { return p_.rank - 1; }
  ClassWords class_words() const {
    return {memory_.pinned, memory_.background, memory_.changes, e_.first_strip, e_.runs()};
  }
  bool chessboard_search() const { return e_.index && p_.metric == Metric::chessboard; }
  /// Indices are carried through the passes; in the chessboard metric they are found at the end.
  bool carries_index() const { return e_.index && !chessboard_search(); }

  void find_row_words() {
    const bool periodic = p_.border[at_axis(last())] == Border::periodic;
    parallel_jobs(threads_, e_.row_jobs(), [&](int worker, std::int64_t job) {
      const std::int64_t begin = job * e_.rows_per_job, end = std::min(e_.rows, begin + e_.rows_per_job);
      PerAxis<std::int64_t> at = start_of_row(begin);
      for (std::int64_t row = begin; row < end; ++row, advance(at)) {
        if (e_.pins && find_background(row, element(at))) continue;
        make_row_words(classes_, element(at), p_.extent(last()), periodic, memory_.words + row * e_.strips, pinned(row),
                       memory_.lines[static_cast<std::size_t>(worker)].bits, monitor_);
        if (e_.starts) find_changes(row, at);
      }
      monitor_.advance((end - begin) * e_.strips);
    });
  }

  /// Fills what says where the row is background. True if nothing else of the row will be read, since it all is.
  bool find_background(std::int64_t row, const std::byte* start) const {
    std::uint32_t* words = pinned(row);
    classes_.background(start, p_.extent(last()), words);
    extend(words, p_.extent(last()));
    bool* background = memory_.background + row * e_.runs();
    std::uint32_t all = ~0u;
    for (std::int64_t strip = e_.first_strip; strip < e_.end_strip; strip += kStripsOfRun) {
      std::uint32_t run = ~0u;  // no way out early: one would be guessed wrong as a rule
      for (std::int64_t s = strip; s < std::min(strip + kStripsOfRun, e_.end_strip); ++s) run &= words[s];
      *background++ = run == ~0u;
      all &= run;
    }
    return e_.near && all == ~0u;
  }

  /// Makes what is behind the end of a row as its last element: lines that find other sites than their neighbours would
  /// keep those searching.
  static void extend(std::uint32_t* words, std::int64_t count) {
    const std::int64_t rest = count % kStrip;
    std::uint32_t& last = words[strips_of(count) - 1];
    if (rest && !(last >> (rest - 1) & 1)) last &= (1u << rest) - 1;
  }

  std::uint32_t* pinned(std::int64_t row) const { return e_.pins ? memory_.pinned + row * e_.strips : nullptr; }

  PerAxis<std::int64_t> start_of_row(std::int64_t row) const {
    PerAxis<std::int64_t> at{};
    for (int k = last() - 1; k >= 0; --k) {
      at[at_axis(k)] = row % p_.extent(k);
      row /= p_.extent(k);
    }
    return at;
  }
  void advance(PerAxis<std::int64_t>& at) const {
    for (int k = last() - 1; k >= 0 && ++at[at_axis(k)] == p_.extent(k); --k) at[at_axis(k)] = 0;
  }
  const std::byte* element(const PerAxis<std::int64_t>& at) const { return p_.input.data() + offset_of(p_.input, at); }

  /// Where the row's elements are of other classes than those before them along the slower axes.
  void find_changes(std::int64_t row, PerAxis<std::int64_t> at) const {
    const std::byte* start = element(at);
    for (int k = 0; k < last(); ++k) {
      std::uint32_t* words = memory_.changes[at_axis(k)] + row * e_.strips;
      std::int64_t& here = at[at_axis(k)];
      const std::int64_t own = here;
      if (own > 0) here = own - 1;
      else if (p_.border[at_axis(k)] == Border::periodic) here = p_.extent(k) - 1;
      if (here == own) std::fill_n(words, e_.strips, 0u);
      else if (e_.pins) classes_.touching(start, element(at), pinned(row), p_.extent(last()), words);
      else classes_.differing(element(at), start, p_.extent(last()), words);
      here = own;
    }
  }

  /// One axis: the row words are the answer.
  void emit_row() {
    parallel_jobs(execution_, threads_, e_.region_strips(), [&](int, std::int64_t job) {
      alignas(64) V values[kStrip];
      IndexOf<V> index[kStrip];
      const std::int64_t x0 = (e_.first_strip + job) * kStrip;
      values_in_row(0, e_.first_strip + job, 0, values, e_.index ? index : nullptr);
      PerAxis<std::int64_t> at{};
      at[0] = std::max(p_.range(0).begin, x0);
      const std::int64_t skip = at[0] - x0, end = std::min(p_.range(0).end, x0 + kStrip);
      emitter_.emit(at, static_cast<int>(end - at[0]), values + skip, e_.index ? index + skip : nullptr);
      emitter_.finish();
    });
  }

  void values_in_row(std::int64_t row_number, std::int64_t strip, std::int64_t pitch, V* values,
                     IndexOf<V>* index) const {
    const std::int64_t at = row_number * e_.strips + strip;
    if (skipped(at)) return fill_groups(values, pitch);
    const Row row{.x0 = strip * kStrip,
                  .extent = p_.extent(last()),
                  .changes = classes_.boundaries(),
                  .euclidean = p_.metric == Metric::euclidean,
                  .pinned = e_.pins ? memory_.pinned[at] : 0,
                  .pitch = pitch};
    row_values(memory_.words[at], row, axis_cost<V>(p_, last()).weight, values, index, set_);
  }

  /// Whether all of a strip is background, so that find_row_words() may have left its words alone.
  bool skipped(std::int64_t word) const { return e_.near && e_.pins && memory_.pinned[word] == ~0u; }

  void fill_groups(V* values, std::int64_t pitch) const {
    for (int g = 0; g * lanes_ < kStrip; ++g) std::fill_n(values + g * (pitch ? pitch : lanes_), lanes_, V{0});
  }

  void pass(int axis) {
    parallel_jobs(threads_, count_lines(p_, axis, group_, p_.region), [&](int worker, std::int64_t job) {
      const Lines lines = lines_of(p_, axis, group_, p_.region, job);
      if (e_.buffered || !near_run(lines, worker)) run_lines(lines, memory_.lines[static_cast<std::size_t>(worker)]);
      monitor_.advance((p_.extent(axis) - rows_told(axis)) * lines.strips);
    });
  }

  /// Rows of which emit() tells one by one: those of a search may take seconds together.
  std::int64_t rows_told(int axis) const { return chessboard_search() && axis == 0 ? p_.region_extent(0) : 0; }

  void run_lines(const Lines& lines, LineScratch<V>& scratch) {
    if (e_.starts) load_changes(lines, scratch);
    for (int k = 0; k < lines.strips; ++k) {
      monitor_.advance(0);
      run_strip(lines, k, scratch);
    }
    lines.axis == 0 ? emit(lines, scratch) : save(lines, scratch);
  }

  /// Whether another attempt in 16 bits is likely to succeed. Results do not depend on it.
  bool near_is_likely() const { return near_ && near_failures_.load(std::memory_order_relaxed) < kNearPatience; }
  bool count_near(bool succeeded) {
    near_failures_.fetch_add(succeeded ? -1 : 1, std::memory_order_relaxed);
    return succeeded;
  }

  /// Two axes: tries one run of lines in 16 bits.
  bool near_run(const Lines& lines, int worker) {
    return near_is_likely() && count_near(near_->run_lines(lines, group_, p_.region, true, worker));
  }

  /// Three axes or more: tries all passes over the group in 16 bits; first, unless groups have gone well, a few rows of
  /// each plane, to fail early.
  bool near_group() {
    if (!near_is_likely()) return false;
    PerAxis<Range> sample = p_.region;
    for (int k = 1; k < last(); ++k) {
      Range& range = sample[at_axis(k)];
      range.begin += (range.end - range.begin) / 2;
      range.end = std::min(range.end, range.begin + kNearTargets);
    }
    const bool proven = near_failures_.load(std::memory_order_relaxed) < 0;
    if (!count_near((proven || near_passes(sample, false)) && near_passes(p_.region, true))) return false;
    monitor_.advance(e_.rows * last() * group_.count());
    return true;
  }

  bool near_passes(const PerAxis<Range>& targets, bool writes) {
    std::atomic<bool> near{true};
    for (int axis = last() - 1; axis >= 0 && near; --axis)
      parallel_jobs(threads_, count_lines(p_, axis, group_, targets), [&](int worker, std::int64_t job) {
        if (!near.load(std::memory_order_relaxed)) return;
        const Lines lines = lines_of(p_, axis, group_, targets, job);
        if (!near_->run_lines(lines, group_, targets, writes, worker)) near = false;
        monitor_.advance(0);
      });
    return near;
  }

  /// The pass along 32 of the lines: those of strip lines.strip + k.
  void run_strip(const Lines& run, int k, LineScratch<V>& s) {
    Lines lines = run;
    lines.strip += k;
    lines.at[at_axis(last())] += k * kStrip;
    const int axis = lines.axis;
    load(lines, s);
    if (e_.starts) find_starts(lines, k, s);
    Column<V> column;
    column.sources = sources_of(p_, axis);
    column.first_target = halo_of(p_, axis) + p_.range(axis).begin;
    column.targets = p_.region_extent(axis);
    column.cost = memory_.cost[at_axis(axis)] + most_steps(p_, axis);
    column.cap = cap_;
    column.euclidean = p_.metric == Metric::euclidean;
    column.chessboard = p_.metric == Metric::chessboard;
    column.source = s.source;
    column.site = wants_sites(axis) ? s.site : nullptr;
    column.bounds = s.bounds;
    column.candidates = s.candidates;
    column.far = s.far;
    column.start = e_.starts ? s.start : nullptr;
    column.start_site = s.start_site;
    column.pitch = kRun;
    column.result = s.result + k * kStrip;
    column.found = s.found + k * kStrip;
    column_pass(column, set_);
  }

  /// Whether the pass looks for sites: for their indices, or for their coordinates along the slowest axis alone.
  bool wants_sites(int axis) const { return carries_index() || (chessboard_search() && axis == 0); }

  /// From an element to its neighbour, in what the pass calls sites by.
  std::int64_t site_step(int axis) const {
    if (carries_index()) return p_.index_step[at_axis(axis)];
    return axis == 0 ? 1 : 0;
  }

  V* buffered_values(const Lines& lines, std::int64_t y) const {
    const std::int64_t row = lines.row + y * lines.row_step;
    return memory_.values + (row * e_.group_strips() + lines.strip - group_.begin) * kStrip;
  }
  IndexOf<V>* buffered_index(const Lines& lines, std::int64_t y) const {
    return memory_.index + (buffered_values(lines, y) - memory_.values);
  }

  /// Brings the values (and sites) of all sources into the scratch.
  void load(const Lines& lines, LineScratch<V>& s) const {
    const bool from_words = lines.axis == last() - 1;
    const std::int64_t extent = p_.extent(lines.axis), halo = halo_of(p_, lines.axis);
    const std::int64_t pitch = source_pitch(lines.axis);
    IndexOf<V> in_row[kStrip] = {};
    for (std::int64_t y = 0; y < extent; ++y) {
      const std::int64_t at = source_row(lines.axis, y + halo), offset = y * site_step(lines.axis);
      if (from_words) {
        IndexOf<V>* const index = carries_index() ? in_row : nullptr;
        values_in_row(lines.row + y * lines.row_step, lines.strip, pitch, s.source + at, index);
        if (wants_sites(lines.axis)) number_sites(in_row, site_step(last()), offset, pitch, s.site + at);
      } else {
        if (y + kRowsAhead < extent) {
          prefetch(buffered_values(lines, y + kRowsAhead), kStrip * sizeof(V));
          if (carries_index()) prefetch(buffered_index(lines, y + kRowsAhead), kStrip * sizeof(IndexOf<V>));
        }
        copy_groups(buffered_values(lines, y), lanes_, s.source + at, pitch);
        const IndexOf<V>* const index = carries_index() ? buffered_index(lines, y) : in_row;
        if (wants_sites(lines.axis)) number_sites(index, 1, offset, pitch, s.site + at);
      }
    }
    wrap(lines.axis, s.source);
    if (wants_sites(lines.axis)) wrap(lines.axis, s.site);
  }

  /// Calls the sites behind 32 sources: `in_row` · row_step + offset.
  void number_sites(const IndexOf<V>* in_row, std::int64_t row_step, std::int64_t offset, std::int64_t pitch,
                    V* site) const {
    for (int g = 0; g * lanes_ < kStrip; ++g, in_row += lanes_, site += pitch)
      for (int i = 0; i < lanes_; ++i) site[i] = index_at<V>(offset, in_row[i], row_step);
  }

  /// Repeats what lies within half a period on the other side.
  void wrap(int axis, V* rows) const {
    const std::int64_t extent = p_.extent(axis), halo = halo_of(p_, axis), pitch = source_pitch(axis);
    for (std::int64_t y = 0; y < halo; ++y) {
      copy_groups(rows + source_row(axis, extent + y), pitch, rows + source_row(axis, y), pitch);
      copy_groups(rows + source_row(axis, halo + y), pitch, rows + source_row(axis, halo + extent + y), pitch);
    }
  }

  /// Values between the groups of a row of sources.
  std::int64_t source_pitch(int axis) const { return source_at(sources_of(p_, axis), lanes_, -kPad, lanes_); }
  std::int64_t source_row(int axis, std::int64_t row) const { return source_at(sources_of(p_, axis), lanes_, row, 0); }
  void copy_groups(const V* from, std::int64_t from_pitch, V* to, std::int64_t to_pitch) const {
    constexpr int kMost = 64 / static_cast<int>(sizeof(V));
    for (int g = 0; g * lanes_ < kStrip; ++g, from += from_pitch, to += to_pitch)
      lanes_ == kMost ? std::copy_n(from, kMost, to) : std::copy_n(from, lanes_, to);
  }

  /// Where the class changes along the lines.
  void load_changes(const Lines& lines, LineScratch<V>& s) const {
    for (std::int64_t y = 0; y < p_.extent(lines.axis); ++y) {
      const std::int64_t from = (lines.row + y * lines.row_step) * e_.strips + lines.strip, to = y * kStripsOfRun;
      for (int k = 0; k < lines.strips; ++k)
        s.changes[to + k] = skipped(from + k) ? 0 : memory_.changes[at_axis(lines.axis)][from + k];
      if (e_.pins) std::copy_n(memory_.pinned + from, lines.strips, s.pinned + to);
    }
  }

  /// Distances to the ends of the runs of equal classes along the axis.
  void find_starts(const Lines& lines, int k, LineScratch<V>& s) const {
    Runs runs{.changes = s.changes + k,
              .pinned = e_.pins ? s.pinned + k : nullptr,
              .pitch = kStripsOfRun,
              .extent = p_.extent(lines.axis),
              .periodic = p_.border[at_axis(lines.axis)] == Border::periodic,
              .targets = p_.range(lines.axis),
              .euclidean = p_.metric == Metric::euclidean,
              .line_step = site_step(last()),
              .step = site_step(lines.axis)};
    for (int j = lines.axis + 1; j < p_.rank; ++j) runs.first_site += lines.at[at_axis(j)] * site_step(j);
    line_starts<V>(runs, axis_cost<V>(p_, lines.axis).weight, s.steps, wants_sites(lines.axis) ? s.run_end : nullptr,
                   s.start, s.start_site, set_);
  }

  void save(const Lines& lines, LineScratch<V>& s) const {
    const Range& range = p_.range(lines.axis);
    for (std::int64_t y = range.begin; y < range.end; ++y) {
      const std::int64_t t = (y - range.begin) * kRun;
      std::copy_n(s.result + t, lines.strips * kStrip, buffered_values(lines, y));
      if (carries_index()) std::copy_n(s.found + t, lines.strips * kStrip, buffered_index(lines, y));
    }
  }

  void emit(const Lines& lines, LineScratch<V>& s) {
    const Range& range = p_.range(lines.axis);
    const Range& row = p_.range(last());
    const std::int64_t x0 = lines.strip * kStrip;
    const std::int64_t begin = std::max(row.begin, x0), end = std::min(row.end, x0 + lines.strips * kStrip);
    const int count = static_cast<int>(end - begin);
    PerAxis<std::int64_t> at = lines.at;
    at[at_axis(last())] = begin;
    IndexOf<V> index[kRun];
    for (std::int64_t y = range.begin; y < range.end; ++y) {
      at[at_axis(lines.axis)] = y;
      const std::int64_t t = (y - range.begin) * kRun + begin - x0;
      if (chessboard_search()) search_nearest(at, count, s.result + t, s.found + t, index);
      else if (e_.index) std::copy_n(s.found + t, count, index);
      emitter_.emit(at, count, s.result + t, e_.index ? index : nullptr);
      if (rows_told(lines.axis) > 0) monitor_.advance(lines.strips);
    }
    emitter_.finish();
  }

  void search_nearest(PerAxis<std::int64_t> at, int count, const V* values, const V* coordinate,
                      IndexOf<V>* index) const {
    const auto boxes = chessboard_boxes<V>(p_);
    for (int i = 0; i < count; ++i, ++at[at_axis(last())]) {
      index[i] = -1;
      if (values[i] >= cap_) continue;
      const std::byte* own = p_.input.data() + offset_of(p_.input, at);
      const std::int64_t site = boxes.find(
          at.data(), values[i], static_cast<std::int64_t>(coordinate[i]),
          [&](const std::int64_t* here, std::int64_t row, std::int64_t x, std::int64_t end) {
            const RowWord* words = memory_.words + row * strips_of(p_.extent(last()));
            return first_site_in_row(
                x, end, p_.extent(last()), [&](std::int64_t c) { return words[c / kStrip]; },
                [&](std::int64_t c) { return is_site_of(own, here, c, words[c / kStrip].bits >> (c % kStrip) & 1); });
          });
      if (site < 0) throw InternalError("a chessboard distance has no site");
      index[i] = static_cast<IndexOf<V>>(site);
    }
  }
  /// Whether the element at x of a row is what one looks for. @param here  the row
  bool is_site_of(const std::byte* own, const std::int64_t* here, std::int64_t x, bool is_marked) const {
    if (!classes_.boundaries()) return is_marked;
    PerAxis<std::int64_t> to{};
    std::copy_n(here, last(), to.begin());
    to[at_axis(last())] = x;
    const std::byte* other = p_.input.data() + offset_of(p_.input, to);
    // Where label 0 is pinned, an element with distance 0 finds itself.
    if (own == other) return classes_.pins() && classes_.is_background(own);
    return classes_.differ(own, other);
  }

  const Problem& p_;
  const Extents e_;
  const InstructionSet set_;
  const int threads_;
  const int lanes_;
  const Classes classes_;
  const Emitter<V> emitter_;
  const V cap_;
  const Execution& execution_;
  Monitor monitor_;
  Memory<V> memory_;
  StripRange group_;  ///< at hand

  static constexpr int kNearPatience = 2;
  std::optional<NearEngine> near_;
  std::atomic<int> near_failures_{0};  ///< less successes
};

}  // namespace
}  // namespace general

std::size_t general_scratch_bytes(const Problem& problem, InstructionSet, int threads) {
  return with_value_type(problem, [&](auto tag) {
    general::Memory<typename decltype(tag)::type> memory;
    return memory.take(nullptr, problem, general::Extents(problem), threads);
  });
}

void general_transform(const Problem& problem, InstructionSet instruction_set, int threads, std::byte* scratch,
                       const Execution& execution) {
  with_value_type(problem, [&](auto tag) {
    general::Transform<typename decltype(tag)::type>(problem, instruction_set, threads, scratch, execution).run();
    return 0;
  });
}

}  // namespace fathom::grid::cpu
