// Whether tensor cores give exact squared distances between small whole numbers, and how sites become such.
#pragma once

#include <cuda_runtime_api.h>

#include "points/cuda/device_tree.h"

namespace fathom::points::cuda {

/// Small whole numbers in the place of coordinates: (coordinate − center) · scale, rounded.
struct Lattice {
  double center[3] = {};
  float middle[3] = {};  ///< the same in float32: exactly, between float32 sites and where nothing is rounded
  double scale = 1;
  bool exact = false;  ///< nothing is rounded

  static Lattice of(const DeviceTree& tree);
};

/// Whether the sites have such a lattice: their extent is neither too small nor too large for float32.
bool products_serve(const DeviceTree& tree);

/// Tries it on the current device, the first time, and waits for the answer.
bool products_are_exact(cudaStream_t stream);

}  // namespace fathom::points::cuda
