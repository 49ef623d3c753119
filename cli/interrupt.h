// Ctrl-C and its kin: the work is asked to stop, temporary files go, the exit code tells the signal.
#pragma once

#include <stop_token>

namespace fathom::cli {

/// Takes over SIGINT, SIGTERM and SIGHUP for the rest of the process, and makes a closed pipe and a file grown too
/// large ordinary write errors.
/// Call once, before any other thread starts.
void watch_signals();

/// Asked to stop once a signal came.
std::stop_token stop_token();

/// The signal that came; 0: none.
int caught_signal();

/// While one lives, a signal ends the process at once: for waits that cannot be asked to stop and own nothing on disk.
class LeaveAtOnce {
 public:
  LeaveAtOnce();
  ~LeaveAtOnce();
  LeaveAtOnce(const LeaveAtOnce&) = delete;
  LeaveAtOnce& operator=(const LeaveAtOnce&) = delete;
};

}  // namespace fathom::cli
