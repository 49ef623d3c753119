#include "chart/cells.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "chart/contour.h"
#include "chart/isoline_labels.h"

namespace fathom::cli {

namespace {

/// The elements as colours, one pixel per cell.
Surface colours_of(const Panel& panel, const Scale& scale) {
  Surface surface = make_surface(panel.width, panel.height);
  unsigned char* const pixels = cairo_image_surface_get_data(surface.get());
  const int stride = cairo_image_surface_get_stride(surface.get());
  for (int y = 0; y < panel.height; ++y) {
    auto* row = reinterpret_cast<std::uint32_t*>(pixels + std::ptrdiff_t{y} * stride);
    for (int x = 0; x < panel.width; ++x) {
      const std::size_t cell = panel.index(x, y);
      const auto reached = static_cast<double>(panel.reached[cell]);
      if (reached == 0) {
        row[x] = 0;
        continue;
      }
      // The mean of a cell counts its sites as 0; its colour is that of the others, mixed with the colour of sites.
      const auto sites = scale.is_signed() ? 0.0 : static_cast<double>(panel.at_site[cell]);
      const double value = static_cast<double>(panel.value[cell]) / std::max(1 - sites, 1e-6);
      const Colour colour = mix(scale.colour(value), kSite, sites);
      const auto byte = [&](double part) { return static_cast<std::uint32_t>(std::lround(255 * reached * part)); };
      row[x] = byte(1) << 24 | byte(colour.red) << 16 | byte(colour.green) << 8 | byte(colour.blue);
    }
  }
  cairo_surface_mark_dirty(surface.get());
  return surface;
}

void paint(Canvas& canvas, const Rect& rect, const Surface& surface, const Panel& panel) {
  cairo_t* const cairo = canvas.cairo();
  const Clip clip(canvas, rect);
  cairo_translate(cairo, rect.x, rect.y);
  cairo_scale(cairo, rect.width / panel.width, rect.height / panel.height);
  cairo_set_source_surface(cairo, surface.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(cairo), CAIRO_FILTER_NEAREST);
  cairo_paint(cairo);
}

std::vector<Isoline> isolines_of(const Panel& panel, const Rect& rect, const Scale& scale) {
  std::vector<Isoline> lines;
  if (panel.width < 2 || panel.height < 2) return lines;
  for (double level : scale.ticks().values) {
    if (level == 0 && !scale.is_signed()) continue;  // the edge of the sites, which their colour shows
    for (Polyline& line : isolines(panel.value, panel.width, panel.height, level)) {
      for (Point& point : line)
        point = {rect.x + (point.x + 0.5) * rect.width / panel.width,
                 rect.y + (point.y + 0.5) * rect.height / panel.height};
      lines.push_back({level, std::move(line)});
    }
  }
  return lines;
}

/// Where lines would cover the colours, there are none.
std::vector<Isoline> unless_crowded(std::vector<Isoline> lines, const Rect& rect) {
  constexpr double kLeastGap = 6;  // pixels between lines, on the average
  double length = 0;
  for (const Isoline& line : lines)
    for (std::size_t k = 1; k < line.points.size(); ++k)
      length += std::hypot(line.points[k].x - line.points[k - 1].x, line.points[k].y - line.points[k - 1].y);
  if (length * kLeastGap > rect.width * rect.height) lines.clear();
  return lines;
}

}  // namespace

void draw_cells(Canvas& canvas, const Rect& rect, const Panel& panel, const Scale& scale, double text_size) {
  paint(canvas, rect, colours_of(panel, scale), panel);
  draw_isolines(canvas, rect, unless_crowded(isolines_of(panel, rect, scale), rect), scale, text_size);
}

}  // namespace fathom::cli
