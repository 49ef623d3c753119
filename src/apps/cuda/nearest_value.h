// Values and directions from nearest sites between arrays in a device's memory. No CUDA header is needed to call it.
#pragma once

#include <cstddef>
#include <string>

#include "apps/direction.hd.h"
#include "apps/nearest_value.h"
#include "fathom/core/device.h"

namespace fathom::apps::cuda {

/// Bytes of device memory that nearest_values() takes; the memory behind the views may be missing.
std::size_t nearest_value_scratch_bytes(const AnyConstDeviceView& input, const grid::DistanceOptions& options,
                                        const DeviceNearestValueOutputs& outputs);

/// In the stream's order. All is checked, and nothing empty. @param compass  for directions
/// @returns the name of the device
std::string nearest_values(const AnyConstDeviceView& input, const grid::DistanceOptions& options,
                           const DeviceNearestValueOutputs& outputs, const Compass& compass, Stream stream);

}  // namespace fathom::apps::cuda
