// Transposes the images of a stack: what was a row is a column.
//
// Work: a block of 32 × 8 threads takes a tile of 32². It is read by rows and written by rows, so that both go through
// memory by whole lines; in between it lies in shared memory, in rows of 33, of which a column is in 32 banks.
// Source: Man et al. 2012, section 6.2.
#pragma once

#include <cstdint>

#include "core/cuda/runtime.h"

namespace fathom::published::cuda {

inline constexpr int kTile = 32, kTileRows = 8;

template <class T>
__global__ void transpose_tile(const T* from, int width, int height, T* to) {
  __shared__ T tile[kTile][kTile + 1];
  const std::int64_t slice = std::int64_t{blockIdx.y} * width * height;
  const int across = (width + kTile - 1) / kTile, x0 = static_cast<int>(blockIdx.x) % across * kTile,
            y0 = static_cast<int>(blockIdx.x) / across * kTile, column = static_cast<int>(threadIdx.x);
  for (int row = static_cast<int>(threadIdx.y); row < kTile; row += kTileRows)
    if (x0 + column < width && y0 + row < height)
      tile[row][column] = from[slice + std::int64_t{y0 + row} * width + x0 + column];
  __syncthreads();
  for (int row = static_cast<int>(threadIdx.y); row < kTile; row += kTileRows)
    if (y0 + column < height && x0 + row < width)
      to[slice + std::int64_t{x0 + row} * height + y0 + column] = tile[column][row];
}

/// @param from  [slices, height, width]; becomes [slices, width, height]
template <class T>
void transpose(const T* from, int width, int height, int slices, T* to, cudaStream_t stream) {
  const auto tiles =
      static_cast<unsigned>((width + kTile - 1) / kTile) * static_cast<unsigned>((height + kTile - 1) / kTile);
  transpose_tile<<<dim3(tiles, static_cast<unsigned>(slices)), dim3(kTile, kTileRows), 0, stream>>>(from, width, height,
                                                                                                    to);
  fathom::cuda::check_launch("transposing images");
}

}  // namespace fathom::published::cuda
