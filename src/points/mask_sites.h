// The sites of a mask, as coordinates.
#pragma once

#include <cstdint>
#include <vector>

#include "fathom/core/array.h"

namespace fathom::points {

struct MaskSites {
  Array coordinates;  ///< int32, [n, rank], in row-major order of the elements
};

/// Every `every`-th of the nonzero elements.
/// @throws InvalidArgument not 2 or 3 axes; an extent beyond int32
MaskSites sites_of_mask(const AnyConstView& mask, std::int64_t every);

/// Row-major indices of the sites, which uint32 must hold.
std::vector<std::uint32_t> linear_indices(const MaskSites& sites, const Shape& shape);

}  // namespace fathom::points
