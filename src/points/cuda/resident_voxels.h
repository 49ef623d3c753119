// Puts voxels on a device. No CUDA header is needed to call it.
#pragma once

#include <memory>

#include "points/resident_voxels.h"

namespace fathom::points::cuda {

/// On the current device. Waits until it is built.
/// @param pyramid  of the host, which has the bits, `count` of the elements'; null: there are none
/// @throws DeviceError the device has not enough memory
std::unique_ptr<ResidentVoxels> make_voxels(const Shape& shape, const Pyramid* pyramid, std::int64_t count);

/// The nonzero elements of a mask, on its device. Waits until it is built.
/// @throws InvalidArgument the mask is not in a device's memory
std::unique_ptr<ResidentVoxels> make_voxels(const AnyConstDeviceView& mask, Stream stream);

}  // namespace fathom::points::cuda
