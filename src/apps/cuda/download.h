// Arrays of a device that the host has to look at. No CUDA header is needed to call it.
#pragma once

#include <functional>

#include "fathom/core/array.h"
#include "fathom/core/device.h"
#include "fathom/core/view.h"

namespace fathom::apps::cuda {

/// A dense copy in the host's memory. Waits. @param name  of the array, for errors
/// @throws InvalidArgument the memory is not on one device | the stream is being captured
Array downloaded(const AnyConstDeviceView& view, const char* name, Stream stream);

/// Calls work(such a copy) while the view's device is the current one.
void with_download(const AnyConstDeviceView& view, const char* name, Stream stream,
                   const std::function<void(const AnyConstView&)>& work);

}  // namespace fathom::apps::cuda
