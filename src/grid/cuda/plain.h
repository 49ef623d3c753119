// The fast engines: exact Euclidean distances from a mask, isotropic spacing, open borders or borders of sites.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "grid/batch.h"

namespace fathom::grid::cuda {

/// Whether the engine for planes serves: Euclidean, isotropic, no periodic border, no labels or nearest site, signed only as
/// floats without a limit, one or two axes that are short enough for its integers.
bool plane_serves(const Problem& problem);
std::size_t plane_scratch_bytes(const Problem& problem, const Batch& batch);

/// Fills the outputs of all items, in the stream's order. Neither the region nor the batch is empty.
/// @param scratch  plane_scratch_bytes() bytes, aligned to 256
void plane_transform(const Problem& problem, const Batch& batch, std::byte* scratch, cudaStream_t stream);

/// The same for volumes: three axes of at most 1024 elements.
bool volume_serves(const Problem& problem);
std::size_t volume_scratch_bytes(const Problem& problem, const Batch& batch);
void volume_transform(const Problem& problem, const Batch& batch, std::byte* scratch, cudaStream_t stream);

}  // namespace fathom::grid::cuda
