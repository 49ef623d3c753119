// How much of a call each of several workers takes: in proportion to how fast each was before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace fathom::points {

class Shares {
 public:
  explicit Shares(std::size_t workers) : rates_(workers) {}

  /// Worker i takes elements border[i] … border[i + 1] − 1 of so many; equal parts until all have been measured.
  std::vector<std::int64_t> cut(std::int64_t count) const;

  /// A worker took so long for so many. Fewer than a few thousand are forgotten: they tell of calls, not of speed.
  void measured(std::size_t worker, std::int64_t count, double seconds);

 private:
  mutable std::mutex mutex_;
  std::vector<double> rates_;  ///< elements per second; 0: not measured
};

}  // namespace fathom::points
