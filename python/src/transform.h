// The library's distance transform on stacks of images.
#pragma once

#include "arrays.h"
#include "fathom/core/device.h"
#include "fathom/grid/distance.h"

namespace fathom::python {

/// An input and outputs with as many images; those that are not given are not computed.
struct Arrays {
  RawArray input, distance, squared, nearest;
  RawArray coordinates;  ///< with an axis of components before those of space
};

/// Without the interpreter's lock.
/// @param arrays      leading axes may be joined
/// @param space_rank  how many trailing axes an image has, 0 to the input's rank
/// @throws what grid::distance_transform() throws
void transform(Arrays& arrays, int space_rank, grid::DistanceOptions options);

/// The same between arrays in a device's memory; returns once the work is in the stream's order.
void transform_on_device(Arrays& arrays, int space_rank, const grid::DistanceOptions& options, Stream stream);

}  // namespace fathom::python
