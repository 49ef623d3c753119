// Sites read back from where a set keeps them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "points/tree.h"
#include "points/voxel_cell.hd.h"

namespace fathom::points {

/// The sites of a cloud or of a tree in the host's memory.
SiteList sites_of(const Cloud& sites);
SiteList sites_of(const Tree& tree);

/// Linear indices of the elements whose bits are set.
/// @param words  of a grid's elements, as level 0 of a pyramid has them
std::vector<std::int64_t> elements_of(std::span<const std::uint64_t> words, const Cell& extents, int axes);

}  // namespace fathom::points
