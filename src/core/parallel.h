// Threads, progress and cancellation for the CPU loops.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>

#include "fathom/core/execution.h"

namespace fathom {

/// Counts work done and tells the caller's callback; asks the caller's stop token. Shared by the threads of one call.
class Monitor {
 public:
  /// @param total  units of work in the whole call
  Monitor(const Execution& execution, std::int64_t total);

  /// Adds finished units. @throws Cancelled the stop token asks for it
  void advance(std::int64_t units);
  /// To be called at least every few milliseconds where nothing is finished for long. @throws Cancelled as above
  void look() { advance(0); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kInterval{20};

  const Execution& execution_;
  const std::int64_t total_;
  std::atomic<std::int64_t> done_{0};
  std::mutex reporting_;
  double reported_ = 0;
  Clock::time_point next_ = Clock::now() + kInterval;  ///< when it is time for a report even if little was done
};

/// An order for sorting what is thrown away if the work is stopped.
struct Watched {
  Monitor& monitor;
  std::int64_t& compared;  ///< counted by all copies

  template <class T>
  bool operator()(const T& a, const T& b) const {
    constexpr std::int64_t kBetween = 1 << 16;
    if (++compared % kBetween == 0) monitor.look();
    return a < b;
  }
};

/// Runs body(worker, job) for every job in [0, jobs) on at most `threads` threads; `worker` < threads names the
/// thread's own scratch, and two jobs never run at once with the same worker. The first exception is rethrown.
void parallel_jobs(int threads, std::int64_t jobs, const std::function<void(int worker, std::int64_t job)>& body);
/// The same; asks the caller's stop token before every job. @throws Cancelled it asks for it
void parallel_jobs(const Execution& execution, int threads, std::int64_t jobs,
                   const std::function<void(int worker, std::int64_t job)>& body);

}  // namespace fathom
