// Isolines with their values written into them.
#pragma once

#include <vector>

#include "chart/canvas.h"
#include "chart/contour.h"
#include "chart/scale.h"

namespace fathom::cli {

struct Isoline {
  double level = 0;
  Polyline points;  ///< in pixels of the canvas
};

/// Draws the lines inside the rectangle, and values on straight stretches of the longer ones, clear of one another.
void draw_isolines(Canvas& canvas, const Rect& inside, const std::vector<Isoline>& lines, const Scale& scale,
                   double text_size);

}  // namespace fathom::cli
