// Resident sets of sites on devices, and queries against them.
#pragma once

#include <nanobind/nanobind.h>

#include "cuda/device_array.h"
#include "points.h"

namespace fathom::python {

/// Waits until the set is built; whoever has the sites' array keeps it if the set refers to it.
/// @param is_mask  its nonzero elements are sites, and nothing refers to it afterwards
SiteSet* site_set_on_device(const DeviceArray& sites, bool is_mask, const SetChoices& choices, std::uintptr_t stream);

/// In the stream's order; as SiteSet::nearest().
/// @param direction  of one cone for all, in the host's memory, or None
void nearest_on_device(const SiteSet& set, const DeviceArray& queries, const points::QueryOptions& options,
                       nanobind::handle direction, const DeviceArray* directions, const DeviceArray* half_angles,
                       const DeviceArray* distance, const DeviceArray* squared, const DeviceArray* site,
                       const DeviceArray* lower, std::uintptr_t stream);

}  // namespace fathom::python
