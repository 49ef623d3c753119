#include "core/parallel.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <pthread.h>

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

#include "core/fork.h"
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
  if (!lock) return;
  const Clock::time_point now = Clock::now();
  if (share < reported_ + 0.001 && now < next_) return;
  next_ = now + kInterval;
  reported_ = std::max(share, reported_);
  execution_.progress(reported_);
}

namespace {

#ifdef FATHOM_PLAIN_THREADS
// The thread sanitizer: the system's oneTBB is not compiled for it, so that its synchronisation would not be seen and
// all hand-over reported as races.
constexpr bool kWithoutTbb = true;
#else
constexpr bool kWithoutTbb = false;
#endif

/// In a forked process oneTBB waits for threads and locks that stayed in the other one.
bool uses_own_threads() { return kWithoutTbb || is_forked(); }

/// Runs body(worker) for every worker in [0, workers): on the calling thread, which is the one that is asked to stop,
/// and on as many new ones as it takes. Costs some 10 µs for each.
template <class Body>
void run_on_own_threads(int workers, const Body& body) {
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(workers));
  const auto run = [&](int worker) {
    try {
      body(worker);
    } catch (...) {
      errors[static_cast<std::size_t>(worker)] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int worker = 1; worker < workers; ++worker) threads.emplace_back(run, worker);
    run(0);
  }
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

std::atomic<bool> had_workers{false};

/// oneTBB keeps a record of each thread that called it, and takes it back when the process ends: with locks that in a
/// forked process nobody may ever let go. So whoever forks has it taken back first.
[[maybe_unused]] const int leaving = pthread_atfork(
    [] {
      if (had_workers && !uses_own_threads()) release_threads();
    },
    nullptr, nullptr);

/// The same on threads of oneTBB's.
template <class Body>
void run_workers(int workers, const Body& body) {
  if (uses_own_threads()) return run_on_own_threads(workers, body);
  had_workers = true;
  oneapi::tbb::task_arena arena(workers);
  arena.execute([&] { oneapi::tbb::parallel_for(0, workers, body, oneapi::tbb::simple_partitioner{}); });
}

/// More threads than oneTBB may use would gain nothing, and it would say so on standard error.
int useful_threads(int threads) {
  using oneapi::tbb::global_control;
  if (uses_own_threads()) return threads;
  return std::min(threads, static_cast<int>(global_control::active_value(global_control::max_allowed_parallelism)));
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
