// What a device cannot compute: nodes that the CPU computes from pixels that it has from the device.
#pragma once

#include "fathom/core/execution.h"
#include "stream/cuda/work.h"

namespace fathom::stream::cuda {

/// Computes a part of a node. Waits.
/// @param children  what it needs of its children
void compute_on_cpu(const Node& node, const Rectangle& part, const Patch& to, const std::vector<Patch>& children,
                    const Execution& execution, Walk& walk);

/// Copies what the CPU computed. Waits.
void upload(const Array& pixels, const Patch& to, cudaStream_t stream);

}  // namespace fathom::stream::cuda
