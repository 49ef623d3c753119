// The loop over rays on the processor.
#pragma once

#include "apps/marcher.h"

namespace fathom::apps::cpu {

/// @param volume  that `solid` was made of
std::unique_ptr<const Marcher> make_marcher(const AnyConstView& volume, Solid solid, const RayMarcherOptions& options);

}  // namespace fathom::apps::cpu
