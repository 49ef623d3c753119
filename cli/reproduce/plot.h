// Plots of measurements, laid out once and drawn twice: as SVG for pages, by Cairo for pictures.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "chart/canvas.h"
#include "reproduce/study.h"

namespace fathom::cli {

/// What a mark is drawn with: pages have a light and a dark colour for each, pictures the light one.
enum class Ink { text, faint, grid, series };

struct Mark {
  enum class Shape { line, dot, text } shape;
  Ink ink;
  int series = 0;                                 ///< of Ink::series: which of the kSeries colours
  std::vector<std::pair<double, double>> points;  ///< of the line; else one
  std::string text = {};
  double anchor = 0;  ///< of the text: 0 begins there, 0.5 is in the middle, 1 ends there
};

struct Plot {
  double width = 0, height = 0;
  std::vector<Mark> marks;
};

inline constexpr int kSeries = 8;
/// The series that stand for a row's numbers in tables' plots.
inline constexpr int kFathomSeries = 0, kPublishedSeries = 1, kCopySeries = 2, kPaperSeries = 7;

/// "#1f6feb"
std::string series_colour(int series, bool dark);

/// Curves over axes.
Plot plot_of(const Figure& figure);
/// A line for each row, with a dot for each of its numbers on a logarithmic axis. Empty where there is little to see:
/// rows of several units, or fewer than two with numbers of this machine.
Plot plot_of(const std::vector<const Row*>& rows);

/// `<svg …>`, which takes its colours from the page's style sheet: classes text, faint, grid and s0 … s7.
std::string to_svg(const Plot& plot, const std::string& description);

/// @param at  of the plot's left upper corner
void draw(const Plot& plot, Canvas& canvas, const Point& at);

/// At most four digits: "0.0123", "1.23", "12346".
std::string short_number(double value);

}  // namespace fathom::cli
