#include "interrupt.h"

#include <unistd.h>

#include <csignal>
#include <mutex>
#include <string_view>
#include <thread>

#include "exit_code.h"
#include "fathom/io/atomic_file.h"
#include "report.h"

namespace fathom::cli {

namespace {

std::mutex mutex;  // of the three; none is ever destroyed, since the watching thread outlives main()
int holds = 0;
const char* what_is_left = "nothing was written";
int waiting = 0;  // the signal that came while held

void print_at_once(std::string_view text) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

[[noreturn]] void leave(int signal) {
  io::remove_temporary_files();
  if (isatty(STDERR_FILENO) != 0) print_at_once(kEraseLine);
  for (const char* const text : {"fathom: interrupted; ", what_is_left, "\n"}) print_at_once(text);
  _exit(kSignalBase + signal);
}

void watch(sigset_t signals) {
  for (;;) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0) continue;
    const std::lock_guard lock(mutex);
    if (holds == 0 || waiting != 0) leave(signal);
    waiting = signal;
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
  std::thread(watch, signals).detach();
}

void hold_signals(const char* left) {
  const std::lock_guard lock(mutex);
  ++holds;
  what_is_left = left;
}

bool signal_waits() {
  const std::lock_guard lock(mutex);
  return waiting != 0;
}

void release_signals() {
  const std::lock_guard lock(mutex);
  if (--holds == 0 && waiting != 0) leave(waiting);
}

}  // namespace fathom::cli
