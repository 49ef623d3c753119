// Arrays of fewer axes with the same elements in the same order.
#pragma once

#include "fathom/core/shape.h"

namespace fathom {

/// Axes that lie one behind the other in memory become one, and those of one element go. Strides are in any unit.
inline void join_axes(Axes& extent, Axes& stride) {
  Axes extents, strides;
  for (int k = 0; k < extent.rank(); ++k) {
    if (extent[k] == 1) continue;
    const int last = extents.rank() - 1;
    if (last >= 0 && strides[last] == extent[k] * stride[k]) {
      extents[last] *= extent[k];
      strides[last] = stride[k];
    } else {
      extents.push_back(extent[k]);
      strides.push_back(stride[k]);
    }
  }
  extent = extents;
  stride = strides;
}

}  // namespace fathom
