#include "fathom/stream/run.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "fathom/core/error.h"
#include "stream/pixels.h"

namespace fathom::stream {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

void reverse_rows(const AnyView& band, std::int64_t first) {
  visit_element(band.dtype(), [&](auto tag) {
    const Rows<typename decltype(tag)::type> rows(band);
    for (std::int64_t y = 0; y < rows.height; ++y)
      if ((first + y) % 2 == 1) std::reverse(rows[y], rows[y] + rows.width);
  });
}

/// Bands between the threads that compute and the one that writes.
class Ring {
 public:
  explicit Ring(int size) : slots_(static_cast<std::size_t>(size)) {}

  struct Slot {
    Array memory;
    std::int64_t band = -1, rows = 0;
    Clock::time_point ready;
  };

  /// The next slot to fill, once the sink is done with it. Null: the sink failed.
  Slot* to_fill() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return filled_ - taken_ < static_cast<std::int64_t>(slots_.size()) || failed_; });
    return failed_ ? nullptr : &slots_[static_cast<std::size_t>(filled_) % slots_.size()];
  }
  void filled() {
    change([&] { ++filled_; });
  }
  /// The next slot to write. Null: there will be none. @param full  the first one waits until all are filled
  Slot* to_write(bool& waited, bool full) {
    std::unique_lock lock(mutex_);
    waited = filled_ == taken_;
    const std::int64_t ahead = full && taken_ == 0 ? static_cast<std::int64_t>(slots_.size()) : 1;
    changed_.wait(lock, [&] { return filled_ - taken_ >= ahead || ended_; });
    return filled_ > taken_ ? &slots_[static_cast<std::size_t>(taken_) % slots_.size()] : nullptr;
  }
  void written() {
    change([&] { ++taken_; });
  }
  void end() {
    change([&] { ended_ = true; });
  }
  void fail() {
    change([&] { failed_ = true; });
  }

 private:
  template <class Change>
  void change(const Change& change) {
    {
      const std::lock_guard lock(mutex_);
      change();
    }
    changed_.notify_all();
  }

  std::vector<Slot> slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t filled_ = 0, taken_ = 0;
  bool ended_ = false, failed_ = false;
};

/// What the sink's thread does.
class Writer {
 public:
  Writer(Ring& ring, RasterSink& sink, const RunOptions& options, std::int64_t width, RunReport& report)
      : ring_(ring), sink_(sink), options_(options), width_(width), report_(report) {}

  void operator()() {
    try {
      bool waited = false;
      while (Ring::Slot* const slot = ring_.to_write(waited, options_.min_rate > 0)) {
        pace();
        judge(*slot, waited);
        const AnyConstView rows(slot->memory.data(), slot->memory.dtype(), {slot->rows, width_});
        sink_.write(rows);
        const std::span<const std::byte> bytes(
            rows.data(), static_cast<std::size_t>(slot->rows * width_) * fathom::size_of(rows.dtype()));
        if (options_.taken) options_.taken(slot->band, bytes);
        report_.bytes += static_cast<std::int64_t>(bytes.size());
        ring_.written();
      }
    } catch (...) {
      error = std::current_exception();
      ring_.fail();
    }
  }

  std::exception_ptr error;

 private:
  /// Waits until the rate allows more.
  void pace() const {
    if (options_.rate == 0 || report_.bytes == 0) return;
    constexpr double kLongest = 1e9;  // seconds, which the clock still holds
    constexpr std::chrono::milliseconds kLook{100};
    const auto until = began_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
                                    std::min(kLongest, static_cast<double>(report_.bytes) / options_.rate)));
    while (Clock::now() < until) {
      std::this_thread::sleep_until(std::min(until, Clock::now() + kLook));
      if (options_.pausing) options_.pausing();
    }
  }
  /// Was it ready when it was due?
  void judge(const Ring::Slot& slot, bool waited) {
    if (report_.bytes == 0) {
      began_ = Clock::now();
      report_.first_seconds = seconds_between(made_, began_);
      return;
    }
    if (options_.min_rate == 0) return;
    const double due = static_cast<double>(report_.bytes) / options_.min_rate;
    const double margin = due - seconds_between(began_, slot.ready);
    report_.least_margin = std::min(report_.least_margin, margin);
    if (waited && margin < 0) ++report_.underruns;
  }

  Ring& ring_;
  RasterSink& sink_;
  const RunOptions& options_;
  const std::int64_t width_;
  RunReport& report_;
  const Clock::time_point made_ = Clock::now();
  Clock::time_point began_;
};

}  // namespace

