// The loop over queries against voxels.
#pragma once

#include "core/parallel.h"
#include "points/pyramid.h"
#include "points/request.h"

namespace fathom::points::cpu {

/// @param extents  of the grid; in 2D the last is 1
/// @param wide     distances need more than 53 bits
/// @param monitor  told of one unit for each query
void search_voxels(const Pyramid& pyramid, const Cell& extents, const Request& request, bool wide, int threads,
                   Monitor& monitor);

}  // namespace fathom::points::cpu
