// Narrow bands for the host.
#pragma once

#include "mesh/tree_view.hd.h"

namespace fathom::mesh::cuda {

/// The whole band in the host's memory. Where the device or the scratch limit has no room for it, which counts as
/// scratch, slabs of the lattice along z are made one after the other, of whole tiles. Waits.
/// @throws ScratchTooSmall, OutOfMemory  one layer of tiles does not fit
/// @throws Cancelled the stop token asked for it
Band band_in_slabs(const TreeView& tree, const Lattice& lattice, const BandOptions& options);

}  // namespace fathom::mesh::cuda
