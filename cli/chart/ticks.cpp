#include "chart/ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fathom::cli {

namespace {

/// The smallest of 1, 2, 5, 10 times a power of ten that is at least `least`.
double round_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

}  // namespace

std::string Ticks::label(double value) const {
  if (step == 0) return fmt::format("{:g}", value);
  const double size = std::max(std::abs(value), step);
  if (size >= 1e7 || step < 1e-4) return fmt::format("{:.4g}", value);
  const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
  const std::string digits = fmt::format("{:.{}f}", std::abs(value), decimals);
  return value < 0 ? "\u2212" + digits : digits;
}

Ticks ticks_between(double low, double high, int most, double least_step) {
  Ticks ticks;
  if (high == low) return {0, {low}};
  if (!(high > low) || !std::isfinite(high - low) || most < 1) return ticks;
  ticks.step = round_step(std::max((high - low) / most, least_step));
  const double slack = 1e-9 * (high - low);
  for (double k = std::ceil((low - slack) / ticks.step); k * ticks.step <= high + slack; ++k)
    ticks.values.push_back(k * ticks.step);
  return ticks;
}

}  // namespace fathom::cli
