#include "chart/volume_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "chart/cells.h"
#include "chart/furniture.h"
#include "chart/layout.h"
#include "chart/panel.h"
#include "chart/solid.h"
#include "fathom/core/array.h"

namespace fathom::cli {

namespace {

constexpr double kFont = 15;
constexpr double kMostWidth = 1340, kMostHeight = 980;                         // of all panels together
constexpr double kLeft = 6 * kFont, kTop = 2.1 * kFont, kBelow = 4.6 * kFont;  // what a panel takes around it

/// A part of the sheet. Axes are 0, 1, 2 for x, y, z.
struct Part {
  int across = 0, upward = 1, through = -1;  ///< of a slice; through −1: the solid
  double width = 0, height = 0;              ///< in units of length
  Rect rect;
};

std::size_t at(int axis) { return static_cast<std::size_t>(axis); }
std::int64_t extent(const VolumeChart& chart, int axis) { return chart.field.shape()[2 - axis]; }
double length(const VolumeChart& chart, int axis) {
  return static_cast<double>(extent(chart, axis)) * chart.spacing[at(axis)];
}
double coordinate(const VolumeChart& chart, int axis, std::int64_t i) {
  return chart.origin[at(axis)] + static_cast<double>(i) * chart.spacing[at(axis)];
}
SolidField solid_of(const VolumeChart& chart) { return {chart.field, chart.spacing, chart.reach}; }

std::vector<Part> parts_of(const VolumeChart& chart) {
  std::vector<Part> parts;
  if (chart.is_signed && chart.is_solid) {
    const Rect size = solid_size(solid_of(chart));
    parts.push_back({0, 1, -1, size.width, size.height, {}});
  }
  for (const auto& [across, upward, through] : {std::array{0, 1, 2}, std::array{0, 2, 1}, std::array{1, 2, 0}})
    parts.push_back({across, upward, through, length(chart, across), length(chart, upward), {}});
  return parts;
}

/// Sizes of rows and columns, in units of length.
struct Grid {
  std::vector<double> columns, rows;
  double scale = 0;  ///< pixels per unit

  Grid(const std::vector<Part>& parts, std::size_t across)
      : columns(across, 0.0), rows((parts.size() + across - 1) / across, 0.0) {
    double width = 0, height = 0;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      columns[k % across] = std::max(columns[k % across], parts[k].width);
      rows[k / across] = std::max(rows[k / across], parts[k].height);
    }
    for (double column : columns) width += column;
    for (double row : rows) height += row;
    scale = std::min((kMostWidth - static_cast<double>(columns.size() - 1) * kLeft) / width,
                     (kMostHeight - static_cast<double>(rows.size() - 1) * (kTop + kBelow)) / height);
  }
};

/// Gives each part its place, all in one scale; the size of all of them, from the sheet's corner.
Point place(std::vector<Part>& parts, double top) {
  constexpr double kLeastSide = 40;
  const Grid wide(parts, parts.size()), square(parts, 2);
  const Grid& grid = wide.scale > square.scale ? wide : square;
  double y = top;
  Point end;
  for (std::size_t row = 0; row < grid.rows.size(); ++row) {
    double x = 0, tallest = 0;
    y += kTop;
    for (std::size_t column = 0; column < grid.columns.size(); ++column) {
      const std::size_t k = row * grid.columns.size() + column;
      if (k >= parts.size()) break;
      Part& part = parts[k];
      part.rect = {std::round(x + kLeft), std::round(y), std::round(std::max(kLeastSide, part.width * grid.scale)),
                   std::round(std::max(kLeastSide, part.height * grid.scale))};
      x += kLeft + std::max(kLeastSide, grid.columns[column] * grid.scale);
      tallest = std::max(tallest, part.rect.height);
      end.x = std::max(end.x, x);
    }
    for (std::size_t k = row * grid.columns.size(); k < std::min(parts.size(), (row + 1) * grid.columns.size()); ++k)
      parts[k].rect.y += std::round((tallest - parts[k].rect.height) / (parts[k].through < 0 ? 2 : 1));
    end.y = y + tallest;
    y += tallest + kBelow;
  }
  return end;
}

/// The middle slice, with its upward axis turned up.
Array slice_of(const VolumeChart& chart, const Part& part) {
  const auto stride = [&](int axis) { return chart.field.strides()[2 - axis]; };
  const std::int64_t rows = extent(chart, part.upward), columns = extent(chart, part.across);
  const std::int64_t first = extent(chart, part.through) / 2 * stride(part.through) + (rows - 1) * stride(part.upward);
  Array slice(DType::float32, {rows, columns});
  const auto copy = [&](const auto* from) {
    float* to = slice.as<float>().data();
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t column = 0; column < columns; ++column)
        *to++ = static_cast<float>(from[first - row * stride(part.upward) + column * stride(part.across)]);
  };
  chart.field.dtype() == DType::float32 ? copy(chart.field.as<float>().data()) : copy(chart.field.as<double>().data());
  return slice;
}

