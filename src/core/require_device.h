// What an explicit request for a device comes to where there is none.
#pragma once

namespace fathom {

/// @throws DeviceError there is no device, or this build cannot use one
void require_device();

}  // namespace fathom
