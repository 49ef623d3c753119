// Pictures of several rays a pixel.
#pragma once

#include "apps/marcher.h"

namespace fathom::apps {

inline constexpr int kMostAntialias = 16;  ///< sums of so many rays, squared, are uint16

/// What Marcher::march() does, with shade and coverage of options.antialias² rays a pixel.
/// @throws InvalidArgument the scratch limit is too small
RayMarchReport march_averaged(const Marcher& marcher, const Frame& frame, const RayMarchOptions& options,
                              const RayMarchOutputs& outputs);

}  // namespace fathom::apps
