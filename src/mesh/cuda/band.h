// Narrow bands on a device.
#pragma once

#include <cuda_runtime_api.h>

#include "mesh/tree_view.hd.h"

namespace fathom::mesh::cuda {

/// The band of some planes, from a whole tile on, whose tiles are counted from there. In pieces, so that its scratch
/// keeps to the limit. Waits until it is done.
/// @param is_scratch  the band itself counts as such, too
/// @throws ScratchTooSmall, OutOfMemory
/// @throws Cancelled the stop token asked for it
DeviceBand make_band(const TreeView& tree, const Lattice& lattice, const Planes& planes, const BandOptions& options,
                     bool is_scratch, cudaStream_t stream);

}  // namespace fathom::mesh::cuda
