#include "quantities.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace fathom::cli {

std::string bytes_text(double bytes) {
  constexpr std::array kUnits{"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < kUnits.size()) {
    bytes /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}", bytes, kUnits[unit]);
}

std::string rate_text(double bytes_per_second) { return bytes_text(bytes_per_second) + "/s"; }

std::string duration_text(double seconds) {
  constexpr double kMostSeconds = 1e15;
  if (!(seconds < kMostSeconds)) return "ages";
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  constexpr std::int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
  if (whole < 2 * kMinute) return fmt::format("{} s", whole);
  if (whole < 2 * kHour) return fmt::format("{} min", whole / kMinute);
  if (whole < 2 * kDay) return fmt::format("{} h {} min", whole / kHour, whole % kHour / kMinute);
  return fmt::format("{} d {} h", whole / kDay, whole % kDay / kHour);
}

}  // namespace fathom::cli
