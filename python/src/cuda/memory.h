// Device memory for libraries whose arrays cannot be written once they are made, and the wait that they need.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <vector>

#include "device_array.h"
#include "fathom/core/device.h"

namespace fathom::python {

using DeviceMemory = nanobind::ndarray<nanobind::array_api, nanobind::device::cuda>;

/// Dense, uninitialised memory that DLPack hands on.
/// @param dtype  number of a DType
/// @throws DeviceError the device has not enough memory
DeviceMemory device_memory(const std::vector<std::size_t>& shape, int dtype, int device);

/// The device whose memory an address is.
int device_of(std::uintptr_t address);

/// Copies a dense array into one of the host's, of the same type and shape. Waits.
void download(const DeviceArray& array, nanobind::handle out);

/// Returns when the stream is done. @throws DeviceError something in it failed
void wait_for(Stream stream);

}  // namespace fathom::python
