// The volume that stands for the scan of the Stanford bunny.
#pragma once

#include "fathom/core/array.h"

namespace fathom::cli {

/// A hollow hare of ellipsoids, 1 where it is solid: uint8, its ears up along the first axis, looking along the third.
/// @param part  of the scan's 512 × 360 × 512 voxels along each axis, such as 1.0 / 4
Array make_hare(double part);

/// Places of the voxels that are not 0, in the order of the volume's memory: [n, 3] int32.
Array solid_voxels(const Array& volume);

}  // namespace fathom::cli
