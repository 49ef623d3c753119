// A distance transform after validation: every option resolved, axes that cannot matter gone. What the engines read.
#pragma once

#include <array>
#include <cstdint>

#include "fathom/grid/distance.h"

namespace fathom::grid {

inline constexpr int kMaxSpaceRank = 8;

template <class T>
using PerAxis = std::array<T, kMaxSpaceRank>;

/// Axes of extent 1 whose border is not `sites` are dropped from `input`, `outputs` and all per-axis values; at least one
/// axis remains. Nothing in it is empty.
struct Problem {
  AnyConstView input;
  DistanceOutputs outputs;  ///< coordinates keep one leading component per axis of the *caller's* input
  Sites sites;
  Metric metric = Metric::euclidean;
  int rank = 0;
  PerAxis<double> spacing{};
  PerAxis<Border> border{};
  PerAxis<Range> region{};
  bool signed_distance = false;
  Surface surface = Surface::faces;
  double max_distance = 0;  ///< +inf: none

  /// The spacing is the same on all axes: distances are unit distances times `unit`, and all that decides is integer.
  bool isotropic = true;
  double unit = 1;

  std::int64_t extent(int axis) const { return input.shape()[axis]; }
  std::int64_t region_extent(int axis) const { return region[static_cast<std::size_t>(axis)].end - region[static_cast<std::size_t>(axis)].begin; }
};

/// @throws InvalidArgument what was wrong and what would work
Problem make_problem(const AnyConstView& input, const DistanceOptions& options, const DistanceOutputs& outputs);

}  // namespace fathom::grid
