// The words of volumes, of masks and of labels, by the kernels that read such rows fastest.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "grid/cuda/input/mask.cuh"
#include "grid/cuda/volume/volume.cuh"

namespace fathom::grid::cuda {

struct PackingLaunch {
  std::int64_t items;
  cudaStream_t stream;
  bool is_early;  ///< right behind the kernel that fills tables, and beside it
};

/// Where the words of a mask belong.
struct MaskWords {
  Volume volume;
  Mask mask;
};

/// @param sides  one, or both of a signed field, whose sites are the elements of the other one
void pack_masks(const std::vector<MaskWords>& sides, PackingLaunch launch);

/// @param last_plane  of labels, dense: that before the input's first; null: there is none
void pack_labels(const Volume& volume, const Input& input, const std::byte* last_plane, const PackingLaunch& launch);

}  // namespace fathom::grid::cuda
