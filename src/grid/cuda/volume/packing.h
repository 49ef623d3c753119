// The words of volumes, of masks and of labels.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "grid/cuda/input/mask.cuh"
#include "grid/cuda/volume/volume.cuh"

namespace fathom::grid::cuda::volume {

struct PackingLaunch {
  std::int64_t items;
  cudaStream_t stream;
  bool is_early;  ///< right behind the kernel that fills tables, and beside it
};

void pack_mask(const Volume& volume, const Mask& mask, const PackingLaunch& launch);

/// @param last_plane  of labels, dense: that before the input's first; null: there is none
void pack_labels(const Volume& volume, const Input& input, const std::byte* last_plane, const PackingLaunch& launch);

}  // namespace fathom::grid::cuda::volume
