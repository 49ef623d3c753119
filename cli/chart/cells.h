// A panel's cells as colours, with isolines over them.
#pragma once

#include "chart/canvas.h"
#include "chart/panel.h"
#include "chart/scale.h"

namespace fathom::cli {

/// @param text_size  of the values that stand in the isolines
void draw_cells(Canvas& canvas, const Rect& rect, const Panel& panel, const Scale& scale, double text_size);

}  // namespace fathom::cli
