// How long a plan would take, roughly.
#pragma once

#include "fathom/stream/evaluator.h"

namespace fathom::stream {

struct Estimate {
  double seconds = 0;        ///< for all of the region
  double first_seconds = 0;  ///< until the first band is there: what repeats, and one pass over exact distances' masks
  double band_seconds = 0;   ///< for each band then
};

/// A guess from what a pixel of each type of node cost when it was measured, in one thread of a server with an AMD EPYC
/// processor, and from the tiles, halos and cells of the plan. There it was right within a factor of 2; other
/// processors, and expressions that are dear, are off by more. Nothing is computed for it; files, sinks and functions
/// of the caller cost nothing in it.
Estimate estimate(const Plan& plan);

}  // namespace fathom::stream
