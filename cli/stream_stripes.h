// A raster in the order of machines that work in stripes.
#pragma once

#include <cstdint>

#include "fathom/stream/node.h"

namespace fathom::cli {

/// The stripes of a part of a raster, from left to right, one below the other.
/// @param width  of a stripe, which divides the part's
stream::NodeRef stripes_of(const stream::NodeRef& raster, const Rectangle& part, std::int64_t width);

}  // namespace fathom::cli
