// Narrow bands on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fathom/published/band.h"
#include "published/band_problem.h"
#include "published/phases.h"

namespace fathom::published {

/// What an algorithm hands back.
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

namespace cpu {

BandFound octree(const BandProblem& problem, const BandOptions& options, int threads);
BandFound mauch(const BandProblem& problem, const BandOptions& options, int threads);
BandFound naive(const BandProblem& problem, const BandOptions& options, int threads);

/// A square for each place of a lattice, infinite at first. @throws InvalidArgument the scratch limit has no room for it
std::vector<double> squares_of(const BandProblem& problem, const BandOptions& options, BandFound& found);
/// Takes what is within the cutoff.
void take_squares(const BandProblem& problem, const std::vector<double>& squares, BandFound& found);

}  // namespace cpu

}  // namespace fathom::published
