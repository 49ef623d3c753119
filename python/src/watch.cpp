#include "watch.h"

namespace fathom::python {

namespace nb = nanobind;

void Watch::report(double share) noexcept {
  if (std::this_thread::get_id() != caller_ || raised_ || share >= 1) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;  // a short call does not touch the lock
  next_ = now + kInterval;
  try {
    call_python(share);
  } catch (...) {
    raised_ = std::current_exception();
    stop_.request_stop();
  }
}

void Watch::call_python(double share) {
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) nb::raise_python_error();
  if (!progress_.is_none()) progress_(share);
}

void Watch::rethrow() {
  if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
}

void Watch::finish() {
  rethrow();
  if (!progress_.is_none()) progress_(1.0);
}

}  // namespace fathom::python