/// Cells beyond a band, or so near to its end that what is interpolated there is mostly the value beyond.
void leave_out_beyond(double reach, Panel& panel) {
  const auto limit = static_cast<float>(0.97 * reach);
  for (std::size_t cell = 0; cell < panel.value.size(); ++cell) {
    if (std::abs(panel.value[cell]) < limit) continue;
    panel.value[cell] = std::numeric_limits<float>::quiet_NaN();
    panel.reached[cell] = 0;
  }
}

PictureAxis picture_axis(const VolumeChart& chart, int axis, double pixels, bool is_upward) {
  PictureAxis result;
  const std::int64_t last = extent(chart, axis) - 1;
  result.extent = extent(chart, axis);
  result.spacing = (is_upward ? -1 : 1) * chart.spacing[at(axis)];
  result.first = coordinate(chart, axis, is_upward ? last : 0);
  const double room = is_upward ? 3 * kFont : 6 * kFont;
  result.ticks = ticks_between(coordinate(chart, axis, 0), coordinate(chart, axis, last),
                               std::clamp(static_cast<int>(pixels / room), 2, 8));
  result.name = with_units(std::string(1, "xyz"[axis]), chart.units);
  return result;
}

/// Rounded to what a pixel tells.
std::string caption_of(const VolumeChart& chart, const Part& part) {
  const double middle = coordinate(chart, part.through, extent(chart, part.through) / 2);
  const bool is_zero = std::abs(middle) < 1e-3 * length(chart, part.through);
  return fmt::format("{} = {:.3g} {}", "xyz"[part.through], is_zero ? 0 : middle, chart.units);
}

void draw_part(Canvas& canvas, const VolumeChart& chart, const Part& part, const Panel& panel, const Contents& sheet) {
  if (part.through < 0) {
    const Surface solid = draw_solid(solid_of(chart), static_cast<int>(part.rect.width),
                                     static_cast<int>(part.rect.height), chart.threads);
    cairo_set_source_surface(canvas.cairo(), solid.get(), part.rect.x, part.rect.y);
    cairo_paint(canvas.cairo());
    return;
  }
  if (chart.reach > 0) hatch(canvas, part.rect, 0.8 * kFont);
  draw_cells(canvas, part.rect, panel, sheet.scale, 0.85 * kFont);
  Layout layout;
  layout.font = kFont;
  layout.panel = part.rect;
  layout.left = part.rect.x - kLeft;
  Contents axes;
  axes.x = picture_axis(chart, part.across, part.rect.width, false);
  axes.y = picture_axis(chart, part.upward, part.rect.height, true);
  draw_axes(canvas, layout, axes);
  canvas.text(caption_of(chart, part), {part.rect.x, part.rect.y - 0.9 * kFont}, {0, 0.5}, {kFont, kInk, true});
}

}  // namespace

void draw_volume_chart(const VolumeChart& chart, std::FILE* stream) {
  std::vector<Part> parts = parts_of(chart);
  const Point end = place(parts, 5.6 * kFont);
  std::vector<Panel> panels(parts.size());
  Extremes extremes;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (parts[k].through < 0) continue;
    const Array slice = slice_of(chart, parts[k]);
    panels[k] =
        interpolate(slice.view(), static_cast<int>(parts[k].rect.width), static_cast<int>(parts[k].rect.height));
    if (chart.reach > 0) leave_out_beyond(chart.reach, panels[k]);
    for (float value : panels[k].value) extremes.take(static_cast<double>(value));
  }
  Contents sheet;
  sheet.title = chart.title.empty() ? chart.is_signed ? "Signed distance to the surface" : "Distance to the surface"
                                    : chart.title;
  sheet.subtitle = fmt::format("{} · {} × {} × {} points · {}", chart.source, extent(chart, 0), extent(chart, 1),
                               extent(chart, 2), chart.notes);
  sheet.value_label = chart.units;
  Layout layout;
  layout.font = kFont;
  double top = end.y;
  for (const Part& part : parts)
    if (part.through >= 0) top = std::min(top, part.rect.y);
  const double height = std::min(end.y - top, 640.0);
  layout.bar = {end.x + 1.6 * kFont, end.y - height, std::round(1.4 * kFont), height};
  sheet.scale = Scale(extremes.low, extremes.high, chart.is_signed,
                      std::clamp(static_cast<int>(height / (2.4 * kFont)), 2, 12), chart.is_signed);
  layout.width = static_cast<int>(layout.bar.x + 6.5 * kFont);
  layout.height = static_cast<int>(end.y + kBelow);
  layout.title = {kLeft, 2.3 * kFont};
  layout.subtitle = {kLeft, 4.4 * kFont};

  Canvas canvas(layout.width, layout.height);
  for (std::size_t k = 0; k < parts.size(); ++k) draw_part(canvas, chart, parts[k], panels[k], sheet);
  draw_titles(canvas, layout, sheet);
  draw_colour_bar(canvas, layout, sheet);
  canvas.write_png(stream);
}

}  // namespace fathom::cli
