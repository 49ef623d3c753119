// Which elements of an array in a device's memory are sites.
#pragma once

#include "fathom/core/device.h"
#include "fathom/core/view.h"
#include "fathom/grid/distance.h"

namespace fathom::grid {

/// As mark_sites() of an array of the host's, in the stream's order.
/// @param marks  bool or uint8, of the input's shape; not the input
/// @throws InvalidArgument what was wrong and what would work
/// @throws DeviceError the launch failed
void mark_sites(const AnyConstDeviceView& input, const Sites& sites, const AnyDeviceView& marks, Stream stream = {});

}  // namespace fathom::grid
