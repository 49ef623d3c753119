// Tiles along y along whose lines nothing changes, as with a plane of sites, or sites alone: that of its own row is the
// nearest to each element.
//
// Work mapping: block = half a tile, half warp = eight rows, lane = column. Cost: a comparison per element.
#pragma once

#include "grid/cuda/volume/nearest/sites.cuh"

namespace fathom::grid::cuda::volume {

/// Whether sites lie in all rows as they do in the first, in which there are some; all keep leads. By all threads.
__device__ inline bool are_same_sites(const SitesOfRows& sites, int rows) {
  const int t = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  bool same = true;
#pragma unroll 4
  for (int r = t / 2; r < rows; r += threads / 2) same &= sites.are_like_first(r, t % 2);
  const unsigned lead = sites.lead(0);
  if (Leads::is_far(lead)) {
    const int along_x = sites.way_by(lead, 0).x;
#pragma unroll 4
    for (int r = t / 16; r < rows; r += threads / 16) same &= sites.way_by(lead, r).x == along_x;
  }
  return __syncthreads_and(same);
}

/// By all threads.
__device__ inline void write_same_sites(const SitesOfRows& sites, int rows, const SiteWriter& writer) {
  const SitesOfRows::Steps way = sites.way(0);
  const unsigned square = way.square();
  for (int y = static_cast<int>(threadIdx.x) / 16 * 8; y < rows; y += static_cast<int>(blockDim.x) / 2)
    writer.write_group(y, rows - y, [&](int j) { return SiteWriter::Result{square, writer.site(y + j, way)}; });
}

}  // namespace fathom::grid::cuda::volume
