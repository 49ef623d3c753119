// Signed fields by the fast engines: the distances of each side to the other, in two runs that leave each other's results
// alone.
#pragma once

#include "grid/cuda/border_clamp.cuh"
#include "grid/cuda/classes.cuh"
#include "grid/cuda/mask.cuh"
#include "grid/cuda/plane.cuh"

namespace fathom::grid::cuda {

/// Whether a signed problem can be solved so.
inline bool serves_sides(const Problem& p) { return is_plain_float(p) && !has_limits(p); }

/// The side of the elements inside, which comes first, or of those outside.
inline Side side_of(const Problem& p, bool inside) {
  return {.sign = inside ? -1.0f : 1.0f, .half = p.surface == Surface::faces ? 0.5f : 0.0f, .is_first = inside};
}

/// The sites of that side: the elements of the other one.
inline Mask other_side(const Problem& p, const Batch& batch, bool inside) {
  return Mask::of(p, batch, Classes::of(p).inside, inside);
}

}  // namespace fathom::grid::cuda
