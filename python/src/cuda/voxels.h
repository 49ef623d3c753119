// Sets of voxels on devices, and edits by lists that lie there.
#pragma once

#include <nanobind/nanobind.h>

#include "cuda/device_array.h"
#include "voxel_set.h"

namespace fathom::python {

/// The nonzero elements of a mask. Waits until it is built.
VoxelSet* voxel_set_on_device(const DeviceArray& mask, std::uintptr_t stream);

/// As VoxelSet::edit(), in the stream's order. Waits until it is done.
std::int64_t edit_on_device(VoxelSet& set, int edit, const DeviceArray& elements, const DeviceArray* to,
                            std::uintptr_t stream);

}  // namespace fathom::python
