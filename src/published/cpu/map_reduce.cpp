// Map and reduction on the CPU: see map_reduce.hd.h. A job of the map is a tile, of the reduction some queries. Kernels
// run one after the other whatever their stream, so that one part's numbers are kept at a time.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

#include "core/parallel.h"
#include "published/map_reduce_problem.h"

namespace fathom::published::cpu {

namespace {

template <class U>
void atomic_min(U& at, U value) {
  std::atomic_ref<U> least(at);
  for (U before = least.load(); value < before && !least.compare_exchange_weak(before, value);) {
  }
}

/// The minimum of each column of an array [rows, m] and of what is there.
template <class U>
void reduce(const std::vector<U>& rows, std::int64_t count, std::int64_t m, int threads, U* result) {
  constexpr std::int64_t kQueries = 256;
  parallel_jobs(threads, (m + kQueries - 1) / kQueries, [&](int, std::int64_t job) {
    for (std::int64_t row = 0; row < count; ++row)
      for (std::int64_t q = job * kQueries; q < std::min((job + 1) * kQueries, m); ++q)
        result[q] = std::min(result[q], rows[static_cast<std::size_t>(row * m + q)]);
  });
}

}  // namespace

template <class T>
Phases map_reduce(const MapReduceProblem<T>& problem) {
  using U = Squared<T>;
  const MapReduceOptions& options = problem.options;
  const Division division = problem.division();
  const std::int64_t m = problem.queries.count, most = division.tiles_of_kernel();
  std::vector<U> intermediate(static_cast<std::size_t>(options.atomic ? 0 : most * m)),
      results(static_cast<std::size_t>(division.streams * m), kFarthest<U>);
  /// Calls body(tile's number, its sites, query's number, query) for some tiles and all queries.
  const auto for_tiles = [&](std::int64_t first, std::int64_t end, const auto& body) {
    parallel_jobs(options.execution, problem.threads, end - first, [&](int, std::int64_t job) {
      const std::int64_t site = (first + job) * division.tile;
      const PointList<T> tile = problem.sites.part(site, std::min(division.tile, division.sites - site));
      for (std::int64_t q = 0; q < m; ++q) body(first + job, tile, q, Query<T>(problem.queries, problem.cones, q));
    });
  };

  Phases phases;
  for (std::int64_t kernel = 0; kernel < division.kernels; ++kernel) {
    const std::int64_t first = division.first_tile(kernel), end = division.first_tile(kernel + 1);
    if (first == end) break;
    U* const result = results.data() + division.stream(kernel) * m;
    timed(phases, "map", [&] {
      for_tiles(first, end, [&](std::int64_t tile, const PointList<T>& sites, std::int64_t q, const Query<T>& query) {
        const U least = least_of_tile(query, sites);
        if (options.atomic) atomic_min(result[q], least);
        else intermediate[static_cast<std::size_t>((tile - first) * m + q)] = least;
      });
    });
    if (!options.atomic)
      timed(phases, "reduction", [&] { reduce(intermediate, end - first, m, problem.threads, result); });
  }
  timed(phases, "final reduction", [&] {
    std::fill_n(problem.squared, m, kFarthest<U>);
    reduce(results, division.streams, m, problem.threads, problem.squared);
  });
  if (problem.site)
    timed(phases, "finding sites", [&] {
      std::fill_n(problem.site, m, kFarthest<std::uint32_t>);
      for_tiles(0, division.tiles(),
                [&](std::int64_t tile, const PointList<T>& sites, std::int64_t q, const Query<T>& query) {
                  const std::int64_t found = first_of_tile(query, sites, problem.squared[q]);
                  if (found < sites.count)
                    atomic_min(problem.site[q], static_cast<std::uint32_t>(tile * division.tile + found));
                });
    });
  return phases;
}

template Phases map_reduce(const MapReduceProblem<std::int32_t>& problem);
template Phases map_reduce(const MapReduceProblem<float>& problem);
template Phases map_reduce(const MapReduceProblem<double>& problem);

}  // namespace fathom::published::cpu
