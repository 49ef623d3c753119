// Queries against sites behind a C interface, ours and nanoflann's, for bench/points.py. Each call builds its index,
// and says how long that and the queries took.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "fathom/points/site_set.h"

#ifdef FATHOM_BENCH_NANOFLANN
#include <nanoflann.hpp>
#endif

extern "C" {

struct FathomBenchPoints {
  const float* sites;
  const float* queries;
  std::int64_t site_count, query_count;
  std::int32_t storage, threads;
  float* distance;
  std::int64_t* site;
  // What the call did:
  double build_seconds, query_seconds;
  char message[512];
};
}

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void run_ours(FathomBenchPoints& call) {
  using namespace fathom;
  const auto start = Clock::now();
  points::SiteSetOptions set_options;
  set_options.storage = static_cast<points::Storage>(call.storage);
  set_options.execution.threads = call.threads;
  const points::SiteSet set(HostView<const float>(call.sites, {call.site_count, 3}), set_options);
  call.build_seconds = seconds_since(start);
  const auto asked = Clock::now();
  points::QueryOptions options;
  options.execution.threads = call.threads;
  points::QueryOutputs outputs;
  outputs.distance = HostView<float>(call.distance, {call.query_count});
  outputs.site = HostView<std::int64_t>(call.site, {call.query_count});
  set.nearest(HostView<const float>(call.queries, {call.query_count, 3}), options, outputs);
  call.query_seconds = seconds_since(asked);
}

#ifdef FATHOM_BENCH_NANOFLANN

struct Rows {
  const float* data;
  std::int64_t count;
  std::size_t kdtree_get_point_count() const { return static_cast<std::size_t>(count); }
  float kdtree_get_pt(std::size_t i, std::size_t k) const { return data[3 * i + k]; }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};

/// Its tree has no threads of its own: queries are shared out, the tree is built by one.
void run_nanoflann(FathomBenchPoints& call) {
  using Metric = nanoflann::L2_Simple_Adaptor<float, Rows>;
  using Tree = nanoflann::KDTreeSingleIndexAdaptor<Metric, Rows, 3, std::uint32_t>;
  const auto start = Clock::now();
  const Rows rows{call.sites, call.site_count};
  Tree tree(3, rows, nanoflann::KDTreeSingleIndexAdaptorParams(10));
  tree.buildIndex();
  call.build_seconds = seconds_since(start);
  const auto asked = Clock::now();
  const std::int64_t part = (call.query_count + call.threads - 1) / call.threads;
  std::vector<std::jthread> threads;
  for (std::int64_t begin = 0; begin < call.query_count; begin += part)
    threads.emplace_back([&, begin] {
      for (std::int64_t q = begin; q < std::min(begin + part, call.query_count); ++q) {
        std::uint32_t id = 0;
        float squared = 0;
        tree.knnSearch(call.queries + 3 * q, 1, &id, &squared);
        call.distance[q] = std::sqrt(squared);
        call.site[q] = id;
      }
    });
  threads.clear();
  call.query_seconds = seconds_since(asked);
}

#endif

template <class Run>
int guarded(FathomBenchPoints& call, const Run& run) {
  try {
    run(call);
    return 0;
  } catch (const std::exception& error) {
    std::strncpy(call.message, error.what(), sizeof call.message - 1);
    call.message[sizeof call.message - 1] = 0;
    return 1;
  }
}

}  // namespace

extern "C" {

/// @return 0, or 1 with `message` set
int fathom_bench_points(FathomBenchPoints* call) { return guarded(*call, run_ours); }

#ifdef FATHOM_BENCH_NANOFLANN
int fathom_bench_nanoflann(FathomBenchPoints* call) { return guarded(*call, run_nanoflann); }
#endif
}
