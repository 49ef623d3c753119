#include "reproduce/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <set>

#include "chart/scale.h"
#include "chart/ticks.h"
#include "reproduce/html.h"

namespace fathom::cli {

namespace {

constexpr double kWidth = 440, kFont = 12, kLetter = 0.56 * kFont, kLine = 18;  // a letter is about so wide
constexpr std::array<const char*, kSeries> kLight = {"#1f6feb", "#d9480f", "#2b8a3e", "#9c36b5",
                                                     "#c92a2a", "#087f8c", "#8a6d00", "#5f6675"};
constexpr std::array<const char*, kSeries> kDark = {"#74a9ff", "#ff922b", "#69db7c", "#da77f2",
                                                    "#ff8787", "#3bc9db", "#ffd43b", "#adb5bd"};

double width_of(const std::string& text) {
  const auto letters = std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
  return static_cast<double>(letters) * kLetter;
}

/// From numbers to places along an axis.
class Axis {
 public:
  /// @param marked  numbers to be ticks, if they are few
  Axis(const Extremes& extremes, bool logarithmic, double from, double to, const std::set<double>& marked = {})
      : low_(extremes.low), high_(extremes.high), log_(logarithmic && low_ > 0), from_(from), to_(to) {
    if (!(low_ <= high_)) low_ = high_ = 1;
    if (log_) widen_to_powers(marked.empty());
    else if (marked.empty()) low_ = std::min(low_, 0.0);
    if (low_ == high_) low_ -= 0.5, high_ += 0.5;
    if (!marked.empty() && marked.size() <= 7) ticks_.assign(marked.begin(), marked.end());
    else if (log_) ticks_ = powers();
    else ticks_ = ticks_between(low_, high_, 6).values;
  }

  double at(double value) const {
    const double share = log_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
    return from_ + share * (to_ - from_);
  }
  bool shows(double value) const { return std::isfinite(value) && (!log_ || value > 0); }
  const std::vector<double>& ticks() const { return ticks_; }

 private:
  void widen_to_powers(bool to_steps) {
    if (!to_steps) return;
    low_ = step_below(low_);
    double high = step_below(high_);
    while (high < high_ * (1 - 1e-9)) high = step_above(high);
    high_ = high > low_ ? high : step_above(high);
  }
  /// Of 1, 2, 5 times powers of ten.
  static double step_below(double value) {
    const double power = std::pow(10, std::floor(std::log10(value) + 1e-9));
    return value >= 5 * power * (1 - 1e-9) ? 5 * power : value >= 2 * power * (1 - 1e-9) ? 2 * power : power;
  }
  static double step_above(double step) { return step_below(2.5 * step * (1 + 1e-9)); }
  /// Powers of ten; of a short axis the steps between, too; of a long one every other.
  std::vector<double> powers() const {
    const double decades = std::log10(high_ / low_);
    const int every = static_cast<int>(std::ceil(decades / 7));
    std::vector<double> ticks;
    for (double tick = low_; tick <= high_ * (1 + 1e-9); tick = step_above(tick)) {
      const double power = std::log10(tick), whole = std::round(power);
      const bool is_power = std::abs(power - whole) < 1e-6;
      if (decades <= 2.2 || (is_power && static_cast<int>(whole) % every == 0)) ticks.push_back(tick);
    }
    return ticks;
  }

