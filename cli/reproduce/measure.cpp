#include "reproduce/measure.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <thread>

#include "clock.h"
#include "fathom/core/error.h"

namespace fathom::cli {

namespace {

/// Each thread copies a part of its own.
void copy(std::byte* to, const std::byte* from, std::size_t bytes, int threads) {
  std::vector<std::jthread> others;
  const auto count = static_cast<std::size_t>(threads);
  const auto part = [=](std::size_t k) {
    const std::size_t begin = bytes * k / count;
    std::memcpy(to + begin, from + begin, bytes * (k + 1) / count - begin);
  };
  for (std::size_t k = 1; k < count; ++k) others.emplace_back(part, k);
  part(0);
}

}  // namespace

double median_of(const std::function<double()>& seconds, int runs, double patience) {
  std::vector<double> all;
  const auto start = Clock::now();
  do all.push_back(seconds());
  while (static_cast<int>(all.size()) <= runs && seconds_since(start) < patience);
  if (all.size() > 1) all.erase(all.begin());
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

double median_seconds(const std::function<void()>& work, int runs, double patience) {
  const auto seconds = [&] {
    const auto begun = Clock::now();
    work();
    return seconds_since(begun);
  };
  return median_of(seconds, runs, patience);
}

double copy_seconds(const Machine& machine, std::size_t bytes) {
  const Shape shape{static_cast<std::int64_t>(bytes)};
  if (machine.device) {
    const DeviceArray from(DType::uint8, shape), to(DType::uint8, shape);
    return median_device_seconds([&](Stream stream) { copy_on_device(to.view(), from.view(), stream); });
  }
  Array from(DType::uint8, shape), to(DType::uint8, shape);
  std::memset(from.data(), 1, bytes);
  constexpr std::size_t kPart = std::size_t{1} << 20;  // less is not worth a thread
  const int threads = std::min(machine.threads, static_cast<int>(std::min<std::size_t>(bytes / kPart, 1023)) + 1);
  return median_seconds([&] { copy(to.data(), from.data(), bytes, threads); });
}

double sum_of(const std::vector<published::Phase>& phases) {
  double sum = 0;
  for (const published::Phase& phase : phases) sum += phase.seconds;
  return sum;
}

double seconds_of(const std::vector<published::Phase>& phases, const std::string& name) {
  for (const published::Phase& phase : phases)
    if (phase.name == name) return phase.seconds;
  return 0;
}

void check_equal(const AnyConstView& found, const AnyConstView& expected, const std::string& what) {
  const auto bytes = static_cast<std::size_t>(element_count(found.shape())) * size_of(found.dtype());
  if (found.dtype() != expected.dtype() || !(found.shape() == expected.shape()) ||
      std::memcmp(found.data(), expected.data(), bytes) != 0)
    throw InternalError(fmt::format("the result of {} is not Fathom's; nothing of it was timed", what));
}

}  // namespace fathom::cli
