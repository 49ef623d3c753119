// The rows of a tile that have sites, where these rows are few.
#pragma once

#include "grid/cuda/volume/volume.cuh"

namespace fathom::grid::cuda::volume {

/// In shared memory, in whatever order.
template <int kMost>
struct FilledRows {
  int count;  ///< of all; no more than kMost of them are kept
  int row[kMost];

  /// By all threads, which look at every blockDim.x-th row. @param has_sites  of a row
  template <class HasSites>
  __device__ void find(int rows, HasSites&& has_sites) {
    const auto t = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    if (t == 0) count = 0;
    __syncthreads();
    for (int r = t; r < rows; r += threads) {
      if (!has_sites(r)) continue;
      const int place = atomicAdd(&count, 1);
      if (place < kMost) row[place] = r;
    }
    __syncthreads();
  }
};

}  // namespace fathom::grid::cuda::volume
