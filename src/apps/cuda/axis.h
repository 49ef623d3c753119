// Integer medial axes of images on a device whose nearest sites are there.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "apps/images.h"
#include "apps/lattice3.h"
#include "fathom/apps/medial_axis.h"

namespace fathom::apps::cuda {

/// Images of one batch axis. What is not wanted has no data.
struct AxisProblem {
  Lattice3 lattice;
  Pruning pruning;
  double gamma;
  Ties ties;
  std::int64_t count;                   ///< of images
  ImageStack<const std::byte> nearest;  ///< int32 or int64, by its size
  ImageStack<std::byte> axis;           ///< bytes
  ImageStack<std::byte> witness;        ///< int32 or int64, by its size
};

void find_axis(const AxisProblem& problem, cudaStream_t stream);

}  // namespace fathom::apps::cuda
