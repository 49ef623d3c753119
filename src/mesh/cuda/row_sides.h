// Sides of the lines of rows of tiles, by winding numbers.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "mesh/cuda/lines.cuh"
#include "mesh/cuda/near_tiles.h"

namespace fathom::mesh::cuda {

/// Which points of the near tiles' lines are inside; of meshes with other signs nothing.
class RowSides {
 public:
  /// Waits.
  /// @param near  numbers of tiles, in ascending order
  RowSides(const TreeView& tree, const TileGrid& tiles, const std::uint64_t* near, std::int64_t count,
           cudaStream_t stream);

  /// Bytes that it takes of each tile and of each row, at most.
  static std::size_t bytes_of_tile(const TreeView& tree) { return tree.sign == Sign::winding ? 32 : 0; }
  static std::size_t bytes_of_row(const TreeView& tree, const Grid& grid) {
    if (tree.sign != Sign::winding) return 0;
    return static_cast<std::size_t>(kTileSide * kTileSide * words_of(grid)) * sizeof(std::uint64_t);
  }

  /// [near tile]: number of its row among those, from 1.
  const std::int32_t* rows() const { return rows_; }
  /// [row, line, word].
  const std::uint64_t* bits() const { return bits_ ? reinterpret_cast<const std::uint64_t*>(bits_->data()) : nullptr; }

 private:
  std::unique_ptr<fathom::cuda::DeviceMemory> numbers_, bits_;
  const std::int32_t* rows_ = nullptr;
};

}  // namespace fathom::mesh::cuda
