// A progress bar on the terminal.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace fathom::cli {

/// One line on stderr that appears after a second and is gone at the end; nothing with --quiet, or where stderr is
/// no terminal.
class Progress {
 public:
  /// @param shown  false: nothing is drawn, as for one of many files
  explicit Progress(bool shown = true);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Begins a part of the work, such as "reading", whose share done is not known.
  /// @param bytes  of all of the part, and the share that was done before: then the line has rate and time left
  void begin(std::string what, double bytes = 0, double share = 0);
  /// Share done of the part, in [0, 1].
  void advance(double share);
  /// Takes the bar away, so that the terminal is free for other lines.
  void end();
  /// advance() for Execution::progress; empty where there is nothing to draw.
  std::function<void(double)> callback();

 private:
  void draw_until_done(std::stop_token done);
  std::string line() const;

  using Clock = std::chrono::steady_clock;
  const Clock::time_point start_ = Clock::now();
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::string what_;
  std::optional<double> share_;
  double bytes_ = 0, first_share_ = 0;
  Clock::time_point begun_ = start_;
  std::jthread drawer_;  // last: it uses all others
};

}  // namespace fathom::cli
