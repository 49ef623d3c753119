// The integer medial axis between arrays in a device's memory, and its balls. No CUDA header is needed to call it. All
// is checked, and nothing is empty. The functions without a stream tell the scratch; the memory behind their views may
// be missing. The others return the device's name.
#pragma once

#include <cstddef>
#include <string>

#include "apps/images.h"
#include "fathom/apps/medial_axis.h"
#include "fathom/core/device.h"

namespace fathom::apps::cuda {

std::size_t medial_axis_bytes(const AnyConstDeviceView& input, const Images& images,
                              const DeviceMedialAxisOutputs& outputs);
std::string medial_axis(const AnyConstDeviceView& input, const Images& images, const MedialAxisOptions& options,
                        const DeviceMedialAxisOutputs& outputs, Stream stream);

std::string medial_axis_of_nearest(const AnyConstDeviceView& nearest, const Images& images,
                                   const MedialAxisOptions& options, const DeviceMedialAxisOutputs& outputs,
                                   Stream stream);

std::size_t axis_balls_bytes(const Images& images);
std::string axis_balls(const AnyConstDeviceView& axis, const AnyConstDeviceView& nearest, const Images& images,
                       const AnyDeviceView& out, Stream stream);

}  // namespace fathom::apps::cuda
