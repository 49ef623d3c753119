// Sets of sites that come and go to places on devices.
#pragma once

#include <nanobind/nanobind.h>

#include "cuda/device_array.h"
#include "dynamic_set.h"

namespace fathom::python {

/// As DynamicSet's own, in the stream's order. These wait until they are done.
DynamicSet* dynamic_set_on_device(const DeviceArray& points, const SetChoices& choices, int threads,
                                  std::uintptr_t stream);
std::int64_t add_on_device(DynamicSet& set, const DeviceArray& points, std::uintptr_t stream);
/// @param ids  of the host: [n], int64, dense
void move_on_device(DynamicSet& set, nanobind::handle ids, const DeviceArray& points, std::uintptr_t stream);

}  // namespace fathom::python
