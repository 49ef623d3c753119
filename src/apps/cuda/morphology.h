// Morphology between arrays in a device's memory. No CUDA header is needed to call it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "apps/morphology.h"
#include "fathom/core/device.h"

namespace fathom::apps::cuda {

/// The labels of one array of the host's memory.
using FindLabels = std::function<std::vector<LabelBox>(const AnyConstView&)>;

/// Bytes of device memory that morphology() takes; the memory behind the view may be missing.
std::size_t morphology_scratch_bytes(const MorphologyCall& call, const AnyConstDeviceView& input);

/// Nothing is empty. In the stream's order; of labels that are done one by one it waits until they are found.
/// @returns the name of the device
std::string morphology(const MorphologyCall& call, const AnyConstDeviceView& input, const AnyDeviceView& out,
                       const FindLabels& find_labels, Stream stream);

}  // namespace fathom::apps::cuda
