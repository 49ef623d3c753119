// What queries of a plain set will meet, told by a few of them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "points/cuda/device_tree.h"

namespace fathom::points::cuda {

/// What more than an eighth of queries have many of, among which float32 or the order of sites must decide: groups of
/// sites that a lattice (products.h) does not tell apart, and groups that are equally near in float32, too.
struct Trial {
  bool vague = false;
  bool tied = false;
};

inline constexpr std::int64_t kQuickTrial = 1 << 18;  ///< sites; with more the trial takes a third of building boxes

/// Of a set in the device's memory that a lattice serves and whose extent is known; waits for it.
Trial try_queries(const DeviceTree& tree, cudaStream_t stream);

}  // namespace fathom::points::cuda
