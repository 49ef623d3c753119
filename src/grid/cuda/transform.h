// The CUDA backend from the outside. No CUDA header is needed to call it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "fathom/core/device.h"
#include "grid/batch.h"

namespace fathom::grid::cuda {

/// Bytes of device memory that transform() would take from the pool of the current device, whose engines may be others
/// than another device's. The memory behind the views may be missing.
std::size_t scratch_bytes(const Problem& problem, const Batch& batch);

/// What a call did.
struct Done {
  std::string device;  ///< its name
  std::string engine;  ///< which one served
  std::size_t scratch_bytes = 0;
};

/// Fills the outputs of all items, whose views are of device memory, in the stream's order. Nothing is empty.
/// @param allow  takes the bytes of scratch that the call needs, before it begins, and throws where they are too many
/// @throws InvalidArgument a view is not on the input's device
Done transform(const Problem& problem, const Batch& batch, const std::function<void(std::size_t)>& allow,
               Stream stream);

/// Bytes of device memory that transform_host() takes for pieces of the input and the outputs, and scratch: at most
/// `budget`; if nothing so small works, the fewest that do.
std::size_t host_bytes(const Problem& problem, const Batch& batch, std::size_t budget);

/// The same between arrays in the host's memory, on the current device, piece by piece; waits for the result.
/// @param budget  at least host_bytes() of it
Done transform_host(const Problem& problem, const Batch& batch, std::size_t budget, const Execution& execution);

/// As grid::mark_sites(), checked and not empty; any rule but `labels`.
void mark_sites(const AnyConstDeviceView& input, const Sites& sites, const AnyDeviceView& marks, Stream stream);

/// Bytes that a call may take of what the current device has left.
std::size_t free_bytes();

}  // namespace fathom::grid::cuda
