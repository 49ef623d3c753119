// How boundaries between regions add up.
#pragma once

#include <vector>

#include "fathom/apps/voronoi.h"

namespace fathom::apps {

/// Faces of one axis between two regions, which come in ascending order of the regions, then of the axis.
inline void add_faces(const Boundary& faces, std::vector<Boundary>& to) {
  if (!to.empty() && to.back().first == faces.first && to.back().second == faces.second)
    to.back().length += faces.length;
  else to.push_back(faces);
}

}  // namespace fathom::apps
