// Tiles on a device. Tiles of the host are copied there and back, as phases of their own.
#pragma once

#include <cstddef>

#include "fathom/core/execution.h"
#include "published/phases.h"
#include "published/tiles.hd.h"

namespace fathom::published::cuda {

/// Most bytes of a repeater for the variant `shared`.
std::size_t most_shared();

/// @throws DeviceError, Cancelled
Phases repeat(const Tile<const float>& repeater, RepeatVariant variant, const Tile<float>& target,
              const Execution& execution);
Phases lattice(const Tile<const float>& repeater, const Steps& steps, LatticeVariant variant, const Tile<float>& target,
               const Execution& execution);
Phases near(const Tile<const float>& source, int reach, NearVariant variant, const Tile<float>& distance,
            const Execution& execution);

}  // namespace fathom::published::cuda
