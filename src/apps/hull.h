// Where the convex hull of voxels turns: what a picture must have room for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fathom::apps {

using Index = std::array<std::int32_t, 3>;

/// Drops points that are not corners of the convex hull of those with the same index along an axis. What is a corner of
/// the whole hull stays. Source: Andrew 1979, the monotone chain. Cost: O(n log n).
void keep_corners(std::vector<Index>& points, std::size_t axis);

}  // namespace fathom::apps
