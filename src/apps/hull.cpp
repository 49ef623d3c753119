#include "apps/hull.h"

#include <algorithm>
#include <span>
#include <utility>

namespace fathom::apps {

namespace {

/// Appends the corners of points that differ along the axes a and b alone, in that order, and ordered so.
void append_corners(std::span<const Index> plane, std::size_t a, std::size_t b, std::vector<Index>& corners) {
  const auto turn = [&](const Index& p, const Index& q, const Index& r) {
    return (std::int64_t{q[a]} - p[a]) * (std::int64_t{r[b]} - p[b]) -
           (std::int64_t{q[b]} - p[b]) * (std::int64_t{r[a]} - p[a]);
  };
  for (int side : {1, -1}) {
    const std::size_t begin = corners.size();
    for (const Index& point : plane) {
      while (corners.size() >= begin + 2 && side * turn(corners.end()[-2], corners.back(), point) <= 0)
        corners.pop_back();
      corners.push_back(point);
    }
  }
}

}  // namespace

void keep_corners(std::vector<Index>& points, std::size_t axis) {
  const std::size_t a = (axis + 1) % 3, b = (axis + 2) % 3;
  const auto key = [&](const Index& p) { return Index{p[axis], p[a], p[b]}; };
  const auto precedes = [&](const Index& p, const Index& q) { return key(p) < key(q); };
  if (!std::is_sorted(points.begin(), points.end(), precedes)) std::sort(points.begin(), points.end(), precedes);
  points.erase(std::unique(points.begin(), points.end()), points.end());
  std::vector<Index> corners;
  for (auto begin = points.begin(), end = begin; begin != points.end(); begin = end) {
    end = std::find_if(begin, points.end(), [&](const Index& p) { return p[axis] != (*begin)[axis]; });
    append_corners({begin, end}, a, b, corners);
  }
  points = std::move(corners);
}

}  // namespace fathom::apps
