// The loop over queries against voxels.
#pragma once

#include "core/parallel.h"
#include "points/pyramid.h"
#include "points/request.h"

namespace fathom::points::cpu {

/// How a call is run.
struct VoxelCut {
  bool wide = false;  ///< distances need more than 53 bits
  int threads = 1;
  std::int64_t ordered = 0;  ///< queries that are put along a curve at a time; 0: none are
};

/// @param extents  of the grid; in 2D the last is 1
/// @param monitor  told of one unit for each query
void search_voxels(const Pyramid& pyramid, const Cell& extents, const Request& request, const VoxelCut& cut,
                   Monitor& monitor);

}  // namespace fathom::points::cpu
