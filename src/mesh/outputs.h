// Outputs as callers give them, checked, and as answers are put into them.
#pragma once

#include "mesh/answer.hd.h"

namespace fathom::mesh {

/// @param questions  shape of the points that are asked about: 1 axis, or 3
/// @throws InvalidArgument no output at all, or one of another type or shape than asked for
template <MemorySpace Space>
Places places_of(const BasicOutputs<Space>& outputs, const Shape& questions);

}  // namespace fathom::mesh
