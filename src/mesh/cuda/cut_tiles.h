// Tiles in which inside and outside meet in a hole of the surface: see BandRule.
#pragma once

#include "mesh/cuda/near_tiles.h"

namespace fathom::mesh::cuda {

/// Which tiles are cut.
struct CutTiles {
  std::unique_ptr<fathom::cuda::DeviceMemory> memory;
  std::size_t bytes = 0;                ///< of it
  const std::uint8_t* marks = nullptr;  ///< [tile]; null: none
};

/// Adds those that are cut to the near ones. Waits.
/// @throws InvalidArgument the scratch limit is too small
CutTiles add_cut_tiles(const TreeView& tree, const TileGrid& tiles, NearTiles& near, const Execution& execution,
                       cudaStream_t stream);

}  // namespace fathom::mesh::cuda
