// Polygons as triangles: a fan where all its triangles turn the polygon's way, as in convex ones, else ears are
// clipped. The polygon is looked at along the axis that is nearest to its normal.
// Source: Meisters, "Polygons have ears", 1975, with ears kept in a list as in O'Rourke, "Computational Geometry in C",
// 1998; departs by a corner that is clipped where none is an ear, which happens in polygons that are not simple.
#include "io/polygon.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace fathom::io {

namespace {

using Flat = std::array<double, 2>;

double cross(const Flat& a, const Flat& b, const Flat& c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/// Relative to the first corner, seen so that it turns to the left; by Newell's normal.
std::vector<Flat> flatten(std::span<const Point> polygon) {
  const auto from_first = [&](std::size_t i, std::size_t axis) { return polygon[i][axis] - polygon[0][axis]; };
  Point normal{};
  for (std::size_t i = 1; i + 1 < polygon.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t u = (k + 1) % 3, v = (k + 2) % 3;
      normal[k] += from_first(i, u) * from_first(i + 1, v) - from_first(i, v) * from_first(i + 1, u);
    }
  std::size_t axis = 0;
  for (std::size_t k = 1; k < 3; ++k)
    if (std::abs(normal[k]) > std::abs(normal[axis])) axis = k;
  std::size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
  if (normal[axis] < 0) std::swap(u, v);
  std::vector<Flat> flat;
  for (std::size_t i = 0; i < polygon.size(); ++i) flat.push_back({from_first(i, u), from_first(i, v)});
  return flat;
}

bool is_fan(const std::vector<Flat>& corners) {
  for (std::size_t i = 1; i + 1 < corners.size(); ++i)
    if (cross(corners[0], corners[i], corners[i + 1]) < 0) return false;
  return true;
}

class EarClipper {
 public:
  explicit EarClipper(const std::vector<Flat>& corners)
      : corners_(corners), before_(corners.size()), after_(corners.size()), gone_(corners.size()) {
    const std::size_t n = corners.size();
    for (std::size_t i = 0; i < n; ++i) {
      before_[i] = (i + n - 1) % n;
      after_[i] = (i + 1) % n;
    }
    for (std::size_t i = 0; i < n; ++i)
      if (turn(i) <= 0) reflex_.push_back(i);
    std::sort(reflex_.begin(), reflex_.end(), [&](auto i, auto j) { return corners[i][0] < corners[j][0]; });
  }

  std::size_t reflex_count() const { return reflex_.size(); }

  void clip(std::vector<Corners>& triangles) {
    std::size_t at = 0, left = corners_.size();
    for (std::size_t i = 0; i < left; ++i) queue_if_ear(i);
    for (std::size_t head = 0; left > 3; --left) {
      while (head < ears_.size() && (gone_[ears_[head]] || !is_ear(ears_[head]))) ++head;
      if (head < ears_.size()) at = ears_[head++];
      add(at, triangles);
      gone_[at] = true;
      const std::size_t a = before_[at], b = after_[at];
      after_[a] = b;
      before_[b] = a;
      queue_if_ear(a);
      queue_if_ear(b);
      at = b;
    }
    add(at, triangles);
  }

 private:
  double turn(std::size_t i) const { return cross(corners_[before_[i]], corners_[i], corners_[after_[i]]); }

  /// Convex, and none of the reflex corners lies in its triangle. One at the place of a corner of the triangle does not
  /// count: a polygon around a hole passes twice along the slit to it.
  bool is_ear(std::size_t i) const {
    const Flat &a = corners_[before_[i]], &b = corners_[i], &c = corners_[after_[i]];
    if (!(cross(a, b, c) > 0)) return false;
    const auto [low, high] = std::minmax({a[0], b[0], c[0]});
    auto at =
        std::lower_bound(reflex_.begin(), reflex_.end(), low, [&](auto j, double x) { return corners_[j][0] < x; });
    for (; at != reflex_.end() && corners_[*at][0] <= high; ++at) {
      const Flat& p = corners_[*at];
      if (gone_[*at] || p == a || p == b || p == c) continue;
      if (cross(a, b, p) >= 0 && cross(b, c, p) >= 0 && cross(c, a, p) >= 0 && turn(*at) <= 0) return false;
    }
    return true;
  }
  void queue_if_ear(std::size_t i) {
    if (is_ear(i)) ears_.push_back(i);
  }
  void add(std::size_t i, std::vector<Corners>& triangles) const {
    triangles.push_back(
        {static_cast<std::int64_t>(before_[i]), static_cast<std::int64_t>(i), static_cast<std::int64_t>(after_[i])});
  }

  const std::vector<Flat>& corners_;
  std::vector<std::size_t> before_, after_;
  std::vector<bool> gone_;
  std::vector<std::size_t> reflex_;  // at the beginning; by their first coordinate
  std::vector<std::size_t> ears_;    // as they were found
};

}  // namespace

bool triangulate(std::span<const Point> polygon, std::vector<Corners>& triangles) {
  constexpr std::size_t kMostTests = std::size_t{1} << 29;  // seconds
  triangles.clear();
  if (polygon.size() == 3) {
    triangles.push_back({0, 1, 2});
    return true;
  }
  const std::vector<Flat> corners = flatten(polygon);
  if (is_fan(corners)) {
    for (std::int64_t i = 2; i < static_cast<std::int64_t>(corners.size()); ++i) triangles.push_back({0, i - 1, i});
    return true;
  }
  EarClipper clipper(corners);
  if (clipper.reflex_count() > kMostTests / corners.size()) return false;
  clipper.clip(triangles);
  return true;
}

}  // namespace fathom::io
