// What Python wants to hear of, and may stop, while a call works without the interpreter's lock.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <exception>
#include <stop_token>
#include <thread>
#include <utility>

#include "fathom/core/error.h"
#include "fathom/core/execution.h"

namespace fathom::python {

/// Takes the interpreter's lock now and then – on the calling thread alone, which is the one whose signals count – to
/// run signal handlers (Ctrl-C) and the caller's progress function. If one of them raises, the work is asked to stop.
class Watch {
 public:
  /// @param progress  called with the share done in [0, 1]; None: nobody listens
  explicit Watch(nanobind::object progress) : progress_(std::move(progress)) {}

  /// Any thread may call it, without the lock. The end is not reported here: other threads may still be at work.
  void report(double share) noexcept;

  std::stop_token stop() const { return stop_.get_token(); }

  /// What Python raised, if anything. To be called with the lock when no work goes on any more.
  void rethrow();

  /// All is done. To be called with the lock. @throws what Python raises
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  void call_python(double share);

  const nanobind::object progress_;
  const std::thread::id caller_ = std::this_thread::get_id();
  Clock::time_point next_ = Clock::now() + kInterval;
  std::stop_source stop_;
  std::exception_ptr raised_;

  static constexpr std::chrono::milliseconds kInterval{20};
};

/// Runs work without the interpreter's lock; raises what Python raised while it ran.
/// @param execution  of the work: gets its progress and its stop
template <class Work>
void run_watched(nanobind::object progress, Execution& execution, Work&& work) {
  Watch watch(std::move(progress));
  execution.progress = [&watch](double share) { watch.report(share); };
  execution.stop = watch.stop();
  try {
    const nanobind::gil_scoped_release unlocked;
    work();
  } catch (const Cancelled&) {
    watch.rethrow();
    throw;
  }
  watch.finish();
}

}  // namespace fathom::python
