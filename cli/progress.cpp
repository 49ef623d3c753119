#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "quantities.h"
#include "report.h"
#include "warnings.h"

namespace fathom::cli {

namespace {

constexpr auto kPatience = std::chrono::seconds(1);
constexpr auto kPeriod = std::chrono::milliseconds(100);
constexpr int kWidth = 32;

std::string bar(double share) {
  const int full = static_cast<int>(share * kWidth);
  std::string text;
  for (int k = 0; k < kWidth; ++k) text += k < full ? "█" : "░";
  return fmt::format("{} {:3.0f} %", text, 100 * share);
}

}  // namespace

Progress::Progress(bool shown) {
  if (!shown || is_quiet() || isatty(STDERR_FILENO) == 0) return;
  drawer_ = std::jthread([this](std::stop_token done) { draw_until_done(std::move(done)); });
}

Progress::~Progress() = default;

void Progress::begin(std::string what, double bytes, double share) {
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
  share_.reset();
  bytes_ = bytes;
  first_share_ = share;
  begun_ = Clock::now();
}

void Progress::advance(double share) {
  const std::lock_guard lock(mutex_);
  share_ = std::clamp(share, 0.0, 1.0);
}

void Progress::end() {
  if (!drawer_.joinable()) return;
  drawer_.request_stop();
  drawer_.join();
}

std::function<void(double)> Progress::callback() {
  if (!drawer_.joinable()) return {};
  return [this](double share) { advance(share); };
}

std::string Progress::line() const {
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  if (!share_) return fmt::format("{:<10} …  {:.0f} s", what_, seconds);
  std::string text = fmt::format("{:<10} {}  {:.0f} s", what_, bar(*share_), seconds);
  const double done = *share_ - first_share_, part = std::chrono::duration<double>(Clock::now() - begun_).count();
  if (bytes_ > 0 && done > 0)
    text += fmt::format(", {}, {} left", rate_text(bytes_ * done / part), duration_text(part * (1 - *share_) / done));
  return text;
}

void Progress::draw_until_done(std::stop_token done) {
  std::unique_lock lock(mutex_);
  bool drawn = false;
  while (!wake_.wait_for(lock, done, drawn ? kPeriod : kPatience, [&] { return done.stop_requested(); })) {
    print_aside(fmt::format("{}{}", kEraseLine, line()));
    std::fflush(stderr);
    drawn = true;
  }
  if (!drawn) return;
  print_aside(kEraseLine);
  std::fflush(stderr);
}

}  // namespace fathom::cli
