// Points of a device on their way to the host.
#pragma once

#include "fathom/core/array.h"
#include "fathom/core/device.h"
#include "points/cloud.h"

namespace fathom::points::cuda {

/// Points in a device's memory as rows of the host, [n, d]. Waits for the stream, in whose order they are there.
/// @throws InvalidArgument they are not in a device's memory
Array download(const Cloud& points, Stream stream);

}  // namespace fathom::points::cuda
