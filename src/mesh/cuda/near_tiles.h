// Which tiles of a lattice the surface may be near to.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "core/cuda/runtime.h"
#include "mesh/tree_view.hd.h"

namespace fathom::mesh::cuda {

/// Planes of a lattice along z, from a whole tile on, in tiles, which are numbered along x, then y, then z.
struct TileGrid {
  Grid grid;
  std::int64_t shape[3];              ///< in tiles
  std::int64_t below = 0, above = 0;  ///< whether the lattice has more of them along z on either side

  TileGrid(const Lattice& lattice, const Planes& planes) : grid(grid_of(lattice)) {
    grid.first[2] = planes.first;
    grid.shape[2] = planes.count;
    below = planes.first > 0;
    above = planes.first + planes.count < lattice.shape[2];
    for (int k = 0; k < 3; ++k) shape[k] = (grid.shape[k] + kTileSide - 1) / kTileSide;
  }
  FATHOM_HD std::int64_t rows() const { return shape[1] * shape[2]; }
  FATHOM_HD std::int64_t count() const { return shape[0] * rows(); }
  FATHOM_HD void place_of(std::int64_t number, std::int64_t (&at)[3]) const {
    at[0] = number % shape[0];
    at[1] = number / shape[0] % shape[1];
    at[2] = number / shape[0] / shape[1];
  }
};

inline constexpr int kDivision = 4;  ///< of cubes along each axis, on the way down to tiles

/// The triangles that may be near to some point of a cube of kDivision³ tiles.
struct CubeList {
  static constexpr int kMost = 255;
  std::int32_t count;  ///< above kMost: they are not all in the list
  std::uint32_t places[kMost];
};

/// Such lists for the cubes that have near tiles.
struct CubeLists {
  std::int32_t* numbers = nullptr;  ///< [cube]: of its list, or −1
  CubeList* lists = nullptr;
  std::int64_t shape[2] = {};  ///< cubes along x and y

  /// @return null if there is no whole list
  __device__ const CubeList* of(const std::int64_t (&tile)[3]) const {
    if (!lists) return nullptr;
    const std::int32_t number =
        numbers[(tile[2] / kDivision * shape[1] + tile[1] / kDivision) * shape[0] + tile[0] / kDivision];
    return number >= 0 && lists[number].count <= CubeList::kMost ? lists + number : nullptr;
  }
};

struct NearTiles {
  std::unique_ptr<fathom::cuda::DeviceMemory> memory, of_cubes;
  std::size_t bytes = 0;                 ///< of them
  const std::uint64_t* tiles = nullptr;  ///< in ascending order
  std::int64_t count = 0;
  CubeLists cubes;
};

/// Brings them into ascending order.
void sort(NearTiles& near, const TileGrid& tiles, cudaStream_t stream);

/// All tiles with a point that is no farther than the cutoff from the surface, and few others. Waits.
/// @throws InvalidArgument the scratch limit is too small
NearTiles near_tiles(const TreeView& tree, const TileGrid& tiles, double cutoff, const Execution& execution,
                     cudaStream_t stream);

}  // namespace fathom::mesh::cuda
