#include "grid/cpu/parallel.h"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>

#include "fathom/core/error.h"

namespace fathom::grid::cpu {

Monitor::Monitor(const Execution& execution, std::int64_t total)
    : execution_(execution), total_(std::max<std::int64_t>(total, 1)) {}

void Monitor::advance(std::int64_t units) {
  if (execution_.stop.stop_requested()) throw Cancelled();
  const std::int64_t done = done_.fetch_add(units, std::memory_order_relaxed) + units;
  if (!execution_.progress) return;
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
  std::unique_lock lock(reporting_, std::try_to_lock);  // a thread that finds another reporting goes on working
  if (!lock || share < reported_ + 0.001) return;
  reported_ = share;
  execution_.progress(share);
}

void parallel_jobs(int threads, std::int64_t jobs, const std::function<void(int, std::int64_t)>& body) {
  if (threads <= 1 || jobs <= 1) {
    for (std::int64_t job = 0; job < jobs; ++job) body(0, job);
    return;
  }
  // One task per worker that takes the next job when it is free: workers, and so their scratch, are bounded by `threads`.
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> failed{false};
  const int workers = static_cast<int>(std::min<std::int64_t>(threads, jobs));
  oneapi::tbb::task_arena arena(workers);
  arena.execute([&] {
    oneapi::tbb::parallel_for(
        0, workers,
        [&](int worker) {
          try {
            for (std::int64_t job; !failed && (job = next.fetch_add(1)) < jobs;) body(worker, job);
          } catch (...) {
            failed = true;
            throw;
          }
        },
        oneapi::tbb::simple_partitioner{});
  });
}

}  // namespace fathom::grid::cpu
