// Tiles along z of which only few rows have sites, as with a plane, a line or a single site: each row is tried
// everywhere.
//
// Work mapping: block = tile, warp = eight of its rows, lane = column. Cost: three operations per element and row with
// sites.
#pragma once

#include "grid/cuda/volume/far_rows.cuh"
#include "grid/cuda/volume/filled_rows.cuh"

namespace fathom::grid::cuda::volume {

/// In shared memory. All threads call it.
class FewRowsAlongZ {
 public:
  /// @returns whether there are at most kFewRows
  __device__ bool find(const Volume& v, const Volume::Tile& tile) {
    const uint2* line = v.word_line(tile);
    filled_.find(v.nz, [&](int r) { return has_sites(__ldg(line + r)); });
    return filled_.count <= kFewRows;
  }

  /// After find(). Not inlined, for the registers of the search. @returns whether some rows do not fit 16 bits
  __device__ __noinline__ bool solve(const Volume& v, const Volume::Tile& tile) const {
    const FarRows far(v, tile, lane_id());
    const uint2* line = v.word_line(tile);
    const int count = filled_.count;
    int row[kFewRows];
    unsigned square[kFewRows];
#pragma unroll
    for (int k = 0; k < kFewRows; ++k) {
      row[k] = k < count ? filled_.row[k] : 0;
      square[k] = k < count ? square_along_x(__ldg(line + row[k])) : kNone32;
    }
    bool any_wide = false;
    for (int z = static_cast<int>(threadIdx.x) / 32 * 8; z < v.nz; z += static_cast<int>(blockDim.x) / 32 * 8) {
      unsigned best[8];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        best[j] = kNone32;
#pragma unroll
        for (int k = 0; k < kFewRows; ++k)
          if (k < count) best[j] = min(best[j], square[k] + static_cast<unsigned>((z + j - row[k]) * (z + j - row[k])));
      }
      any_wide |= far.put(z, best, min(8, v.nz - z));
    }
    return __syncthreads_or(any_wide);
  }

 private:
  FilledRows<kFewRows> filled_;
};

}  // namespace fathom::grid::cuda::volume
