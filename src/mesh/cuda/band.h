// Narrow bands on a device.
#pragma once

#include <cuda_runtime_api.h>

#include "mesh/tree_view.hd.h"

namespace fathom::mesh::cuda {

/// Waits until it is done.
DeviceBand make_band(const TreeView& tree, const Lattice& lattice, const BandOptions& options, cudaStream_t stream);

}  // namespace fathom::mesh::cuda
