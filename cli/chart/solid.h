// A solid as a picture: where a signed field of a volume passes 0, lit and shaded.
#pragma once

#include <array>

#include "chart/canvas.h"
#include "fathom/core/view.h"

namespace fathom::cli {

/// A field [z, y, x] of float32 or float64, negative inside; spacing and reach in one unit.
struct SolidField {
  AnyConstView values;
  std::array<double, 3> spacing{1, 1, 1};  ///< x, y, z
  double reach = 0;                        ///< farther points have this value; 0: all have their distance
};

/// Width and height of the box around the field, seen as draw_solid() sees it.
Rect solid_size(const SolidField& field);

/// The solid from the front right and above, z up, in parallel projection, as large as the picture takes; around it
/// there is nothing. @param width, height  in pixels
Surface draw_solid(const SolidField& field, int width, int height, int threads);

}  // namespace fathom::cli