RunReport run(Evaluator& evaluator, RasterSink& sink, const RunOptions& options) {
  const Plan& plan = evaluator.plan();
  const Rectangle region = plan.region;
  const std::int64_t rows = plan.band.height;
  if (options.ring < 2) throw InvalidArgument("a ring has at least 2 bands");
  if (rows % sink.row_step() != 0 && rows < region.height())
    throw InvalidArgument("the sink takes rows in steps of " + std::to_string(sink.row_step()) +
                          ", the evaluator was not made for that");
  if (options.rows_done < 0 || options.rows_done > region.height() ||
      (options.rows_done % rows != 0 && options.rows_done != region.height()))
    throw InvalidArgument("rows that are done must be whole bands of " + std::to_string(rows));

  RunReport report;
  report.least_margin = std::numeric_limits<double>::infinity();
  const auto start = Clock::now();
  Ring ring(options.ring);
  Writer writer(ring, sink, options, region.width(), report);
  std::exception_ptr error;
  {
    const std::jthread thread(std::ref(writer));
    try {
      for (std::int64_t y = options.rows_done; y < region.height(); y += rows) {
        Ring::Slot* const slot = ring.to_fill();
        if (!slot) break;
        const DType dtype = plan.entries.back().node->dtype();
        if (slot->memory.bytes() == 0) slot->memory = Array(dtype, {rows, region.width()});
        slot->band = y / rows;
        slot->rows = std::min(rows, region.height() - y);
        const AnyView band(slot->memory.data(), dtype, {slot->rows, region.width()});
        const auto began = Clock::now();
        evaluator.compute({region.y0 + y, region.x0, region.y0 + y + slot->rows, region.x1}, band);
        if (options.serpentine) reverse_rows(band, y);
        slot->ready = Clock::now();
        report.longest_band = std::max(report.longest_band, seconds_between(began, slot->ready));
        ring.filled();
      }
    } catch (...) {
      error = std::current_exception();
    }
    ring.end();
  }
  if (writer.error) std::rethrow_exception(writer.error);
  if (error) std::rethrow_exception(error);
  sink.finish();
  report.seconds = seconds_between(start, Clock::now());
  return report;
}

std::uint32_t crc32c(std::uint32_t before, std::span<const std::byte> data) {
  using Tables = std::array<std::array<std::uint32_t, 256>, 8>;
  static const Tables tables = [] {  // eight bytes at a time: Kounavis & Berry 2005
    Tables made{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      std::uint32_t sum = byte;
      for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0x82f63b78u : 0);
      made[0][byte] = sum;
    }
    for (std::size_t k = 1; k < 8; ++k)
      for (std::size_t byte = 0; byte < 256; ++byte)
        made[k][byte] = made[k - 1][byte] >> 8 ^ made[0][made[k - 1][byte] & 255];
    return made;
  }();
  std::uint32_t sum = ~before;
  const auto* at = reinterpret_cast<const std::uint8_t*>(data.data());
  std::size_t bytes = data.size();
  for (; bytes >= 8; bytes -= 8, at += 8) {
    const std::uint32_t low = sum ^ (at[0] | at[1] << 8 | at[2] << 16 | static_cast<std::uint32_t>(at[3]) << 24);
    sum = tables[7][low & 255] ^ tables[6][low >> 8 & 255] ^ tables[5][low >> 16 & 255] ^ tables[4][low >> 24] ^
          tables[3][at[4]] ^ tables[2][at[5]] ^ tables[1][at[6]] ^ tables[0][at[7]];
  }
  for (; bytes > 0; --bytes, ++at) sum = sum >> 8 ^ tables[0][(sum ^ *at) & 255];
  return ~sum;
}

}  // namespace fathom::stream
