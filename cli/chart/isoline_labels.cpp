#include "chart/isoline_labels.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <utility>

namespace fathom::cli {

namespace {

struct Label {
  std::string text;
  double level = 0;
  double width = 0;
  double height = 0;
  Point centre;
  double angle = 0;
};

double distance(const Point& a, const Point& b) { return std::hypot(a.x - b.x, a.y - b.y); }

/// Length from the first point to each.
std::vector<double> lengths_along(const Polyline& line) {
  std::vector<double> lengths(line.size(), 0);
  for (std::size_t k = 1; k < line.size(); ++k) lengths[k] = lengths[k - 1] + distance(line[k - 1], line[k]);
  return lengths;
}

Point point_at(const Polyline& line, const std::vector<double>& lengths, double length) {
  const auto after = std::upper_bound(lengths.begin(), lengths.end(), length);
  const auto k = std::clamp<std::ptrdiff_t>(after - lengths.begin(), 1, std::ssize(line) - 1);
  const auto i = static_cast<std::size_t>(k);
  const double segment = lengths[i] - lengths[i - 1];
  const double t = segment > 0 ? (length - lengths[i - 1]) / segment : 0;
  return {line[i - 1].x + t * (line[i].x - line[i - 1].x), line[i - 1].y + t * (line[i].y - line[i - 1].y)};
}

/// Places labels one after another, each where it fits best.
class Placement {
 public:
  Placement(const Rect& inside, double text_size) : inside_(inside), text_size_(text_size) {}

  const std::vector<Label>& labels() const { return labels_; }

  void place(const Isoline& line, const std::string& text, double text_width) {
    const auto lengths = lengths_along(line.points);
    const double total = lengths.back();
    const double width = text_width + 0.7 * text_size_;
    if (total < 2.5 * width) return;
    const int wanted = 1 + static_cast<int>(total / kLengthPerLabel);
    for (int k = 0; k < wanted; ++k)
      if (!place_best(line, lengths, {text, line.level, width, 1.3 * text_size_, {}, 0})) return;
  }

 private:
  static constexpr double kLengthPerLabel = 1500;   // pixels of line
  static constexpr double kStraight = 0.965;        // chord over arc
  static constexpr double kSameLevelApart = 260;    // pixels

  bool place_best(const Isoline& line, const std::vector<double>& lengths, Label label) {
    std::optional<Label> best;
    double best_score = 0;
    const double step = std::max(4.0, lengths.back() / 2000);
    for (double at = label.width / 2; at + label.width / 2 <= lengths.back(); at += step) {
      const Point from = point_at(line.points, lengths, at - label.width / 2);
      const Point to = point_at(line.points, lengths, at + label.width / 2);
      const double straightness = distance(from, to) / label.width;
      if (straightness < kStraight) continue;
      label.centre = point_at(line.points, lengths, at);
      label.angle = upright(std::atan2(to.y - from.y, to.x - from.x));
      const double score = straightness + 0.25 * std::cos(label.angle);
      if (score > best_score && is_free(label)) {
        best_score = score;
        best = label;
      }
    }
    if (best) labels_.push_back(*best);
    return best.has_value();
  }

  static double upright(double angle) {
    if (angle > std::numbers::pi / 2) return angle - std::numbers::pi;
    if (angle < -std::numbers::pi / 2) return angle + std::numbers::pi;
    return angle;
  }

  bool is_free(const Label& label) const {
    const double radius = label.width / 2 + 0.3 * text_size_;
    const Point& c = label.centre;
    if (c.x - radius < inside_.x || c.x + radius > inside_.x + inside_.width || c.y - radius < inside_.y ||
        c.y + radius > inside_.y + inside_.height)
      return false;
    return std::none_of(labels_.begin(), labels_.end(), [&](const Label& other) {
      const double apart = other.level == label.level ? kSameLevelApart : radius + other.width / 2 + 0.5 * text_size_;
      return distance(other.centre, c) < apart;
    });
  }

  Rect inside_;
  double text_size_;
  std::vector<Label> labels_;
};

void trace(cairo_t* cairo, const Polyline& line) {
  cairo_move_to(cairo, line.front().x, line.front().y);
  for (const Point& point : line) cairo_line_to(cairo, point.x, point.y);
}

/// Clips to the rectangle without the boxes of the labels.
void clip_out(cairo_t* cairo, const Rect& inside, const std::vector<Label>& labels) {
  cairo_rectangle(cairo, inside.x, inside.y, inside.width, inside.height);
  cairo_clip(cairo);
  for (const Label& label : labels) {
    // One clip per label: the even-odd rule would bring overlaps of two boxes back.
    cairo_rectangle(cairo, inside.x, inside.y, inside.width, inside.height);
    cairo_save(cairo);
    cairo_translate(cairo, label.centre.x, label.centre.y);
    cairo_rotate(cairo, label.angle);
    cairo_rectangle(cairo, -label.width / 2, -label.height / 2, label.width, label.height);
    cairo_restore(cairo);
    cairo_set_fill_rule(cairo, CAIRO_FILL_RULE_EVEN_ODD);
    cairo_clip(cairo);
  }
}

Placement place_labels(Canvas& canvas, const Rect& inside, const std::vector<Isoline>& lines, const Scale& scale,
                       double text_size) {
  std::vector<const Isoline*> by_length;
  for (const Isoline& line : lines)
    if (line.points.size() > 1) by_length.push_back(&line);
  std::stable_sort(by_length.begin(), by_length.end(),
                   [](const Isoline* a, const Isoline* b) { return a->points.size() > b->points.size(); });
  Placement placement(inside, text_size);
  for (const Isoline* line : by_length) {
    const std::string text = scale.ticks().label(line->level);
    placement.place(*line, text, canvas.text_width(text, {text_size, {}, false}));
  }
  return placement;
}

}  // namespace

void draw_isolines(Canvas& canvas, const Rect& inside, const std::vector<Isoline>& lines, const Scale& scale,
                   double text_size) {
  const Placement placement = place_labels(canvas, inside, lines, scale, text_size);
  cairo_t* const cairo = canvas.cairo();
  cairo_save(cairo);
  clip_out(cairo, inside, placement.labels());
  cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
  for (const Isoline& line : lines) {
    if (line.points.size() < 2) continue;
    const bool is_surface = scale.is_signed() && line.level == 0;
    canvas.set_colour(scale.ink_on(line.level), is_surface ? 0.9 : 0.5);
    cairo_set_line_width(cairo, text_size * (is_surface ? 0.12 : 0.07));
    trace(cairo, line.points);
    cairo_stroke(cairo);
  }
  cairo_restore(cairo);
  for (const Label& label : placement.labels())
    canvas.text(label.text, label.centre, {0.5, 0.5}, {text_size, scale.ink_on(label.level), false}, label.angle);
}

}  // namespace fathom::cli
