// Which elements of a row are sites, as bytes.
#pragma once

#include <cstdint>

#include "fathom/grid/distance.h"

namespace fathom::grid::cpu {

/// mask[i] = 1 where data[i] is a site by `sites` (any rule but labels), else 0.
/// @param data   `count` elements of type `dtype`
/// @param mask   `count` bytes
void site_mask(const std::byte* data, DType dtype, std::int64_t count, const Sites& sites, std::uint8_t* mask);

}  // namespace fathom::grid::cpu
