// Lloyd's iteration of weights that are in the host's memory, on the backend that is asked for.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/weights.h"
#include "fathom/apps/voronoi.h"

namespace fathom::apps {

/// Moves sites, [n, axes] and at least one, to the centroids of their regions as the options say.
/// @return [n] Σ w of the regions of the sites at their last positions, if they are wanted
std::vector<std::int64_t> iterate(const Weights& weights, const LloydOptions& options, std::vector<double>& positions,
                                  LloydReport& report, bool masses = false);

}  // namespace fathom::apps
