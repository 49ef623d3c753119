// Distances of points by a map and a reduction, as published: to call, to read, and to measure beside points' own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "fathom/core/execution.h"
#include "fathom/core/view.h"
#include "fathom/points/coordinates.h"
#include "fathom/published/phase.h"

namespace fathom::published {

struct MapReduceOptions {
  int kernels = 10;        ///< K: parts of the sites, each mapped and reduced by kernels of its own, ≥ 1
  int streams = 2;         ///< J: parts at work at a time, 1 … 64; no more than `kernels` are used
  int tile = 128;          ///< sites of a tile, which is a block's: a multiple of 32, up to 256
  bool atomic = false;     ///< the map keeps the minimum by atomic operations, without a kernel that reduces
  std::int64_t every = 1;  ///< perforated: only sites 0, p, 2p, … are looked at
  AnyConstView
      directions;  ///< anisotropic: float32 or float64, [m, d], or [1, d] for all queries; absent: all directions
  double half_angle = std::numbers::pi;  ///< only sites within this of the direction, in radians, 0 … π
  /// Devices that share the sites, in proportion to their speeds, which are measured first; one may stand here twice.
  /// Empty: the current one has all of them.
  std::vector<int> devices;
  bool measure_error = false;  ///< compare the distances with those of all sites
  Execution execution;         ///< backend `automatic` is a device if there is one
};

/// [m] each. A default view is not computed. They must not overlap the points or one another.
struct MapReduceOutputs {
  AnyView distance;  ///< float32 or float64; +inf without a site
  AnyView site;      ///< int32 or int64: index of the nearest site; of equally near ones the lowest; −1 without one
};

/// What a call did.
struct MapReduceReport {
  Backend backend = Backend::cpu;
  int threads = 1;
  std::string device = {};             ///< names of the devices that did the work; empty: the CPU did
  bool exact = true;                   ///< no site was left out
  std::int64_t tiles = 0;              ///< N
  std::size_t intermediate_bytes = 0;  ///< between maps and reductions: J · ⌈N / K⌉ · m numbers
  std::size_t scratch_bytes = 0;       ///< with the points and the answers as the algorithm has them
  /// Times of the algorithm's phases, on a device without the copies of the sites and the answers.
  std::vector<Phase> phases;
  std::vector<double> shares;   ///< of the sites, of each of several devices
  std::optional<double> error;  ///< if asked for: mean absolute percentage error of the distances
};

/// Distance from each query to its nearest site, by looking at all of them. Use points::SiteSet to have distances: it
/// is as exact, and faster. Distances, and sites, are its bytes, of perforated sites and in cones, too.
///
/// @param sites    [n, d], d 2 or 3. Between int32 coordinates the numbers are the paper's, of 32 bits; else float64
/// @param queries  [m, d]
/// @param outputs  at least one view
/// @throws InvalidArgument what was wrong and what would work, before any output is touched
/// @throws DeviceError CUDA was asked for and is not to be had, or failed
/// @throws Cancelled the stop token asked for it; outputs are unspecified
/// Cost: O(n · m). Source and departures: src/published/map_reduce.hd.h.
MapReduceReport map_reduce(const points::Coordinates& sites, const points::Coordinates& queries,
                           const MapReduceOptions& options, const MapReduceOutputs& outputs);

}  // namespace fathom::published
