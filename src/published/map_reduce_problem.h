// What the front hands to a map and a reduction, on the CPU and on devices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fathom/published/map_reduce.h"
#include "published/map_reduce.hd.h"
#include "published/phases.h"

namespace fathom::published {

template <class T>
struct MapReduceProblem {
  PointList<T> sites, queries;
  ConeList cones;
  const MapReduceOptions& options;
  int threads = 1;
  Squared<T>* squared = nullptr;  ///< [m], to be written
  std::uint32_t* site = nullptr;  ///< [m], to be written: which of `sites`; of the farthest anything. Null: not wanted

  Division division() const {
    return {sites.count, options.tile, options.kernels, std::min(options.streams, options.kernels)};
  }
};

namespace cpu {
template <class T>
Phases map_reduce(const MapReduceProblem<T>& problem);
}

namespace cuda {
/// Copies the points to the current device, and the answers back. Times are without the sites' way and the answers'.
/// @throws DeviceError, Cancelled
template <class T>
Phases map_reduce(const MapReduceProblem<T>& problem);

/// The options' devices share the sites.
/// @param shares  set: of each of them
template <class T>
Phases map_reduce_on_devices(const MapReduceProblem<T>& problem, std::vector<double>& shares);
}  // namespace cuda

}  // namespace fathom::published
