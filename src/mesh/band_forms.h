// What the making of bands has in common, of any form.
#pragma once

#include <string>
#include <vector>

#include "fathom/core/dtype.h"
#include "fathom/core/error.h"
#include "fathom/mesh/band.h"

namespace fathom::mesh {

/// @throws InvalidArgument a view that is given has another shape or type
template <class View>
void check_array(const View& view, const char* name, DType dtype, const Shape& shape) {
  if (!view.present()) return;
  if (view.dtype() != dtype || !(view.shape() == shape))
    throw InvalidArgument(std::string("the output '") + name + "' is " + std::string(name_of(view.dtype())) +
                          " of the shape " + to_string(view.shape()) + "; it must be " + std::string(name_of(dtype)) +
                          " of " + to_string(shape));
}

/// Band::first, of its masks.
Array points_before(const Array& masks);

/// The band of a lattice from those of its slabs along z, of which each counts its tiles from its first plane on, and
/// which are given back as soon as they are copied.
/// @param slabs  at least one, of one form
Band joined(std::vector<Band>& slabs);

}  // namespace fathom::mesh
