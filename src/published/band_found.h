// What an algorithm of narrow bands hands back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "published/band_problem.hd.h"
#include "published/phases.h"

namespace fathom::published {

struct BandFound {
  struct Point {
    std::int32_t at[3];
    double squared;
  };
  std::vector<Point> points;  ///< in any order
  Phases phases;
  std::int64_t nodes = 0, visited = 0;
  std::size_t scratch_bytes = 0;

  void add(const Place& place, double squared) {
    points.push_back({{static_cast<std::int32_t>(place.at[0]), static_cast<std::int32_t>(place.at[1]),
                       static_cast<std::int32_t>(place.at[2])},
                      squared});
  }
};

}  // namespace fathom::published
