// Sets of sites that stay in the host's memory. No CUDA header is needed to call it.
#pragma once

#include <memory>

#include "points/resident_set.h"

namespace fathom::points::cuda {

/// A set that passes by on a device in pieces, as large as a call has room for, for every call anew; calls wait.
std::unique_ptr<ResidentSet> make_streamed(const StreamedSource& source);

}  // namespace fathom::points::cuda
