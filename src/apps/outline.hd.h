// Coverage of pixels, and the edges that follow from it. Shared by host and device.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "core/root.hd.h"

namespace fathom::apps {

/// Positions are in pixels from the image's upper left corner; pixel (y, x) covers y … y + 1 and x … x + 1.
struct Segment {
  double y0, x0, y1, x1;
};

FATHOM_HD inline double squared_distance(const Segment& s, double y, double x) {
  const double dy = s.y1 - s.y0, dx = s.x1 - s.x0, length = dy * dy + dx * dx;
  double t = length > 0 ? ((y - s.y0) * dy + (x - s.x0) * dx) / length : 0;
  t = t < 0 ? 0 : t > 1 ? 1 : t;
  const double away_y = y - (s.y0 + t * dy), away_x = x - (s.x0 + t * dx);
  return away_y * away_y + away_x * away_x;
}

/// The edge through a pixel that is covered in part: a unit vector towards the covered side, and how far from the
/// pixel's middle the edge is in that direction.
struct Edge {
  double y = 0, x = 0, offset = 0;
};

/// A rectangle in the middle of a pixel without such an edge that a line or a dot covers, or leaves free.
struct Strip {
  int across = 0;                  ///< the axis along which coverage is most or least here: 0 is y
  double half = 0.5, reach = 0.5;  ///< half its extents across, and along the other axis
  bool covered = true;             ///< false: left free
};

/// How far from the middle of a unit square a line lies, at right angles to (large, small), which is a unit vector with
/// large ≥ small ≥ 0, if the square's share beyond the line is `share`.
FATHOM_HD inline double offset_of(double share, double large, double small) {
  const double less = share < 1 - share ? share : 1 - share;
  // A corner is cut off, t deep: its area is t² / (2 large small). Else a side is cut off.
  const double depth = less * 2 * large <= small ? std::sqrt(2 * large * small * less) : less * large + small / 2;
  const double offset = (large + small) / 2 - depth;
  return share > 0.5 ? -offset : offset;
}

/// What of each pixel is covered, from 0 to 1.
struct Shares {
  const float* data = nullptr;  ///< [height, width]
  std::int64_t height = 0, width = 0;

  /// 0 outside of the image.
  FATHOM_HD double at(std::int64_t y, std::int64_t x) const {
    return y < 0 || x < 0 || y >= height || x >= width ? 0 : static_cast<double>(data[y * width + x]);
  }

  /// @return false: the coverage around has no gradient
  FATHOM_HD bool find_edge(std::int64_t y, std::int64_t x, Edge& edge) const {
    constexpr double kNear = std::numbers::sqrt2;
    const double share = at(y, x);
    double down = 0, right = 0;
    for (int k = -1; k <= 1; ++k) {
      const double weight = k == 0 ? kNear : 1;
      down += weight * (at(y + 1, x + k) - at(y - 1, x + k));
      right += weight * (at(y + k, x + 1) - at(y + k, x - 1));
    }
    const double length = std::sqrt(down * down + right * right);
    if (!(length > 1e-6)) return false;
    edge.y = down / length;
    edge.x = right / length;
    const double a = std::abs(edge.y), b = std::abs(edge.x);
    edge.offset = a < b ? offset_of(share, b, a) : offset_of(share, a, b);
    return true;
  }

  /// @return false: coverage is even here
  FATHOM_HD bool find_strip(std::int64_t y, std::int64_t x, Strip& strip) const {
    constexpr double kEven = 1e-6;
    const double share = at(y, x);
    const double bend_y = at(y - 1, x) + at(y + 1, x) - 2 * share, bend_x = at(y, x - 1) + at(y, x + 1) - 2 * share;
    strip.covered = bend_y < -kEven || bend_x < -kEven;
    const double down = strip.covered ? -bend_y : bend_y, right = strip.covered ? -bend_x : bend_x;
    if (!(down > kEven || right > kEven)) return false;
    strip.across = right > down + kEven ? 1 : 0;
    const double area = strip.covered ? share : 1 - share;
    const bool is_dot = std::abs(down - right) <= kEven;
    strip.half = (is_dot ? std::sqrt(area) : area) / 2;
    strip.reach = is_dot ? strip.half : 0.5;
    return true;
  }

  /// Whether a position is inside of the outline.
  FATHOM_HD bool inside(double y, double x) const {
    const auto row = static_cast<std::int64_t>(std::floor(y)), column = static_cast<std::int64_t>(std::floor(x));
    const double share = at(row, column);
    if (share <= 0 || share >= 1) return share >= 0.5;
    const double away_y = y - static_cast<double>(row) - 0.5, away_x = x - static_cast<double>(column) - 0.5;
    Edge edge;
    if (find_edge(row, column, edge)) return away_y * edge.y + away_x * edge.x >= edge.offset;
    Strip strip;
    if (!find_strip(row, column, strip)) return share >= 0.5;
    const bool within = std::abs(strip.across == 0 ? away_y : away_x) <= strip.half &&
                        std::abs(strip.across == 0 ? away_x : away_y) <= strip.reach;
    return within == strip.covered;
  }
};

}  // namespace fathom::apps
