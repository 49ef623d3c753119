// Ray marching on a device.
#pragma once

#include "apps/marcher.h"
#include "fathom/core/device.h"

namespace fathom::apps::cuda {

/// In the current device's memory.
/// @throws DeviceError the device has not enough memory
std::unique_ptr<const Marcher> make_marcher(Solid solid, const RayMarcherOptions& options);

/// Of a volume in a device's memory, there, in the stream's order; waits for it. @param threads  of the host
/// @throws InvalidArgument the volume is in no device's memory | the memory limit is too small
std::unique_ptr<const Marcher> make_marcher(const AnyConstDeviceView& volume, const RayMarcherOptions& options,
                                            int threads, Stream stream);

}  // namespace fathom::apps::cuda
