#include "forks.h"

#include <nanobind/nanobind.h>
#include <pthread.h>

#include <atomic>
#include <memory>

namespace fathom::python {

namespace {

std::atomic<int> count{0};
std::mutex renewal;

void begin_child() {
  ++count;
  std::construct_at(&renewal);         // whoever held it is not here
  nanobind::set_leak_warnings(false);  // nor are the threads that hold objects
}

[[maybe_unused]] const int watching = pthread_atfork(nullptr, nullptr, begin_child);

}  // namespace

int forks() noexcept { return count; }
std::mutex& renewing() noexcept { return renewal; }

}  // namespace fathom::python
