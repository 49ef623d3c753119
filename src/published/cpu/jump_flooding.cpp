// Jump flooding on the CPU: see flooding.hd.h. A job is a row.
#include <algorithm>
#include <utility>
#include <vector>

#include "core/parallel.h"
#include "published/cpu/algorithms.h"
#include "published/flooding.hd.h"

namespace fathom::published::cpu {

Phases jump_flooding(const Problem& problem) {
  const Places& p = problem.places;
  std::vector<std::uint32_t> buffer(static_cast<std::size_t>(p.size()));
  std::uint32_t *known = problem.nearest, *next = buffer.data();
  Phases phases;
  place_sites(problem, known);
  const auto round = [&](int step) {
    parallel_jobs(problem.options.execution, problem.threads, std::int64_t{p.depth} * p.height,
                  [&](int, std::int64_t row) {
                    for (std::int64_t at = row * p.width; at < (row + 1) * p.width; ++at)
                      next[at] = flooded(p, known, p.point(at), step);
                  });
    std::swap(known, next);
  };
  timed(phases, "rounds", [&] {
    for (int step = first_step(p); step > 0; step /= 2) round(step);
  });
  if (problem.options.more_rounds > 0)
    timed(phases, "more rounds", [&] {
      for (int step = 1 << (problem.options.more_rounds - 1); step > 0; step /= 2) round(step);
    });
  if (known != problem.nearest) std::copy(buffer.begin(), buffer.end(), problem.nearest);
  return phases;
}

}  // namespace fathom::published::cpu
