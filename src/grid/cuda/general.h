// The general engine: every option, any extents.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "grid/batch.h"

namespace fathom::grid::cuda {

/// Bytes of device memory that general_transform() uses.
std::size_t general_scratch_bytes(const Problem& problem, const Batch& batch);

/// Fills the outputs of all items, in the stream's order. Neither the region nor the batch is empty.
/// @param scratch  general_scratch_bytes() bytes, aligned to 256
void general_transform(const Problem& problem, const Batch& batch, std::byte* scratch, cudaStream_t stream);

}  // namespace fathom::grid::cuda
