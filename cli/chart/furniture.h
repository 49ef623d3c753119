// What stands around the picture: title, axes, colour bar, legend.
#pragma once

#include "chart/layout.h"

namespace fathom::cli {

void draw_titles(Canvas& canvas, const Layout& layout, const Contents& contents);
void draw_axes(Canvas& canvas, const Layout& layout, const Contents& contents);
void draw_colour_bar(Canvas& canvas, const Layout& layout, const Contents& contents);
void draw_legend(Canvas& canvas, const Layout& layout, const Contents& contents);

/// The ground of elements without a site.
void hatch(Canvas& canvas, const Rect& rect, double pitch);

}  // namespace fathom::cli
