// Calls of sets on devices: where all queries at once would pass what a call may take, they go in batches; where
// several devices have the set, they share them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "fathom/core/device.h"
#include "fathom/core/execution.h"
#include "points/resident_set.h"
#include "points/shares.h"

namespace fathom::points {

struct CallLimits {
  std::optional<std::size_t> scratch;  ///< most bytes that a call takes
  std::optional<std::size_t> memory;   ///< most bytes of the device's that it takes and the set keeps
};

/// Bytes of device memory that call() takes.
/// @throws InvalidArgument a single query would need more than the limits
std::size_t call_bytes(const ResidentSet& set, const Request& request, const CallLimits& limits);

/// Answers one request for each cloud, in the stream's order.
/// @return bytes of device memory that it takes at a time
std::size_t call(const ResidentSet& set, const std::vector<Request>& requests, const CallLimits& limits, Stream stream);

/// One set, once on each of some devices.
using ResidentSets = std::vector<std::unique_ptr<const ResidentSet>>;

/// The same between arrays in the host's memory; waits for the result.
/// @param limits     of each device
/// @param shares     of the devices, measured anew
/// @param execution  who watches, and may stop it between batches
/// @return of the device that takes most
std::size_t call_host(const ResidentSets& sets, const std::vector<Request>& requests, const CallLimits& limits,
                      Shares& shares, const Execution& execution);

/// All of a call between arrays in the host's memory: looks at the queries, and tells what was done.
/// @throws InvalidArgument a query that is not finite
QueryReport answer_on_devices(const ResidentSets& sets, const std::vector<Request>& requests, const CallLimits& limits,
                              Shares& shares, const Execution& execution);

}  // namespace fathom::points
