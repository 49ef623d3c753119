// Arrays of a device that the host has to look at. No CUDA header is needed to call it.
#pragma once

#include "fathom/core/array.h"
#include "fathom/core/device.h"
#include "fathom/core/view.h"

namespace fathom::apps::cuda {

/// A dense copy in the host's memory. Waits.
/// @throws InvalidArgument the memory is not on one device
Array downloaded(const AnyConstDeviceView& view, const char* name, Stream stream);

}  // namespace fathom::apps::cuda
