// Local thickness between arrays in a device's memory. No CUDA header is needed to call it. All is checked, and nothing
// is empty.
#pragma once

#include <cstddef>
#include <string>

#include "apps/images.h"
#include "fathom/apps/local_thickness.h"
#include "fathom/core/device.h"
#include "fathom/core/view.h"

namespace fathom::apps::cuda {

/// Bytes of scratch; the memory behind the views may be missing.
std::size_t local_thickness_bytes(const AnyConstDeviceView& input, const DeviceLocalThicknessOptions& options,
                                  const Images& images);

/// @returns the name of the device
std::string local_thickness(const AnyConstDeviceView& input, const DeviceLocalThicknessOptions& options,
                            const Images& images, const AnyDeviceView& out, Stream stream);

}  // namespace fathom::apps::cuda
