// Ray marching on a device.
#pragma once

#include "apps/marcher.h"

namespace fathom::apps::cuda {

/// In the current device's memory.
/// @throws DeviceError the device has not enough memory
std::unique_ptr<const Marcher> make_marcher(Solid solid, const RayMarcherOptions& options);

}  // namespace fathom::apps::cuda
