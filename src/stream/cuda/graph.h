// Puts tile graphs on a device. No CUDA header is needed to call it.
#pragma once

#include <memory>

#include "stream/device_graph.h"

namespace fathom::stream::cuda {

/// On the current device. Says in the plan what it takes, and which entries the CPU computes.
/// @param wants_all  nothing is made, and null returned, if there are any such
/// @throws InvalidArgument a scratch limit with which nothing can be done
std::unique_ptr<DeviceGraph> make_device_graph(Plan& plan, const EvaluatorOptions& options, bool wants_all);

/// Copies pixels of a device's memory to the host, and waits.
void read(const AnyConstDeviceView& pixels, const Rectangle& part, const AnyView& out);

}  // namespace fathom::stream::cuda
