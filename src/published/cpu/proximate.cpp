// Proximate points on the CPU: see proximate.hd.h. As published, in the access mode HV-HV, each of k threads with its
// share of the lines (Corollary 3.2): step 1 along rows, which a processor reads best, written as columns, and once
// more.
#include <vector>

#include "core/parallel.h"
#include "published/cpu/algorithms.h"
#include "published/proximate.hd.h"

namespace fathom::published::cpu {

Phases proximate(const Problem& problem) {
  const Places& p = problem.places;
  const Mode mode = mode_of(Access::hv_hv, p.width, p.height);
  std::vector<std::int16_t> found(static_cast<std::size_t>(p.size())),
      stacks(static_cast<std::size_t>(problem.threads) * static_cast<std::size_t>(p.height));
  Phases phases;
  timed(phases, "step 1", [&] {
    parallel_jobs(problem.options.execution, problem.threads, p.height,
                  [&](int, std::int64_t row) { find_in_line(problem.mask, mode.first, row, p.width, found.data()); });
  });
  timed(phases, "step 2", [&] {
    parallel_jobs(problem.options.execution, problem.threads, p.width, [&](int worker, std::int64_t column) {
      std::int16_t* const stack = stacks.data() + static_cast<std::int64_t>(worker) * p.height;
      find_proximate(found.data(), mode.second, column, p.height, stack, 1,
                     [&](std::int64_t at, int along, int beside) {
                       problem.nearest[at] = site_of(p, mode.columns_first, along, beside);
                     });
    });
  });
  return phases;
}

}  // namespace fathom::published::cpu
