// The devices of this machine.
#pragma once

#include "fathom/core/device.h"

namespace fathom::cuda {

int device_count() noexcept;
DeviceInfo describe_device(int device);
int current_device();

}  // namespace fathom::cuda
