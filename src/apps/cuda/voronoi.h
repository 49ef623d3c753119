// Voronoi regions on a device. No CUDA header is needed to call it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/region_sums.hd.h"
#include "fathom/apps/voronoi.h"

namespace fathom::apps::cuda {

/// What tables are made of.
struct FoundRegions {
  std::vector<std::int64_t> sites;  ///< [n] linear indices
  std::vector<std::int64_t> sums;   ///< [n, layout.fields()]
  std::vector<Boundary> boundaries;
  double weight_scale = 1;
  std::size_t scratch_bytes = 0;
  std::string device;
};

/// Finds the regions of all sites, and fills `regions` if it is there. Waits.
/// @param sites      1 to 3 axes, not empty, at most 2³¹ − 1 elements
/// @param weights    of the same shape, or not given
/// @param transform  of the nearest sites
/// @param face       [axes] size of an element's face across each axis
/// @throws InvalidArgument as voronoi(), of what needs a look at the arrays
FoundRegions find_regions(const AnyConstDeviceView& sites, const AnyConstDeviceView& weights,
                          const VoronoiOptions& options, const grid::DistanceOptions& transform,
                          const std::vector<double>& face, const AnyDeviceView& regions, Stream stream);

/// Bytes of device memory that it takes with so many sites, besides what boundaries do.
/// @param weighted  whether weights are given
std::size_t regions_scratch_bytes(const AnyConstDeviceView& sites, const grid::DistanceOptions& transform,
                                  const SumLayout& layout, std::int64_t count, bool weighted);

}  // namespace fathom::apps::cuda
