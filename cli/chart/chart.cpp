#include "chart/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "chart/cells.h"
#include "chart/furniture.h"
#include "chart/layout.h"
#include "chart/panel.h"

namespace fathom::cli {

namespace {

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
      fmt::format("{} · {}{}{}{}", chart.source, to_string(chart.field.shape()), slice_note(chart, drawn_axes),
                  chart.notes.empty() ? "" : " · ", chart.notes);
  const std::string units = units_of(chart);
  contents.value_label = chart.is_squared && !units.empty() ? units + "²" : units;
  if (contents.is_curve) contents.value_label = with_units("distance", contents.value_label);
  return contents;
}

void add_legend(const Chart& chart, bool has_sites, bool has_unreached, Contents& contents) {
  if (has_sites && !chart.is_signed) contents.legend.push_back({chart.zero, false});
  if (has_unreached) contents.legend.push_back({chart.none, true});
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
  draw_cells(canvas, layout.panel, panel, contents.scale, 0.85 * layout.font);
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
