// Fathom's own pools of device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace fathom::cuda {

/// The stream-ordered pool of a device. The default one gives its memory back at every synchronisation, and mapping it
/// anew takes longer than many a transform; to change that would be to change it for the whole process. This one keeps
/// up to a share of the device's memory, until trim_pools().
cudaMemPool_t pool_of(int device);

/// What the pool of a device holds and nobody uses.
std::size_t unused_bytes(int device);

/// What Fathom's pools hold and do not use goes back to the devices.
void trim_pools();

}  // namespace fathom::cuda
