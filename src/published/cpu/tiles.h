// Tiles on the CPU.
#pragma once

#include "fathom/core/execution.h"
#include "published/phases.h"
#include "published/tiles.hd.h"

namespace fathom::published::cpu {

Phases repeat(const Tile<const float>& repeater, RepeatVariant variant, const Tile<float>& target,
              const Execution& execution);
Phases lattice(const Tile<const float>& repeater, const Steps& steps, LatticeVariant variant, const Tile<float>& target,
               const Execution& execution);
Phases near(const Tile<const float>& source, int reach, NearVariant variant, const Tile<float>& distance,
            const Execution& execution);

}  // namespace fathom::published::cpu
