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

/// The edge through a pixel that is covered in part: a unit vector towards the covered side, and how far from the pixel's
/// middle the edge is in that direction.
struct Edge {
  double y = 0, x = 0, offset = 0;
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

  /// Whether a position is inside of the outline.
  FATHOM_HD bool inside(double y, double x) const {
    const auto row = static_cast<std::int64_t>(std::floor(y)), column = static_cast<std::int64_t>(std::floor(x));
    const double share = at(row, column);
    Edge edge;
    if (share <= 0 || share >= 1 || !find_edge(row, column, edge)) return share >= 0.5;
    const double from_middle =
        (y - static_cast<double>(row) - 0.5) * edge.y + (x - static_cast<double>(column) - 0.5) * edge.x;
    return from_middle >= edge.offset;
  }
};

}  // namespace fathom::apps
