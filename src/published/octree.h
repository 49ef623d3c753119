// The octree on the host: how large it is, and what it holds.
#pragma once

#include "fathom/published/band.h"
#include "published/band_found.h"
#include "published/octree.hd.h"

namespace fathom::published {

/// Units of 8 bytes that a tree is given at first, and then, since these were too few.
/// @throws InvalidArgument the scratch limit has no room for more, or references do not count them
unsigned long long first_capacity(const BandProblem& problem, const BandOptions& options);
unsigned long long next_capacity(unsigned long long before, const BandOptions& options);

/// Of an octree in the host's memory: all points, a part for each of the subtrees, and the number of nodes.
void read_tree(const Octree& tree, int threads, BandFound& found);

}  // namespace fathom::published
