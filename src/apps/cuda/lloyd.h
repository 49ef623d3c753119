// Lloyd's iteration on a device. No CUDA header is needed to call it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "apps/weights.h"
#include "fathom/apps/voronoi.h"

namespace fathom::apps::cuda {

/// Moves sites, [n, axes] and at least one, to the centroids of their regions as the options say, on the current
/// device.
/// @param weights  not all 0; the finer grid has at most 2³¹ − 1 elements
/// @return [n] Σ w of the regions of the sites at their last positions, if they are wanted
std::vector<std::int64_t> iterate(const Weights& weights, const LloydOptions& options, std::vector<double>& positions,
                                  LloydReport& report, bool masses = false);

/// What of sites at such positions is wrong with so many positive weights and such a sum.
using CheckSites = std::function<void(const HostView<const double>& sites, std::int64_t positive, std::int64_t total)>;

/// The same with weights and sites in a device's memory. Waits.
/// @throws InvalidArgument as lloyd(), of what needs a look at the arrays
LloydReport iterate(const AnyConstDeviceView& weights, const DeviceView<double>& sites, const LloydOptions& options,
                    const CheckSites& check, Stream stream);

/// Bytes of device memory that they take.
std::size_t lloyd_scratch_bytes(const Shape& weights, std::int64_t sites, const LloydOptions& options);

}  // namespace fathom::apps::cuda
