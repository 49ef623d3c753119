// What the making of compact bands has in common.
#pragma once

#include "fathom/core/array.h"

namespace fathom::mesh {

/// Band::first, of its masks.
Array points_before(const Array& masks);

}  // namespace fathom::mesh