  double low_, high_;
  bool log_;
  double from_, to_;
  std::vector<double> ticks_;
};

void add_text(Plot& plot, double x, double y, std::string text, double anchor, Ink ink = Ink::faint) {
  plot.marks.push_back({Mark::Shape::text, ink, 0, {{x, y}}, std::move(text), anchor});
}

void add_rule(Plot& plot, double x0, double y0, double x1, double y1) {
  plot.marks.push_back({Mark::Shape::line, Ink::grid, 0, {{x0, y0}, {x1, y1}}});
}

void add_dot(Plot& plot, double x, double y, int series) {
  plot.marks.push_back({Mark::Shape::dot, Ink::series, series, {{x, y}}});
}

/// Fathom's curves, and those of copying, have one colour in all plots; others what is left, in turn.
std::vector<int> series_of(const std::vector<Curve>& curves) {
  constexpr std::array<int, 6> kOthers = {1, 3, 4, 5, 6, 7};
  std::vector<int> series;
  std::size_t others = 0;
  for (const Curve& curve : curves)
    series.push_back(curve.name.starts_with("Fathom")    ? kFathomSeries
                     : curve.name.starts_with("copying") ? kCopySeries
                                                         : kOthers[others++ % kOthers.size()]);
  return series;
}

/// Names of series with their colours, in lines of text. @returns where they end
double add_legend(Plot& plot, const std::vector<std::pair<std::string, int>>& names, double y) {
  double x = 6;
  for (const auto& [name, series] : names) {
    const double width = 16 + width_of(name) + 14;
    if (x > 6 && x + width > kWidth) {
      x = 6;
      y += kLine;
    }
    add_dot(plot, x, y, series);
    add_text(plot, x + 10, y + 4, name, 0, Ink::text);
    x += width;
  }
  return y + kLine;
}

}  // namespace

std::string short_number(double value) {
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size >= 999.5 && size < 1e7) return fmt::format("{:.0f}", value);
  return fmt::format("{:.3g}", value);
}

std::string series_colour(int series, bool dark) {
  return (dark ? kDark : kLight)[static_cast<std::size_t>(series % kSeries)];
}

Plot plot_of(const Figure& figure) {
  Plot plot{kWidth, 0, {}};
  Extremes xs, ys;
  std::set<double> marked;
  const std::vector<int> series = series_of(figure.curves);
  std::vector<std::pair<std::string, int>> names;
  for (const Curve& curve : figure.curves) {
    names.emplace_back(curve.name, series[names.size()]);
    for (const auto& [x, y] : curve.points) {
      xs.take(x);
      ys.take(y);
      marked.insert(x);
    }
  }
  const double legend = add_legend(plot, names, 10);
  add_text(plot, 6, legend + 6, figure.y, 0);
  const double top = legend + 20, bottom = top + 190;
  const Axis y_axis(ys, figure.log_y, bottom, top);
  double left = 0;
  for (const double tick : y_axis.ticks()) left = std::max(left, width_of(short_number(tick)) + 12);
  const Axis x_axis(xs, figure.log_x, left + 6, kWidth - 18, marked.size() <= 7 ? marked : std::set<double>{});
  for (const double tick : y_axis.ticks()) {
    add_rule(plot, left, y_axis.at(tick), kWidth - 6, y_axis.at(tick));
    add_text(plot, left - 6, y_axis.at(tick) + 4, short_number(tick), 1);
  }
  double free = 0;  // labels would overlap before it
  for (const double tick : x_axis.ticks()) {
    const std::string label = short_number(tick);
    const double half = width_of(label) / 2, middle = std::min(x_axis.at(tick), kWidth - half);
    add_rule(plot, x_axis.at(tick), bottom, x_axis.at(tick), bottom + 4);
    if (middle - half < free) continue;
    add_text(plot, middle, bottom + 17, label, 0.5);
    free = middle + half + 4;
  }
  add_text(plot, kWidth - 6, bottom + 35, figure.x, 1);
  for (std::size_t k = 0; k < figure.curves.size(); ++k) {
    Mark line{Mark::Shape::line, Ink::series, series[k], {}};
    for (const auto& [x, y] : figure.curves[k].points)
      if (x_axis.shows(x) && y_axis.shows(y)) line.points.emplace_back(x_axis.at(x), y_axis.at(y));
    if (line.points.size() <= 24)
      for (const auto& [x, y] : line.points) add_dot(plot, x, y, line.series);
    plot.marks.push_back(std::move(line));
  }
  plot.height = bottom + 42;
  return plot;
}

