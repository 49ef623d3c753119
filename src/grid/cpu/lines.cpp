#include "grid/cpu/lines.h"

#include <algorithm>

namespace fathom::grid::cpu {

namespace {

/// Coordinates along axis k that lines along `axis` pass through.
Range passed(const Problem& p, int axis, const PerAxis<Range>& targets, int k) {
  return k < axis ? Range{0, p.extent(k)} : targets[static_cast<std::size_t>(k)];
}

}  // namespace

std::int64_t count_lines(const Problem& p, int axis, const StripRange& strips, const PerAxis<Range>& targets) {
  std::int64_t jobs = strips.runs();
  for (int k = 0; k < p.rank - 1; ++k) {
    const Range range = passed(p, axis, targets, k);
    if (k != axis) jobs *= range.end - range.begin;
  }
  return jobs;
}

Lines lines_of(const Problem& p, int axis, const StripRange& strips, const PerAxis<Range>& targets, std::int64_t job) {
  Lines lines{.axis = axis, .at = {}, .strip = strips.begin, .strips = 0, .row = 0, .row_step = 1};
  lines.strip += job % strips.runs() * kStripsOfRun;
  lines.strips = static_cast<int>(std::min<std::int64_t>(kStripsOfRun, strips.end - lines.strip));
  lines.at[static_cast<std::size_t>(p.rank - 1)] = lines.strip * kStrip;
  job /= strips.runs();
  std::int64_t rows = 1;
  for (int k = p.rank - 2; k >= 0; --k) {
    if (k == axis) {
      lines.row_step = rows;
    } else {
      const Range range = passed(p, axis, targets, k);
      const std::int64_t at = range.begin + job % (range.end - range.begin);
      job /= range.end - range.begin;
      lines.at[static_cast<std::size_t>(k)] = at;
      lines.row += at * rows;
    }
    rows *= p.extent(k);
  }
  return lines;
}

}  // namespace fathom::grid::cpu
