#include "chart/furniture.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fathom::cli {

namespace {

/// Ink lines stand on pixels, not between them.
double crisp(double position) { return std::floor(position) + 0.5; }

void horizontal_ticks(Canvas& canvas, const Layout& layout, const PictureAxis& axis) {
  const Rect& panel = layout.panel;
  const double bottom = panel.y + panel.height;
  for (double value : axis.ticks.values) {
    const double x = crisp(panel.x + axis.share(value) * panel.width);
    canvas.set_colour(kRule);
    canvas.line({x, bottom + 1}, {x, bottom + 1 + 0.4 * layout.font}, 1);
    canvas.text(axis.ticks.label(value), {x, bottom + 0.75 * layout.font}, {0.5, 0}, {layout.font, kInk, false});
  }
  canvas.text(axis.name, {panel.x + panel.width / 2, bottom + 2.65 * layout.font}, {0.5, 0},
              {layout.font, kFaint, false});
}

void vertical_tick(Canvas& canvas, const Layout& layout, const std::string& label, double at) {
  const Rect& panel = layout.panel;
  const double y = crisp(at);
  canvas.set_colour(kRule);
  canvas.line({panel.x - 1 - 0.4 * layout.font, y}, {panel.x - 1, y}, 1);
  canvas.text(label, {panel.x - 0.75 * layout.font, y}, {1, 0.5}, {layout.font, kInk, false});
}

void vertical_name(Canvas& canvas, const Layout& layout, const std::string& name) {
  canvas.text(name, {layout.left + 1.9 * layout.font, layout.panel.y + layout.panel.height / 2}, {0.5, 0.5},
              {layout.font, kFaint, false}, -std::numbers::pi / 2);
}

/// Share of the scale, from its lower end.
double share(const Scale& scale, double value) {
  return scale.high() > scale.low() ? (value - scale.low()) / (scale.high() - scale.low()) : 0.5;
}

}  // namespace

void draw_titles(Canvas& canvas, const Layout& layout, const Contents& contents) {
  const double room = layout.width - layout.title.x - 1.2 * layout.font;
  const TextStyle title{1.55 * layout.font, kInk, true};
  const TextStyle subtitle{layout.font, kFaint, false};
  canvas.text(canvas.fitted(contents.title, title, room), layout.title, {0, 0.5}, title);
  canvas.text(canvas.fitted(contents.subtitle, subtitle, room), layout.subtitle, {0, 0.5}, subtitle);
}

void draw_axes(Canvas& canvas, const Layout& layout, const Contents& contents) {
  const Rect& panel = layout.panel;
  canvas.frame(panel, kRule);
  horizontal_ticks(canvas, layout, contents.x);
  if (contents.is_curve) {
    const Ticks& ticks = contents.scale.ticks();
    for (double value : ticks.values)
      vertical_tick(canvas, layout, ticks.label(value), panel.y + (1 - share(contents.scale, value)) * panel.height);
    vertical_name(canvas, layout, contents.value_label);
  } else {
    for (double value : contents.y.ticks.values)
      vertical_tick(canvas, layout, contents.y.ticks.label(value), panel.y + contents.y.share(value) * panel.height);
    vertical_name(canvas, layout, contents.y.name);
  }
}

void draw_colour_bar(Canvas& canvas, const Layout& layout, const Contents& contents) {
  const Scale& scale = contents.scale;
  if (scale.empty() || contents.is_curve) return;
  const Rect& bar = layout.bar;
  for (int row = 0; row < static_cast<int>(bar.height); ++row) {
    const double t = 1 - (row + 0.5) / bar.height;
    canvas.fill({bar.x, bar.y + row, bar.width, 1}, scale.colour(scale.low() + t * (scale.high() - scale.low())));
  }
  canvas.frame(bar, kRule);
  const double right = bar.x + bar.width;
  for (double value : scale.ticks().values) {
    const double y = crisp(bar.y + (1 - share(scale, value)) * bar.height);
    const Clip clip(canvas, {bar.x, 0, static_cast<double>(layout.width), static_cast<double>(layout.height)});
    canvas.set_colour(kRule);
    canvas.line({right + 1, y}, {right + 1 + 0.4 * layout.font, y}, 1);
    canvas.text(scale.ticks().label(value), {right + 0.8 * layout.font, y}, {0, 0.5}, {layout.font, kInk, false});
    if (y <= bar.y + 1 || y >= bar.y + bar.height - 1) continue;
    canvas.set_colour(scale.ink_on(value), 0.5);
    canvas.line({bar.x, y}, {right, y}, 0.07 * layout.font);
  }
  canvas.text(contents.value_label, {bar.x, bar.y - 1.1 * layout.font}, {0, 0.5}, {layout.font, kFaint, false});
}

void hatch(Canvas& canvas, const Rect& rect, double pitch) {
  const Clip clip(canvas, rect);
  canvas.fill(rect, kUnreached);
  canvas.set_colour(kHatch);
  for (double x = rect.x - rect.height; x < rect.x + rect.width; x += pitch)
    canvas.line({x, rect.y + rect.height}, {x + rect.height, rect.y}, 1);
}

void draw_legend(Canvas& canvas, const Layout& layout, const Contents& contents) {
  const double f = layout.font;
  double x = layout.legend.x;
  for (const LegendEntry& entry : contents.legend) {
    const Rect swatch{std::round(x), std::round(layout.legend.y - 0.5 * f), std::round(1.7 * f), std::round(f)};
    if (entry.hatched) hatch(canvas, swatch, 0.45 * f);
    else canvas.fill(swatch, kSite);
    canvas.frame(swatch, kRule);
    x = swatch.x + swatch.width + 0.6 * f;
    canvas.text(entry.text, {x, swatch.y + swatch.height / 2}, {0, 0.5}, {f, kInk, false});
    x += canvas.text_width(entry.text, {f, {}, false}) + 2 * f;
  }
}

}  // namespace fathom::cli
