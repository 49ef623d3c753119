#include "chart/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "chart/contour.h"
#include "chart/furniture.h"
#include "chart/isoline_labels.h"
#include "chart/layout.h"
#include "chart/panel.h"

namespace fathom::cli {

namespace {

/// Lowest and highest finite value; low > high: none.
struct Extremes {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void take(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

double spacing_of(const Chart& chart, int axis) {
  return chart.spacing.empty() ? 1 : chart.spacing[static_cast<std::size_t>(axis)];
}

std::string units_of(const Chart& chart) {
  if (!chart.units.empty()) return chart.units;
  const bool plain = std::all_of(chart.spacing.begin(), chart.spacing.end(), [](double s) { return s == 1; });
  if (!plain) return {};
  const int rank = chart.field.rank();
  return rank == 1 ? "elements" : rank == 2 ? "pixels" : "voxels";
}

std::string with_units(const std::string& name, const std::string& units) {
  return units.empty() ? name : fmt::format("{} ({})", name, units);
}

PictureAxis picture_axis(const Chart& chart, int axis, const char* name, int most_ticks) {
  PictureAxis result;
  result.extent = chart.field.shape()[axis];
  result.spacing = spacing_of(chart, axis);
  const std::int64_t origin = chart.origin.empty() ? 0 : chart.origin[static_cast<std::size_t>(axis)];
  result.first = static_cast<double>(origin) * result.spacing;
  result.name = with_units(name, units_of(chart));
  const double last = result.first + static_cast<double>(result.extent - 1) * result.spacing;
  result.ticks = ticks_between(result.first, last, most_ticks, result.spacing);
  return result;
}

std::string default_title(const Chart& chart) {
  if (chart.is_signed) return "Signed distance";
  return chart.is_squared ? "Squared distance to the nearest site" : "Distance to the nearest site";
}

/// Which of the planes of a volume is drawn.
std::string slice_note(const Chart& chart, int drawn_axes) {
  std::string note;
  for (int axis = 0; axis < chart.field.rank() - drawn_axes; ++axis) {
    const std::int64_t origin = chart.origin.empty() ? 0 : chart.origin[static_cast<std::size_t>(axis)];
    note += fmt::format("{} {} of axis {}", axis == 0 ? " · slice" : ",", origin + chart.field.shape()[axis] / 2, axis);
  }
  return note;
}

Contents contents_of(const Chart& chart, int drawn_axes) {
  const int rank = chart.field.rank();
  Contents contents;
  contents.is_curve = drawn_axes == 1;
  contents.x = picture_axis(chart, rank - 1, "x", 9);
  if (!contents.is_curve) contents.y = picture_axis(chart, rank - 2, "y", 7);
  contents.title = chart.title.empty() ? default_title(chart) : chart.title;
  contents.subtitle =
      fmt::format("{} · {}{} · {}", chart.source, to_string(chart.field.shape()), slice_note(chart, drawn_axes),
                  chart.notes);
  const std::string units = units_of(chart);
  contents.value_label = chart.is_squared && !units.empty() ? units + "²" : units;
  if (contents.is_curve) contents.value_label = with_units("distance", contents.value_label);
  return contents;
}

void add_legend(const Chart& chart, bool has_sites, bool has_unreached, Contents& contents) {
  if (has_sites && !chart.is_signed) contents.legend.push_back({"sites (distance 0)", false});
  if (has_unreached) contents.legend.push_back({"no site within reach", true});
}

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

Scale scale_for(const Rect& panel, const Extremes& extremes, bool is_signed) {
  const int most_ticks = std::clamp(static_cast<int>(panel.height / (2.4 * font_size(panel))), 2, is_signed ? 12 : 9);
  return {extremes.low, extremes.high, is_signed, most_ticks};
}

bool any_above(const std::vector<float>& values, float limit) {
  return std::any_of(values.begin(), values.end(), [=](float value) { return value > limit; });
}

Canvas draw_map(const Chart& chart) {
  Contents contents = contents_of(chart, 2);
  const Rect size = panel_size(contents.x, contents.y, false);
  const auto cells = [](double pixels, std::int64_t extent) {
    return static_cast<int>(std::min(static_cast<std::int64_t>(pixels), extent));
  };
  const Panel panel = sample(middle_slice(chart.field, 2), cells(size.width, contents.x.extent),
                             cells(size.height, contents.y.extent));
  Extremes extremes;
  for (float value : panel.value) extremes.take(static_cast<double>(value));
  contents.scale = scale_for(size, extremes, chart.is_signed);
  const bool has_unreached =
      std::any_of(panel.reached.begin(), panel.reached.end(), [](float share) { return share < 1; });
  add_legend(chart, any_above(panel.at_site, 0), has_unreached, contents);

  const Layout layout = arrange(contents);
  Canvas canvas(layout.width, layout.height);
  if (has_unreached) hatch(canvas, layout.panel, 0.8 * layout.font);
  paint(canvas, layout.panel, colours_of(panel, contents.scale), panel);
  const auto lines = unless_crowded(isolines_of(panel, layout.panel, contents.scale), layout.panel);
  draw_isolines(canvas, layout.panel, lines, contents.scale, 0.85 * layout.font);
  draw_titles(canvas, layout, contents);
  draw_axes(canvas, layout, contents);
  draw_colour_bar(canvas, layout, contents);
  draw_legend(canvas, layout, contents);
  return canvas;
}

/// The area under the curve, and the curve.
void draw_envelope(Canvas& canvas, const Rect& panel, const Envelope& envelope, const Scale& scale) {
  cairo_t* const cairo = canvas.cairo();
  const Clip clip(canvas, panel);
  const double reach = scale.high() > scale.low() ? scale.high() - scale.low() : 1;
  const auto y = [&](double value) { return panel.y + (1 - (value - scale.low()) / reach) * panel.height; };
  const double width = panel.width / static_cast<double>(envelope.low.size());
  const Colour colour = ColourMap::sequential().at(0.45);
  const double ground = y(scale.is_signed() ? 0 : scale.low());
  for (std::size_t k = 0; k < envelope.low.size(); ++k) {
    if (std::isnan(envelope.low[k])) continue;
    const double x = panel.x + static_cast<double>(k) * width;
    const double top = y(envelope.high[k]);
    const double bottom = std::max(y(envelope.low[k]), top + 2.5);
    canvas.set_colour(mix(colour, {1, 1, 1}, 0.75));
    cairo_rectangle(cairo, x, std::min(top, ground), width, std::abs(ground - top));
    cairo_fill(cairo);
    canvas.fill({x, top, width, bottom - top}, colour);
  }
}

void draw_grid(Canvas& canvas, const Layout& layout, const Scale& scale) {
  if (!(scale.high() > scale.low())) return;
  const Rect& panel = layout.panel;
  canvas.set_colour(kRule, 0.5);
  for (double value : scale.ticks().values) {
    const double y = panel.y + (1 - (value - scale.low()) / (scale.high() - scale.low())) * panel.height;
    canvas.line({panel.x, std::floor(y) + 0.5}, {panel.x + panel.width, std::floor(y) + 0.5}, 1);
  }
}

Canvas draw_curve(const Chart& chart) {
  Contents contents = contents_of(chart, 1);
  const Rect size = panel_size(contents.x, contents.y, true);
  const auto columns =
      static_cast<int>(std::min(static_cast<std::int64_t>(size.width), contents.x.extent));
  const Envelope envelope = sample_line(chart.field, columns);
  Extremes extremes;
  for (double value : envelope.low) extremes.take(value);
  for (double value : envelope.high) extremes.take(value);
  contents.scale = scale_for(size, extremes, chart.is_signed);
  const bool has_unreached =
      std::any_of(envelope.low.begin(), envelope.low.end(), [](double low) { return std::isnan(low); });
  add_legend(chart, false, has_unreached, contents);

  const Layout layout = arrange(contents);
  Canvas canvas(layout.width, layout.height);
  if (has_unreached) hatch(canvas, layout.panel, 0.8 * layout.font);
  draw_envelope(canvas, layout.panel, envelope, contents.scale);
  draw_grid(canvas, layout, contents.scale);
  draw_titles(canvas, layout, contents);
  draw_axes(canvas, layout, contents);
  draw_legend(canvas, layout, contents);
  return canvas;
}

/// A field without elements, or without axes to draw them along.
Canvas draw_nothing(const Chart& chart) {
  Canvas canvas(560, 160);
  canvas.text(chart.title.empty() ? default_title(chart) : chart.title, {40, 50}, {0, 0.5}, {22, kInk, true});
  canvas.text(canvas.fitted(fmt::format("{} · {} · nothing to draw", chart.source, to_string(chart.field.shape())),
                            {14, {}, false}, 480),
              {40, 95}, {0, 0.5}, {14, kFaint, false});
  return canvas;
}

Canvas draw(const Chart& chart) {
  if (chart.field.rank() == 0 || element_count(chart.field.shape()) == 0) return draw_nothing(chart);
  return chart.field.rank() == 1 ? draw_curve(chart) : draw_map(chart);
}

}  // namespace

void draw_chart(const Chart& chart, std::FILE* stream) { draw(chart).write_png(stream); }

}  // namespace fathom::cli
