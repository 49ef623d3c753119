// The algorithms on a device.
#pragma once

#include <cstddef>

#include "published/problem.h"

namespace fathom::published::cuda {

/// Copies the mask to the current device, runs the algorithm, copies the places back. Times are without the copies.
/// @throws DeviceError, Cancelled
Phases run(const Problem& problem);

/// Bytes of the device that run() takes.
std::size_t scratch_bytes(const Problem& problem);

}  // namespace fathom::published::cuda
