// What the making of bands has in common, of any form.
#pragma once

#include <vector>

#include "fathom/mesh/band.h"

namespace fathom::mesh {

/// Band::first, of its masks.
Array points_before(const Array& masks);

/// The band of a lattice from those of its slabs along z, of which each counts its tiles from its first plane on, and
/// which are given back as soon as they are copied.
/// @param slabs  at least one, of one form
Band joined(std::vector<Band>& slabs);

}  // namespace fathom::mesh
