// Builds the tree over a cloud's sites.
#pragma once

#include "core/parallel.h"
#include "points/tree.h"

namespace fathom::points::cpu {

/// Bytes that build_tree() takes besides the tree.
std::size_t build_scratch_bytes(const Cloud& sites, Storage storage);

/// @param ids      of the sites where they are not their indices in the caller's array; else empty. Ascending
/// @param extent   the sites' box
/// @param monitor  told of 2 · count units of work
Tree build_tree(const Cloud& sites, const std::vector<std::uint32_t>& ids, const Box& extent, Storage storage,
                int threads, Monitor& monitor);

}  // namespace fathom::points::cpu
