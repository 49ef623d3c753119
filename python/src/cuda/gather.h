// Values fetched from nearest sites on a device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fathom/core/device.h"

namespace fathom::python {

/// Dense arrays of the same images: values of any type, and where they go.
struct DeviceFetch {
  std::uintptr_t values = 0;
  std::uintptr_t out = 0;
  std::size_t element_size = 1;
  std::int64_t elements = 0;    ///< in all images
  std::int64_t image_size = 1;  ///< elements of one image
  int device = 0;
};

/// out[i] = values[nearest[i]] within each image, or values[i] where nearest[i] is −1, in the stream's order.
/// @param nearest  [elements] of int32 or int64, linear indices into the image
/// @throws DeviceError the launch failed
void gather_on_device(const DeviceFetch& fetch, const std::int32_t* nearest, Stream stream);
void gather_on_device(const DeviceFetch& fetch, const std::int64_t* nearest, Stream stream);

}  // namespace fathom::python
