// Where a call's arrays are, and whether it may wait for them.
#pragma once

#include <initializer_list>

#include "fathom/core/device.h"
#include "fathom/core/view.h"

namespace fathom::apps::cuda {

struct NamedView {
  AnyConstDeviceView view;
  const char* name;
};

/// The device that has the memory of all views that are present and not empty; without any, the current one. Of memory
/// that a capture of the stream took: as core has it.
/// @throws InvalidArgument a view's memory is not on one device
int device_of(std::initializer_list<NamedView> views, Stream stream);

/// For calls that wait. @param what  their name: "a Voronoi diagram"
/// @throws InvalidArgument the stream is being captured into a graph
void refuse_capture(Stream stream, const char* what);

}  // namespace fathom::apps::cuda
