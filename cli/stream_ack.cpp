#include "stream_ack.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <limits>
#include <utility>

#include "clock.h"
#include "fathom/core/error.h"
#include "options.h"
#include "report.h"

namespace fathom::cli {

namespace {

constexpr std::chrono::milliseconds kLook{100};

class ToldSink final : public RasterSink {
 public:
  ToldSink(std::unique_ptr<RasterSink> sink, Acknowledgements& to, std::int64_t begin, std::int64_t row_bytes)
      : sink_(std::move(sink)), to_(to), end_(begin), row_bytes_(row_bytes) {}
  std::int64_t row_step() const override { return sink_->row_step(); }
  void write(const AnyConstView& rows) override {
    to_.hand_out(end_ += rows.shape()[0] * row_bytes_);
    sink_->write(rows);
  }
  void sync() override { sink_->sync(); }
  void finish() override { sink_->finish(); }

 private:
  std::unique_ptr<RasterSink> sink_;
  Acknowledgements& to_;
  std::int64_t end_;
  const std::int64_t row_bytes_;
};

}  // namespace

int parse_ack(const std::string& text) {
  const auto descriptor = static_cast<int>(parse_count("--ack", text, 0, std::numeric_limits<int>::max()));
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY)
    throw InvalidArgument(
        fmt::format("--ack {0} is no descriptor that can be read; the shell opens it by {0}< FILE", descriptor));
  return descriptor;
}

Acknowledgements::Acknowledgements(int descriptor, std::int64_t begin, std::int64_t whole, Journal& journal)
    : descriptor_(descriptor), whole_(whole), journal_(journal), handed_out_(begin), heard_(begin), recorded_(begin) {
  journal_.acknowledge(begin);
  thread_ = std::jthread([this](const std::stop_token& stop) { listen(stop); });
}

void Acknowledgements::hand_out(std::int64_t end) {
  const std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  handed_out_ = end;
}

void Acknowledgements::record() {
  const std::lock_guard lock(mutex_);
  if (heard_ == recorded_) return;
  journal_.acknowledge(heard_);
  recorded_ = heard_;
}

void Acknowledgements::wait(const std::function<void()>& look) {
  std::unique_lock lock(mutex_);
  while (!ended_ && heard_ < whole_) {
    changed_.wait_for(lock, kLook);
    lock.unlock();
    look();
    lock.lock();
  }
  const std::exception_ptr error = error_;
  const std::int64_t heard = heard_;
  lock.unlock();
  record();
  if (error) std::rethrow_exception(error);
  if (heard < whole_)
    throw IoError(
        fmt::format("descriptor {} ended when {} of {} bytes were acknowledged; the same command goes on there",
                    descriptor_, heard, whole_));
}

void Acknowledgements::listen(const std::stop_token& stop) {
  std::exception_ptr error;
  try {
    constexpr double kSeconds = 0.25;  // that a kill may cost: else the journal would grow with every line
    constexpr double kLastWord = 1;    // for what a reader says that goes away and was not heard yet
    auto recorded = Clock::now(), listening = recorded;
    char bytes[4096];
    while (!stop.stop_requested() || (heard_ < whole_ && seconds_since(listening) < kLastWord)) {
      if (!stop.stop_requested()) listening = Clock::now();
      pollfd polled{descriptor_, POLLIN, 0};
      if (poll(&polled, 1, static_cast<int>(kLook.count())) > 0) {
        const ssize_t got = read(descriptor_, bytes, sizeof bytes);
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) break;
        if (got > 0) hear({bytes, static_cast<std::size_t>(got)});
      }
      if (seconds_since(recorded) < kSeconds) continue;
      record();
      recorded = Clock::now();
    }
    record();
  } catch (...) {
    error = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex_);
    error_ = error;
    ended_ = true;
  }
  changed_.notify_all();
}

/// A last line that is not whole counts for nothing: its reader may have been cut off within it.
void Acknowledgements::hear(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  for (const char byte : bytes) {
    constexpr std::size_t kMostDigits = 19;
    if (byte == '\n') take(std::exchange(line_, {}));
    else line_ += byte;
    if (line_.size() > kMostDigits) take(line_);
  }
  changed_.notify_all();
}

void Acknowledgements::take(const std::string& line) {
  std::int64_t count = 0;
  const auto [end, fault] = std::from_chars(line.data(), line.data() + line.size(), count);
  std::string reason;
  if (line.empty() || fault != std::errc{} || end != line.data() + line.size() || line[0] == '-')
    reason = "which is no count of bytes";
  else if (count < heard_) reason = fmt::format("after {}: counts are of the whole stream, and never fall", heard_);
  else if (count > handed_out_) reason = fmt::format("and only {} bytes were handed out", handed_out_);
  if (!reason.empty())
    throw IoError(fmt::format("descriptor {} acknowledged '{}', {}", descriptor_, printable(line), reason));
  heard_ = count;
}

std::unique_ptr<RasterSink> told_of(std::unique_ptr<RasterSink> sink, Acknowledgements& to, std::int64_t begin,
                                    std::int64_t row_bytes) {
  return std::make_unique<ToldSink>(std::move(sink), to, begin, row_bytes);
}

}  // namespace fathom::cli
