#include "core/fork.h"

#include <pthread.h>

#include <atomic>

namespace fathom {

namespace {

std::atomic<bool> forked{false};
[[maybe_unused]] const int watching = pthread_atfork(nullptr, nullptr, [] { forked = true; });

}  // namespace

bool is_forked() noexcept { return forked; }

}  // namespace fathom
