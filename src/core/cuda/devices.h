// The devices of this machine.
#pragma once

#include "fathom/core/device.h"

namespace fathom::cuda {

int device_count() noexcept;
/// @throws DeviceError there is none, or the process was forked from one that used it
void require_device();
DeviceInfo describe_device(int device);
int current_device();

}  // namespace fathom::cuda
