#include "grid/cpu/near_engine.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "grid/cpu/prefetch.h"
#include "grid/metric.h"

namespace fathom::grid::cpu {

namespace {

std::size_t at_axis(int k) { return static_cast<std::size_t>(k); }

std::int64_t weight_of(const Problem& p, int axis) { return axis_cost<std::int64_t>(p, axis).weight; }

/// Largest value to keep: what 16 bits hold, and no more than a window can reach. For three axes or more the passes
/// between do not know which of their results are far for good, and search as far as the window goes: it must be short.
std::int64_t cap_of(const Problem& p) {
  const std::int64_t reach = p.rank > 2 ? 63 : kMostNear;
  std::int64_t cap =
      std::min<std::int64_t>(kNotNear, weight_of(p, p.rank - 1) * (kMostInRow + 1) * (kMostInRow + 1)) - 1;
  for (int k = 0; k + 1 < p.rank; ++k) cap = std::min(cap, weight_of(p, k) * (reach + 1) * (reach + 1) - 1);
  return std::min<std::int64_t>(cap, largest_kept<std::int32_t>(p));
}

}  // namespace

bool NearEngine::serves(const Problem& p) {
  if (p.metric != Metric::euclidean || p.rank < 2 || wants_site(p)) return false;
  if (value_kind(p) != ValueKind::i32) return false;
  for (int k = 0; k + 1 < p.rank; ++k)
    if (p.border[at_axis(k)] == Border::periodic) return false;
  return true;
}

NearEngine::NearEngine(const Problem& problem, const Classes& classes, const Emitter<std::int32_t>& emitter,
                       InstructionSet instruction_set)
    : p_(problem),
      classes_(classes),
      emitter_(emitter),
      set_(instruction_set),
      row_strips_(strips_of(problem.extent(problem.rank - 1))) {
  const std::int64_t cap = cap_of(problem);
  cap_ = static_cast<std::uint16_t>(cap);
  complete_ = largest_kept<std::int32_t>(problem) <= cap;
  const auto reach_of = [&](int k, std::int64_t most) {
    int reach = 0;
    while (reach < most && weight_of(problem, k) * (reach + 1) * (reach + 1) <= cap) ++reach;
    return reach;
  };
  const int last = problem.rank - 1;
  for (int k = 0; k < last; ++k) {
    reach_[at_axis(k)] = reach_of(k, kMostNear);
    for (std::int64_t i = 0; i <= reach_[at_axis(k)] + 1; ++i)
      cost_[at_axis(k)].push_back(
          static_cast<std::uint16_t>(std::min<std::int64_t>(weight_of(problem, k) * i * i, kNotNear)));
  }
  row_.row = {.extent = problem.extent(last), .changes = classes.boundaries()};
  row_.weight = static_cast<std::uint16_t>(weight_of(problem, last));
  row_.reach = reach_of(last, kMostInRow);
}

void NearEngine::Worker::take(Arena& scratch, std::int64_t longest, bool boundaries) {
  rows = scratch.take<std::uint16_t>((longest + 2 * kNearPad) * kRun);
  steps = scratch.take<std::uint8_t>(boundaries ? (longest + kNearTargets) * kRun : 0);
  changes = scratch.take<std::uint32_t>(boundaries ? longest * kStripsOfRun + 2 : 0);
  background = scratch.take<bool>(longest);
  block = scratch.take<std::uint16_t>(kNearTargets * kRun);
}

void NearEngine::use(const RowWord* words, const ClassWords& classes, std::vector<Worker> workers,
                     std::uint16_t* buffer, std::int64_t buffer_pitch) {
  words_ = words;
  class_words_ = classes;
  workers_ = std::move(workers);
  buffer_ = buffer;
  buffer_pitch_ = buffer_pitch;
}

bool NearEngine::run_lines(const Lines& lines, const StripRange& strips, const PerAxis<Range>& all_targets, bool writes,
                           int worker_number) {
  const Worker& worker = workers_[static_cast<std::size_t>(worker_number)];
  const Range& targets = all_targets[at_axis(lines.axis)];
  // Nothing farther than the window matters.
  const std::int64_t reach = reach_[at_axis(lines.axis)] + 1;
  const Range rows{std::max<std::int64_t>(0, targets.begin - reach),
                   std::min(p_.extent(lines.axis), targets.end + reach)};
  NearColumn column = column_of(lines, rows, worker);
  find_background(lines, rows, worker.background);
  const auto background = [&](std::int64_t begin, std::int64_t end) {
    return std::all_of(worker.background + begin - rows.begin, worker.background + end - rows.begin, std::identity());
  };
  if (!background(rows.begin, rows.end)) {
    load(lines, strips, rows, worker);
    if (classes_.boundaries() && find_run_ends(lines, rows, worker)) column.steps = worker.steps;
  }
  const bool last = lines.axis == 0;
  for (std::int64_t y = targets.begin; y < targets.end; y += kNearTargets) {
    const int count = static_cast<int>(std::min<std::int64_t>(kNearTargets, targets.end - y));
    if (!background(y, y + count)) {
      const NearResults results{last ? worker.block : buffered(lines, strips, y),
                                last ? kRun : lines.row_step * buffer_pitch_, count};
      if (!near_pass(column, y - rows.begin, results, set_) && last && !complete_) return false;
    } else if (last) {
      std::fill_n(worker.block, kNearTargets * kRun, std::uint16_t{0});
    }
    if (last && writes) emit(lines, y, count, worker.block);
  }
  if (writes && lines.axis == 0) emitter_.finish();
  return true;
}

NearColumn NearEngine::column_of(const Lines& lines, const Range& rows, const Worker& worker) const {
  return {.rows = rows.end - rows.begin,
          .source = worker.rows + kNearPad * kRun,
          .cost = cost_[at_axis(lines.axis)].data(),
          .reach = reach_[at_axis(lines.axis)],
          .vectors = lines.strips * kStrip,
          .cap = cap_};
}

std::uint16_t* NearEngine::buffered(const Lines& lines, const StripRange& strips, std::int64_t y) const {
  return buffer_ + (lines.row + y * lines.row_step) * buffer_pitch_ + (lines.strip - strips.begin) * kStrip;
}

/// Which rows of the lines are all background: their values are 0 before and after every pass.
void NearEngine::find_background(const Lines& lines, const Range& rows, bool* background) const {
  std::fill_n(background, rows.end - rows.begin, false);
  if (!class_words_.background) return;
  const bool* run = class_words_.background + (lines.strip - class_words_.first_strip) / kStripsOfRun;
  for (std::int64_t y = rows.begin; y < rows.end; ++y)
    background[y - rows.begin] = run[(lines.row + y * lines.row_step) * class_words_.runs];
}

void NearEngine::load(const Lines& lines, const StripRange& strips, const Range& rows, const Worker& worker) const {
  const bool from_words = lines.axis == p_.rank - 2;
  NearRow row = row_;
  row.row.x0 = lines.strip * kStrip;
  std::uint16_t* source = worker.rows + kNearPad * kRun;
  for (std::int64_t y = rows.begin; y < rows.end; ++y, source += kRun) {
    const std::int64_t ahead = std::min(y + kRowsAhead, rows.end - 1);
    if (!from_words && !worker.background[ahead - rows.begin])
      prefetch(buffered(lines, strips, ahead), lines.strips * kStrip * 2);
    if (worker.background[y - rows.begin]) {
      std::fill_n(source, kRun, std::uint16_t{0});
      continue;
    }
    if (from_words) {
      const std::int64_t at = word(lines, y);
      near_row_values(words_ + at, class_words_.pinned ? class_words_.pinned + at : nullptr, lines.strips, row, source,
                      set_);
    } else {
      std::copy_n(buffered(lines, strips, y), lines.strips * kStrip, source);
    }
    std::fill(source + lines.strips * kStrip, source + kRun, std::uint16_t{0});
  }
}

/// Finds the steps to the ends of runs. False if there are none, but where background ends them, which is a source.
bool NearEngine::find_run_ends(const Lines& lines, const Range& rows, const Worker& worker) const {
  const std::uint32_t* all_changes = class_words_.changes[at_axis(lines.axis)];
  std::uint32_t any = 0;
  std::fill_n(worker.changes, (rows.end - rows.begin) * kStripsOfRun, 0u);
  for (std::int64_t y = rows.begin + 1; y < rows.end; ++y) {
    if (worker.background[y - rows.begin]) continue;
    std::uint32_t* changes = worker.changes + (y - rows.begin) * kStripsOfRun;
    std::copy_n(all_changes + word(lines, y), lines.strips, changes);
    for (int k = 0; k < lines.strips; ++k) any |= changes[k];
  }
  if (any) near_run_ends(worker.changes, rows.end - rows.begin, worker.steps, set_);
  return any != 0;
}

void NearEngine::emit(const Lines& lines, std::int64_t y, int rows, const std::uint16_t* block) const {
  const Range& row = p_.range(p_.rank - 1);
  const std::int64_t x0 = lines.strip * kStrip;
  const std::int64_t begin = std::max(row.begin, x0), end = std::min(row.end, x0 + lines.strips * kStrip);
  PerAxis<std::int64_t> at = lines.at;
  at[at_axis(p_.rank - 1)] = begin;
  at[0] = y;
  emitter_.emit(at, rows, static_cast<int>(end - begin), block + (begin - x0));
}

}  // namespace fathom::grid::cpu
