// Sets of sites that stay in the host's memory. No CUDA header is needed to call it.
#pragma once

#include <memory>
#include <vector>

#include "points/resident_set.h"

namespace fathom::points::cuda {

/// Clouds of the host, which stay where they are, with the box of each.
struct StreamedSource {
  std::vector<Cloud> clouds;
  std::vector<Box> boxes;
  std::size_t memory = 0;  ///< most bytes of the device's that a call takes
};

/// A set that passes by on the current device in pieces, for every call anew. It answers queries of the host.
std::unique_ptr<ResidentSet> make_streamed(const StreamedSource& source);

}  // namespace fathom::points::cuda