Plot plot_of(const std::vector<const Row*>& rows) {
  struct Kind {
    const char* name;
    int series;
    std::optional<double> Row::*value;
  };
  constexpr std::array<Kind, 4> kKinds = {{{"copying the output here", kCopySeries, &Row::copy},
                                           {"in the paper", kPaperSeries, &Row::paper},
                                           {"published algorithm here", kPublishedSeries, &Row::published},
                                           {"Fathom here", kFathomSeries, &Row::fathom}}};
  Extremes values;
  std::set<std::string> units;
  std::vector<const Row*> shown;
  std::vector<std::pair<std::string, int>> names;
  for (const Row* row : rows) {
    units.insert(row->unit);
    if (row->published.value_or(0) > 0 || row->fathom.value_or(0) > 0) shown.push_back(row);
  }
  if (units.size() != 1 || shown.size() < 2) return {};
  for (const Kind& kind : kKinds) {
    bool used = false;
    for (const Row* row : shown)
      if ((row->*kind.value).value_or(0) > 0) {
        values.take(*(row->*kind.value));
        used = true;
      }
    if (used) names.emplace_back(kind.name, kind.series);
  }
  Plot plot{kWidth, 0, {}};
  const double top = add_legend(plot, names, 10) + 4;
  const double bottom = top + static_cast<double>(shown.size()) * 2 * kLine - 4;
  const Axis axis(values, true, 12, kWidth - 18);
  for (const double tick : axis.ticks()) {
    add_rule(plot, axis.at(tick), top, axis.at(tick), bottom + 4);
    add_text(plot, axis.at(tick), bottom + 17, short_number(tick), 0.5);
  }
  add_text(plot, kWidth - 6, bottom + 35, *units.begin(), 1);
  double y = top + 12;
  for (const Row* row : shown) {
    add_text(plot, 6, y, label_of(*row), 0, Ink::text);
    add_rule(plot, 6, y + 13, kWidth - 6, y + 13);
    for (const Kind& kind : kKinds)
      if (const double value = (row->*kind.value).value_or(0); value > 0)
        add_dot(plot, axis.at(value), y + 13, kind.series);
    y += 2 * kLine;
  }
  plot.height = bottom + 42;
  return plot;
}

std::string to_svg(const Plot& plot, const std::string& description) {
  constexpr std::array<const char*, 3> kAnchors = {"start", "middle", "end"};
  const auto style = [](const Mark& mark) {
    constexpr std::array<const char*, 3> kNames = {"text", "faint", "grid"};
    return mark.ink == Ink::series ? fmt::format("s{}", mark.series % kSeries)
                                   : std::string(kNames[static_cast<std::size_t>(mark.ink)]);
  };
  std::string svg = fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n", plot.width,
                                plot.height, escaped(description));
  for (const Mark& mark : plot.marks) {
    const auto [x, y] = mark.points.empty() ? std::pair(0.0, 0.0) : mark.points.front();
    if (mark.shape == Mark::Shape::dot) {
      svg += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"/>\n", style(mark), x, y);
    } else if (mark.shape == Mark::Shape::text) {
      svg += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", style(mark), x,
                         y, kAnchors[static_cast<std::size_t>(2 * mark.anchor)], escaped(mark.text));
    } else {
      svg += fmt::format("<polyline class=\"{}\" points=\"", style(mark));
      for (const auto& [px, py] : mark.points) svg += fmt::format("{:.1f},{:.1f} ", px, py);
      svg += "\"/>\n";
    }
  }
  return svg + "</svg>\n";
}

void draw(const Plot& plot, Canvas& canvas, const Point& at) {
  const auto colour = [](const Mark& mark) {
    if (mark.ink != Ink::series) return mark.ink == Ink::text ? kInk : mark.ink == Ink::faint ? kFaint : kRule;
    const unsigned long rgb = std::stoul(series_colour(mark.series, false).substr(1), nullptr, 16);
    return Colour{static_cast<double>(rgb >> 16) / 255, static_cast<double>(rgb >> 8 & 255) / 255,
                  static_cast<double>(rgb & 255) / 255};
  };
  cairo_t* const cairo = canvas.cairo();
  for (const Mark& mark : plot.marks) {
    if (mark.shape == Mark::Shape::text) {
      const auto [x, y] = mark.points.front();
      canvas.text(mark.text, {at.x + x, at.y + y}, {mark.anchor, 1}, {kFont, colour(mark)});
      continue;
    }
    canvas.set_colour(colour(mark));
    cairo_set_line_width(cairo, mark.ink == Ink::series ? 2 : 1);
    cairo_new_path(cairo);
    if (mark.shape == Mark::Shape::dot) {
      cairo_arc(cairo, at.x + mark.points[0].first, at.y + mark.points[0].second, 3.5, 0, 2 * std::numbers::pi);
      cairo_fill(cairo);
      continue;
    }
    for (const auto& [x, y] : mark.points) cairo_line_to(cairo, at.x + x, at.y + y);
    cairo_stroke(cairo);
  }
}

}  // namespace fathom::cli
