#include "grid/cpu/near_engine.h"

#include <algorithm>
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
  std::int64_t cap = kNotNear - 1;
  for (int k = 0; k + 1 < p.rank; ++k) cap = std::min(cap, weight_of(p, k) * (reach + 1) * (reach + 1) - 1);
  return std::min<std::int64_t>(cap, largest_kept<std::int32_t>(p));
}

}  // namespace

bool NearEngine::serves(const Problem& p) {
  const DistanceOutputs& out = p.outputs;
  if (p.metric != Metric::euclidean || p.rank < 2 || out.nearest.present() || out.coordinates.present()) return false;
  if (value_kind(p) != ValueKind::i32) return false;
  for (int k = 0; k + 1 < p.rank; ++k)
    if (p.border[at_axis(k)] == Border::periodic) return false;
  return true;
}

NearEngine::NearEngine(const Problem& problem, const Classes& classes, const Emitter<std::int32_t>& emitter,
                       InstructionSet instruction_set)
    : p_(problem), classes_(classes), emitter_(emitter), set_(instruction_set) {
  const std::int64_t cap = cap_of(problem);
  cap_ = static_cast<std::uint16_t>(cap);
  complete_ = largest_kept<std::int32_t>(problem) <= cap;
  const auto reach_of = [&](int k, int most) {
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
  row_.reach = reach_of(last, 255);
}

void NearEngine::Worker::take(Arena& scratch, std::int64_t longest, bool boundaries) {
  rows = scratch.take<std::uint16_t>((longest + 2 * kNearPad) * kRun);
  steps = scratch.take<std::uint8_t>(boundaries ? (longest + kNearTargets) * kRun : 0);
  block = scratch.take<std::uint16_t>(kNearTargets * kRun);
}

void NearEngine::use(const RowWord* words, std::vector<Worker> workers, std::uint16_t* buffer,
                     std::int64_t buffer_pitch) {
  words_ = words;
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
  load(lines, strips, rows, column.source);
  const bool background = classes_.pins() && all_zero(column.source, column.rows * kRun, set_);
  if (background) std::fill_n(worker.block, kNearTargets * kRun, std::uint16_t{0});
  else if (column.steps) find_run_ends(lines, rows, worker.steps);
  for (std::int64_t y = targets.begin; y < targets.end; y += kNearTargets) {
    const int count = static_cast<int>(std::min<std::int64_t>(kNearTargets, targets.end - y));
    const bool near = background || near_pass(column, y - rows.begin, worker.block, set_);
    if (lines.axis > 0) save(lines, strips, y, count, worker.block);
    else if (!near && !complete_) return false;
    else if (writes) emit(lines, y, count, worker.block);
  }
  if (writes && lines.axis == 0) emitter_.finish();
  return true;
}

NearColumn NearEngine::column_of(const Lines& lines, const Range& rows, const Worker& worker) const {
  return {.rows = rows.end - rows.begin,
          .source = worker.rows + kNearPad * kRun,
          .steps = classes_.boundaries() ? worker.steps : nullptr,
          .cost = cost_[at_axis(lines.axis)].data(),
          .reach = reach_[at_axis(lines.axis)],
          .vectors = lines.strips * kStrip,
          .cap = cap_};
}

std::uint16_t* NearEngine::buffered(const Lines& lines, const StripRange& strips, std::int64_t y) const {
  return buffer_ + (lines.row + y * lines.row_step) * buffer_pitch_ + (lines.strip - strips.begin) * kStrip;
}

void NearEngine::load(const Lines& lines, const StripRange& strips, const Range& rows, std::uint16_t* source) const {
  const std::int64_t row_strips = strips_of(p_.extent(p_.rank - 1));
  NearRow row = row_;
  row.row.x0 = lines.strip * kStrip;
  for (std::int64_t y = rows.begin; y < rows.end; ++y, source += kRun) {
    if (lines.axis == p_.rank - 2) {
      near_row_values(words_ + (lines.row + y * lines.row_step) * row_strips + lines.strip, lines.strips, row, source,
                      set_);
    } else {
      if (y + kRowsAhead < rows.end) prefetch(buffered(lines, strips, y + kRowsAhead), lines.strips * kStrip * 2);
      std::copy_n(buffered(lines, strips, y), lines.strips * kStrip, source);
    }
    std::fill(source + lines.strips * kStrip, source + kRun, std::uint16_t{0});
  }
}

void NearEngine::find_run_ends(const Lines& lines, const Range& rows, std::uint8_t* steps) const {
  const auto stride = p_.input.strides()[lines.axis] * static_cast<std::int64_t>(size_of(p_.input.dtype()));
  const auto count = std::min<std::int64_t>(kRun, p_.extent(p_.rank - 1) - lines.strip * kStrip);
  const std::byte* row = p_.input.data() + offset_of(p_.input, lines.at) + rows.begin * stride;
  const std::int64_t end = rows.end - rows.begin;
  if (count < kRun) std::fill_n(steps, end * kRun, std::uint8_t{0});
  std::fill_n(steps, kRun, std::uint8_t{0});
  const std::int64_t bytes = count * static_cast<std::int64_t>(size_of(p_.input.dtype()));
  for (std::int64_t y = 1; y < end; ++y) {
    if (y + kRowsAhead < end) prefetch(row + (y + kRowsAhead) * stride, bytes);
    classes_.flag_differing(row + (y - 1) * stride, row + y * stride, count, steps + y * kRun);
  }
  near_run_ends(steps, end, set_);
}

void NearEngine::save(const Lines& lines, const StripRange& strips, std::int64_t y, int rows,
                      const std::uint16_t* block) const {
  for (int r = 0; r < rows; ++r) std::copy_n(block + r * kRun, lines.strips * kStrip, buffered(lines, strips, y + r));
}

void NearEngine::emit(const Lines& lines, std::int64_t y, int rows, const std::uint16_t* block) const {
  const Range& row = p_.range(p_.rank - 1);
  const std::int64_t x0 = lines.strip * kStrip;
  const std::int64_t begin = std::max(row.begin, x0), end = std::min(row.end, x0 + lines.strips * kStrip);
  PerAxis<std::int64_t> at = lines.at;
  at[at_axis(p_.rank - 1)] = begin;
  alignas(64) std::int32_t values[kRun];
  for (int r = 0; r < rows; ++r) {
    at[0] = y + r;
    const int count = static_cast<int>(end - begin);
    widen(block + r * kRun + (begin - x0), count, values, set_);
    emitter_.emit(at, count, values, nullptr);
  }
}

}  // namespace fathom::grid::cpu
