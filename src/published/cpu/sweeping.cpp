// Sweeps of vectors on the CPU: see flooding.hd.h. A line (slice) after the other; its elements are shared by threads.
#include <algorithm>

#include "core/parallel.h"
#include "fathom/core/error.h"
#include "published/cpu/algorithms.h"
#include "published/flooding.hd.h"

namespace fathom::published::cpu {

namespace {

constexpr std::int64_t kElementsOfJob = 4096;

void sweep_line(const Problem& problem, Sweep sweep, int at) {
  if (problem.options.execution.stop.stop_requested()) throw Cancelled();
  const Places& p = problem.places;
  const std::int64_t count = p.size() / extent(p, sweep.axis);
  const auto look_at = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t number = begin; number < end; ++number) {
      const Point one = element(p, sweep.axis, at, number);
      problem.nearest[p.index(one)] = swept(p, problem.nearest, one, sweep);
    }
  };
  if (count <= kElementsOfJob) return look_at(0, count);
  parallel_jobs(problem.threads, (count + kElementsOfJob - 1) / kElementsOfJob, [&](int, std::int64_t job) {
    look_at(job * kElementsOfJob, std::min((job + 1) * kElementsOfJob, count));
  });
}

}  // namespace

Phases sweeping(const Problem& problem) {
  Phases phases;
  place_sites(problem, problem.nearest);
  for (Axis axis : {kZ, kY, kX}) {
    const int lines = extent(problem.places, axis);
    if (axis == kZ && !problem.is_volume()) continue;
    timed(phases,
          axis == kX   ? "sweeps along x"
          : axis == kY ? "sweeps along y"
                       : "sweeps along z",
          [&] {
            for (int line = 1; line < lines; ++line) sweep_line(problem, {axis, 1}, line);
            for (int line = lines - 2; line >= 0; --line) sweep_line(problem, {axis, -1}, line);
          });
  }
  return phases;
}

}  // namespace fathom::published::cpu
