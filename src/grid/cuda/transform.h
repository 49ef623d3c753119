// The CUDA backend from the outside: chooses the engine. No CUDA header is needed to call it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "fathom/core/device.h"
#include "grid/batch.h"

namespace fathom::grid::cuda {

/// Bytes of device memory that transform() would take from the pool of the current device, whose engines may be others
/// than another device's. The memory behind the views may be missing.
std::size_t scratch_bytes(const Problem& problem, const Batch& batch);

/// The same on the device that the views are on.
/// @param stream  of the call that will follow
/// @throws InvalidArgument a view is not on the input's device
std::size_t scratch_bytes_of_views(const Problem& problem, const Batch& batch, Stream stream);

/// Fills the outputs of all items, whose views are of device memory, in the stream's order. Nothing is empty.
/// @param scratch  scratch_bytes_of_views()
/// @returns the name of the device
/// @throws InvalidArgument a view is not on the input's device
std::string transform(const Problem& problem, const Batch& batch, std::size_t scratch, Stream stream);

/// Bytes of device memory that transform_host() takes for pieces of the input and the outputs, and scratch: at most
/// `budget`; if nothing so small works, the fewest that do.
std::size_t host_bytes(const Problem& problem, const Batch& batch, std::size_t budget);

/// The same between arrays in the host's memory, on the current device, piece by piece; waits for the result.
/// @param budget  at least host_bytes() of it
std::string transform_host(const Problem& problem, const Batch& batch, std::size_t budget, const Execution& execution);

/// Bytes that a call may take of what the current device has left.
std::size_t free_bytes();

}  // namespace fathom::grid::cuda
