// Which elements are sites, on a device.
#pragma once

#include "fathom/grid/distance.h"

namespace fathom::grid::cuda {

/// As grid::mark_sites(), checked and not empty; any rule but `labels`.
void mark_sites(const AnyConstDeviceView& input, const Sites& sites, const AnyDeviceView& marks, Stream stream);

}  // namespace fathom::grid::cuda
