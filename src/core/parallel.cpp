#include "core/parallel.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

#include "fathom/core/error.h"

namespace fathom {

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

namespace {

#ifdef FATHOM_PLAIN_THREADS

/// Runs body(worker) for every worker in [0, workers), each on its own thread. For the thread sanitizer: the system's
/// oneTBB is not compiled for it, so that its synchronisation would not be seen and all hand-over reported as races.
template <class Body>
void run_workers(int workers, const Body& body) {
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(workers));
  {
    std::vector<std::jthread> threads;
    for (int worker = 0; worker < workers; ++worker)
      threads.emplace_back([&body, &error = errors[static_cast<std::size_t>(worker)], worker] {
        try {
          body(worker);
        } catch (...) {
          error = std::current_exception();
        }
      });
  }
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

#else

/// Runs body(worker) for every worker in [0, workers), each on a thread of oneTBB's.
template <class Body>
void run_workers(int workers, const Body& body) {
  oneapi::tbb::task_arena arena(workers);
  arena.execute([&] { oneapi::tbb::parallel_for(0, workers, body, oneapi::tbb::simple_partitioner{}); });
}

#endif

/// More threads than oneTBB may use would gain nothing, and it would say so on standard error.
int useful_threads(int threads) {
#ifdef FATHOM_PLAIN_THREADS
  return threads;
#else
  using oneapi::tbb::global_control;
  return std::min(threads, static_cast<int>(global_control::active_value(global_control::max_allowed_parallelism)));
#endif
}

}  // namespace

void parallel_jobs(int threads, std::int64_t jobs, const std::function<void(int, std::int64_t)>& body) {
  const int workers = static_cast<int>(std::min<std::int64_t>(useful_threads(threads), jobs));
  if (workers <= 1) {
    for (std::int64_t job = 0; job < jobs; ++job) body(0, job);
    return;
  }
  // One task per worker that takes the next job when it is free: workers, and so their scratch, are bounded by
  // `threads`.
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> failed{false};
  run_workers(workers, [&](int worker) {
    try {
      for (std::int64_t job; !failed && (job = next.fetch_add(1)) < jobs;) body(worker, job);
    } catch (...) {
      failed = true;
      throw;
    }
  });
}

void parallel_jobs(const Execution& execution, int threads, std::int64_t jobs,
                   const std::function<void(int, std::int64_t)>& body) {
  parallel_jobs(threads, jobs, [&](int worker, std::int64_t job) {
    if (execution.stop.stop_requested()) throw Cancelled();
    body(worker, job);
  });
}

}  // namespace fathom
