#include "interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "exit_code.h"

namespace fathom::cli {

namespace {

// Never destroyed: the watching thread outlives main().
std::stop_source& source() {
  static auto* const the_source = new std::stop_source;
  return *the_source;
}

std::atomic<int> caught{0};
std::atomic<bool> at_once{false};

[[noreturn]] void leave(int signal) {
  if (isatty(STDERR_FILENO) != 0) {
    // The shell's prompt shall not stand behind a half-drawn bar.
    [[maybe_unused]] const auto written = write(STDERR_FILENO, "\n", 1);
  }
  _exit(kSignalBase + signal);
}

/// The first signal asks, the second one insists.
void watch(sigset_t signals) {
  for (;;) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0) continue;
    if (at_once || caught != 0) leave(signal);
    caught = signal;
    source().request_stop();
    if (at_once) leave(signal);
  }
}

/// The signals to watch: those that nohup or a shell's `&` did not set to be ignored.
sigset_t wanted_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(&signals, signal);
  }
  return signals;
}

}  // namespace

void watch_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  const sigset_t signals = wanted_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  source();
  std::thread(watch, signals).detach();
}

std::stop_token stop_token() { return source().get_token(); }

int caught_signal() { return caught; }

LeaveAtOnce::LeaveAtOnce() {
  at_once = true;
  if (caught != 0) leave(caught);
}

LeaveAtOnce::~LeaveAtOnce() { at_once = false; }

}  // namespace fathom::cli
