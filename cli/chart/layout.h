// Where everything stands in a chart, in pixels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chart/canvas.h"
#include "chart/chart.h"
#include "chart/scale.h"
#include "chart/ticks.h"

namespace fathom::cli {

/// An axis of the picture: coordinates are those of the elements' centres, in units of the spacing.
struct PictureAxis {
  std::int64_t extent = 1;
  double spacing = 1;
  double first = 0;  ///< coordinate of the first element
  std::string name;
  Ticks ticks;

  double length() const { return static_cast<double>(extent) * spacing; }
  /// Share of the axis, whose ends are the outer edges of the first and the last element.
  double share(double coordinate) const { return (coordinate - first + 0.5 * spacing) / length(); }
};

/// "x (mm)"; the name alone where there are no units.
std::string with_units(const std::string& name, const std::string& units);

struct LegendEntry {
  std::string text;
  bool hatched = false;
};

/// What a chart says, before it has places.
struct Contents {
  PictureAxis x;
  PictureAxis y;            ///< of a curve: unused
  bool is_curve = false;
  std::string title;
  std::string subtitle;
  std::string value_label;  ///< units of the values
  Scale scale{1, 0, false, 0};
  std::vector<LegendEntry> legend;
};

struct Layout {
  double font = 14;  ///< of ticks; all else follows it
  double left = 0;   ///< where the panel's part of the canvas begins
  int width = 0;
  int height = 0;
  Rect panel;
  Rect bar;
  Point title;
  Point subtitle;
  Point legend;
};

/// Pixels of the panel along x and y: the field's proportions unless they are extreme, whole pixels per element where a
/// picture must be magnified.
Rect panel_size(const PictureAxis& x, const PictureAxis& y, bool is_curve);

/// Size of the letters beside a panel: a chart keeps readable when it is shown smaller than it is.
double font_size(const Rect& panel);

Layout arrange(const Contents& contents);

}  // namespace fathom::cli
