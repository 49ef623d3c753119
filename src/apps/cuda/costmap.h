// Costmaps between arrays in a device's memory. No CUDA header is needed to call it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fathom/apps/costmap.h"

namespace fathom::apps::cuda {

/// One call, checked; the map is not empty.
struct CostmapCall {
  const CostmapOptions& options;
  grid::DistanceOptions transform;  ///< of the map, or of the cells that are occupied and known
  std::vector<std::uint8_t> table;  ///< costs by squared distance in cells; 0 beyond
};

/// Bytes of device memory that costmap() takes; the memory behind the views may be missing.
std::size_t costmap_scratch_bytes(const CostmapCall& call, const AnyConstDeviceView& map,
                                  const DeviceCostmapOutputs& outputs);

/// In the stream's order. @returns the name of the device
std::string costmap(const CostmapCall& call, const AnyConstDeviceView& map, const DeviceCostmapOutputs& outputs,
                    Stream stream);

}  // namespace fathom::apps::cuda
