#include "chart/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fathom::cli {

namespace {

constexpr double kLargestWidth = 1600;
constexpr double kLargestHeight = 1200;
constexpr double kMagnified = 800;   // the longer side of a picture whose elements are larger than a pixel
constexpr double kLeastSide = 150;   // so that a line of elements is still a picture
constexpr double kLargestElement = 240;

double widest(Canvas& canvas, const Ticks& ticks, double font) {
  double width = 0;
  for (double value : ticks.values) width = std::max(width, canvas.text_width(ticks.label(value), {font, {}, false}));
  return width;
}

}  // namespace

std::string with_units(const std::string& name, const std::string& units) {
  return units.empty() ? name : fmt::format("{} ({})", name, units);
}

Rect panel_size(const PictureAxis& x, const PictureAxis& y, bool is_curve) {
  if (is_curve) return {0, 0, 1100, 460};
  const double finest = std::min(x.spacing, y.spacing);
  double per_unit = std::min(kLargestWidth / x.length(), kLargestHeight / y.length());
  if (per_unit * finest > 1) {
    // Few elements: magnify to whole pixels, up to a handy size.
    const double handy = std::min(kMagnified / x.length(), kMagnified / y.length());
    const double element = std::clamp(std::floor(handy * finest), 1.0, kLargestElement);
    per_unit = std::min(per_unit, element / finest);
  }
  return {0, 0, std::max(kLeastSide, std::round(x.length() * per_unit)),
          std::max(kLeastSide, std::round(y.length() * per_unit))};
}

double font_size(const Rect& panel) { return std::clamp(0.0135 * std::max(panel.width, panel.height), 14.0, 21.0); }

Layout arrange(const Contents& contents) {
  Canvas ruler(1, 1);
  Layout layout;
  Rect panel = panel_size(contents.x, contents.y, contents.is_curve);
  const double f = font_size(panel);
  layout.font = f;

  const Ticks& vertical = contents.is_curve ? contents.scale.ticks() : contents.y.ticks;
  const bool has_bar = !contents.is_curve && !contents.scale.empty();
  const double left = std::round(1.6 * f + 1.9 * f + widest(ruler, vertical, f) + 0.9 * f);
  const double bar_labels = std::max(widest(ruler, contents.scale.ticks(), f) + 1.2 * f,
                                     ruler.text_width(contents.value_label, {f, {}, false}) + 0.5 * f);
  const double right = std::round(has_bar ? 3.2 * f + bar_labels + 1.2 * f : 2.4 * f);
  panel.x = left;
  panel.y = std::round(7.2 * f);

  const double least_width = 36 * f;
  layout.width = static_cast<int>(std::max(left + panel.width + right, least_width));
  layout.height =
      static_cast<int>(std::round(panel.y + panel.height + 4.9 * f + (contents.legend.empty() ? 0 : 2.2 * f)));
  layout.panel = panel;
  layout.bar = {panel.x + panel.width + 1.6 * f, panel.y, has_bar ? std::round(1.5 * f) : 0, panel.height};
  layout.title = {left, 2.3 * f};
  layout.subtitle = {left, 4.4 * f};
  layout.legend = {left, panel.y + panel.height + 5.1 * f};
  return layout;
}

}  // namespace fathom::cli
