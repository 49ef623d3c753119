#include "points/shares.h"

#include <algorithm>
#include <numeric>

namespace fathom::points {

std::vector<std::int64_t> Shares::cut(std::int64_t count) const {
  constexpr double kLeast = 1.0 / 64;  // of the fastest worker's part: enough to be measured again
  const std::lock_guard lock(mutex_);
  std::vector<double> rates = rates_;
  const double fastest = *std::max_element(rates.begin(), rates.end());
  const bool all_known = std::all_of(rates.begin(), rates.end(), [](double rate) { return rate > 0; });
  for (double& rate : rates) rate = all_known ? std::max(rate, kLeast * fastest) : 1;
  const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
  std::vector<std::int64_t> borders{0};
  double before = 0;
  for (double rate : rates) {
    before += rate;
    const auto border = static_cast<std::int64_t>(static_cast<double>(count) * (before / sum));
    borders.push_back(std::clamp(border, borders.back(), count));
  }
  borders.back() = count;
  return borders;
}

void Shares::measured(std::size_t worker, std::int64_t count, double seconds) {
  constexpr std::int64_t kTelling = 4096;
  if (count < kTelling || !(seconds > 0)) return;
  const std::lock_guard lock(mutex_);
  const double now = static_cast<double>(count) / seconds;
  double& rate = rates_[worker];
  rate = rate > 0 ? (rate + now) / 2 : now;
}

}  // namespace fathom::points
