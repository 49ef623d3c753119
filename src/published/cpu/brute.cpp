// Brute force on the CPU: every element against every site. A job is a row. Cost: O(N · sites).
// Of equally near sites the first wins, which is the one with the lowest index, as everywhere else in Fathom.
#include <algorithm>
#include <vector>

#include "core/parallel.h"
#include "published/cpu/algorithms.h"

namespace fathom::published::cpu {

void place_sites(const Problem& problem, std::uint32_t* places) {
  const Places& p = problem.places;
  parallel_jobs(problem.threads, std::int64_t{p.depth} * p.height, [&](int, std::int64_t row) {
    for (std::int64_t at = row * p.width; at < (row + 1) * p.width; ++at)
      places[at] = problem.mask[at] ? p.pack(p.point(at)) : kNone;
  });
}

Phases brute_force(const Problem& problem) {
  const Places& p = problem.places;
  Phases phases;
  std::vector<Point> sites;
  timed(phases, "listing sites", [&] {
    sites.reserve(static_cast<std::size_t>(std::count(problem.mask, problem.mask + p.size(), 1)));
    for (std::int64_t at = 0; at < p.size(); ++at)
      if (problem.mask[at]) sites.push_back(p.point(at));
  });
  timed(phases, "comparisons", [&] {
    parallel_jobs(problem.options.execution, problem.threads, std::int64_t{p.depth} * p.height,
                  [&](int, std::int64_t row) {
                    for (std::int64_t at = row * p.width; at < (row + 1) * p.width; ++at) {
                      const Point own = p.point(at);
                      const Point* best = nullptr;
                      for (const Point& site : sites)
                        if (!best || squared_distance(site, own) < squared_distance(*best, own)) best = &site;
                      problem.nearest[at] = best ? p.pack(*best) : kNone;
                    }
                  });
  });
  return phases;
}

std::size_t scratch_bytes(const Problem& problem) {
  const Places& p = problem.places;
  const auto all = static_cast<std::size_t>(p.size()), line = static_cast<std::size_t>(p.height);
  switch (problem.options.algorithm) {
    case Algorithm::pba: return pba_bytes(problem);
    case Algorithm::proximate: return (all + static_cast<std::size_t>(problem.threads) * line) * sizeof(std::int16_t);
    case Algorithm::jfa: return all * sizeof(std::uint32_t);
    case Algorithm::skw: return 0;
    case Algorithm::brute: break;
  }
  return all * sizeof(Point);
}

}  // namespace fathom::published::cpu
