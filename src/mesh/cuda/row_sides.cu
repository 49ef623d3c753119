// Rows are numbered by a scan over their first tiles; then each of their lines is a thread's.
#include <cub/device/device_scan.cuh>

#include "core/cuda/scratch.h"
#include "mesh/cuda/questions.cuh"
#include "mesh/cuda/row_sides.h"

namespace fathom::mesh::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::check_launch;
using fathom::cuda::DeviceMemory;
using fathom::cuda::Scratch;

/// Marks the first tile of each row.
__global__ void __launch_bounds__(kAnswerBlock)
    mark_rows(const std::uint64_t* near, std::int64_t count, std::int64_t along_x, std::int32_t* marks) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kAnswerBlock + threadIdx.x;
  if (i < count) marks[i] = i == 0 || near[i] / along_x != near[i - 1] / along_x;
}

__global__ void __launch_bounds__(kAnswerBlock)
    list_rows(const std::uint64_t* near, std::int64_t count, std::int64_t along_x, const std::int32_t* rows,
              std::uint64_t* list) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kAnswerBlock + threadIdx.x;
  if (i < count) list[rows[i] - 1] = near[i] / along_x;  // the same from all tiles of a row
}

/// The lines of some rows of tiles.
struct LinesOfRows {
  std::int64_t count, shape_y, shape_z, rows_y;
  const std::uint64_t* rows;

  __device__ bool of(std::int64_t line, std::int64_t& j, std::int64_t& k) const {
    const auto row = static_cast<std::int64_t>(rows[line / (kTileSide * kTileSide)]);
    j = row % rows_y * kTileSide + line % kTileSide;
    k = row / rows_y * kTileSide + line / kTileSide % kTileSide;
    return j < shape_y && k < shape_z;
  }
};

}  // namespace

RowSides::RowSides(const TreeView& tree, const TileGrid& tiles, const std::uint64_t* near, std::int64_t tile_count,
                   cudaStream_t stream) {
  if (tree.sign != Sign::winding || tile_count == 0) return;
  const std::int64_t along_x = tiles.shape[0];
  std::size_t for_scan = 0;
  std::int32_t *marks = nullptr, *rows = nullptr;
  const auto scan = [&](void* temporary) {
    check(cub::DeviceScan::InclusiveSum(temporary, for_scan, marks, rows, tile_count, stream), "numbering rows");
  };
  scan(nullptr);
  std::uint64_t* list = nullptr;
  std::byte* temporary = nullptr;
  const auto place = [&](std::byte* base) {
    Scratch scratch(base);
    rows = scratch.take<std::int32_t>(tile_count);
    marks = scratch.take<std::int32_t>(tile_count);
    list = scratch.take<std::uint64_t>(tile_count);
    temporary = scratch.take<std::byte>(static_cast<std::int64_t>(for_scan));
    return scratch.bytes();
  };
  numbers_ = std::make_unique<DeviceMemory>(place(nullptr), stream);
  place(numbers_->data());
  const unsigned blocks = blocks_for(tile_count, kAnswerBlock);
  mark_rows<<<blocks, kAnswerBlock, 0, stream>>>(near, tile_count, along_x, marks);
  check_launch("marking rows");
  scan(temporary);
  list_rows<<<blocks, kAnswerBlock, 0, stream>>>(near, tile_count, along_x, rows, list);
  check_launch("listing rows");
  std::int32_t count = 0;
  check(cudaMemcpyAsync(&count, rows + tile_count - 1, sizeof count, cudaMemcpyDeviceToHost, stream),
        "reading a count");
  check(cudaStreamSynchronize(stream), "listing rows");
  const LinesOfRows lines{std::int64_t{count} * kTileSide * kTileSide, tiles.grid.shape[1], tiles.grid.shape[2],
                          tiles.shape[1], list};
  const std::int64_t words = words_of(tiles.grid);
  const auto bytes = static_cast<std::size_t>(lines.count * words) * sizeof(std::uint64_t);
  bits_ = std::make_unique<DeviceMemory>(bytes, stream);
  check(cudaMemsetAsync(bits_->data(), 0, bytes, stream), "clearing sides");  // lines beyond the lattice are outside
  set_lines<<<blocks_for(lines.count, kLinesBlock), kLinesBlock, 0, stream>>>(
      tree, tiles.grid, lines, reinterpret_cast<std::uint64_t*>(bits_->data()), words);
  check_launch("counting windings");
  rows_ = rows;
}

}  // namespace fathom::mesh::cuda
