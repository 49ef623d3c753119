// What kernels do with some texels of a texture.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/sdf.hd.h"
#include "fathom/core/view.h"

namespace fathom::apps::cuda {

/// Texels first ≤ k < first + count, row by row.
struct TexelRange {
  std::int64_t first = 0, count = 0, width = 1;
};

/// @param places  [count, 2] of their middles on the image
void place_texels(const TexelRange& range, const Placing& placing, double* places, cudaStream_t stream);

/// @param texels   whose memory is the device's
/// @param nearest  [count, kNearestSites]
void write_texels(const TexelRange& range, const Texels& texels, const double* places, const std::int64_t* nearest,
                  const AnyDeviceView& texture, cudaStream_t stream);

}  // namespace fathom::apps::cuda
