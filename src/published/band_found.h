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
  std::vector<std::vector<Point>> parts;  ///< in any order: threads take a part each
  Phases phases;
  std::int64_t nodes = 0, visited = 0;
  std::size_t scratch_bytes = 0;

  static Point point(const Place& place, double squared) {
    return {{static_cast<std::int32_t>(place.at[0]), static_cast<std::int32_t>(place.at[1]),
             static_cast<std::int32_t>(place.at[2])},
            squared};
  }
  std::int64_t count() const {
    std::int64_t all = 0;
    for (const auto& part : parts) all += static_cast<std::int64_t>(part.size());
    return all;
  }
};

}  // namespace fathom::published
