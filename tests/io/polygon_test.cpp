// Polygons as triangles: they cover the polygon, turn its way, and keep its edges.
#include "io/polygon.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <random>

namespace fathom::io::test {
namespace {

double area(const Point& a, const Point& b, const Point& c) {
  return ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / 2;
}

/// Of a polygon in the plane z = 0: n − 2 triangles, none turned round, whose areas add up, so that none overlap; and
/// each edge, in its direction, is that of one triangle.
void expect_covered(const std::vector<Point>& polygon, double smallest = 0) {
  std::vector<Corners> triangles;
  ASSERT_TRUE(triangulate(polygon, triangles));
  ASSERT_EQ(triangles.size(), polygon.size() - 2);
  double sum = 0, whole = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, int> edges;
  const auto at = [&](std::int64_t i) { return polygon[static_cast<std::size_t>(i)]; };
  for (const Corners& t : triangles) {
    const double part = area(at(t[0]), at(t[1]), at(t[2]));
    EXPECT_GE(part, smallest);
    sum += part;
    for (std::size_t k = 0; k < 3; ++k) ++edges[{t[k], t[(k + 1) % 3]}];
  }
  const auto n = static_cast<std::int64_t>(polygon.size());
  for (std::int64_t i = 0; i < n; ++i) {
    whole += area({}, at(i), at((i + 1) % n));
    EXPECT_EQ((edges[{i, (i + 1) % n}]), 1);
  }
  EXPECT_NEAR(sum, whole, 1e-9 * std::abs(whole));
  for (const auto& [edge, count] : edges)
    EXPECT_EQ(count, (edge.first + 1) % n == edge.second || edges.contains({edge.second, edge.first}) ? 1 : 0);
}

/// Random points in an order without crossings: pairs of edges that cross are reversed until there are none.
std::vector<Point> random_polygon(int corners, std::mt19937& random) {
  std::uniform_real_distribution<double> place(0, 1);
  std::vector<Point> points;
  for (int i = 0; i < corners; ++i) points.push_back({place(random), place(random), 0});
  const auto cross = [&](std::size_t i, std::size_t j) {
    const Point &a = points[i], &b = points[i + 1], &c = points[j], &d = points[(j + 1) % points.size()];
    return area(a, b, c) * area(a, b, d) < 0 && area(c, d, a) * area(c, d, b) < 0;
  };
  for (bool crossed = true; crossed;) {
    crossed = false;
    for (std::size_t i = 0; i + 1 < points.size(); ++i)
      for (std::size_t j = i + 2; j < points.size(); ++j)
        if (cross(i, j)) {
          std::reverse(points.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                       points.begin() + static_cast<std::ptrdiff_t>(j) + 1);
          crossed = true;
        }
  }
  double whole = 0;
  for (std::size_t i = 0; i < points.size(); ++i) whole += area({}, points[i], points[(i + 1) % points.size()]);
  if (whole < 0) std::reverse(points.begin(), points.end());
  return points;
}

TEST(Polygon, Random) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) expect_covered(random_polygon(4 + round % 40, random));
}

/// On a small lattice many corners lie in line, or on others' edges' lines.
TEST(Polygon, CornersInLine) {
  for (int teeth = 1; teeth < 30; ++teeth) {  // a comb, whose back has corners, too
    std::vector<Point> polygon;
    for (int i = 0; i <= 2 * teeth; ++i) polygon.push_back({double(i), 0, 0});
    for (int i = 2 * teeth; i >= 0; --i) polygon.push_back({double(i), i % 2 == 0 ? 5.0 : 1.0, 0});
    for (std::size_t turn = 0; turn < polygon.size(); ++turn) {
      expect_covered(polygon);
      std::rotate(polygon.begin(), polygon.begin() + 1, polygon.end());
    }
  }
}

/// A ring whose boundaries are joined by a slit: two corners stand twice.
TEST(Polygon, AroundAHole) {
  for (const int n : {3, 4, 7, 50}) {
    std::vector<Point> polygon;
    for (const double radius : {2.0, 1.0})
      for (int i = 0; i <= n; ++i) {
        const double angle = 2 * std::numbers::pi * (i % n) / n * (radius > 1 ? 1 : -1);
        polygon.push_back({radius * std::cos(angle), radius * std::sin(angle), 0});
      }
    expect_covered(polygon, 1e-6);
  }
}

/// A spiral, the worst for clipping ears.
TEST(Polygon, ManyCorners) {
  std::vector<Point> polygon;
  constexpr int kCorners = 4000;
  for (int i = 0; i < kCorners; ++i) {
    const int along = i < kCorners / 2 ? i : kCorners - 1 - i;
    const double angle = along * 0.05, radius = angle + (i < kCorners / 2 ? 3 : 0);
    polygon.push_back({(1 + radius) * std::cos(angle), (1 + radius) * std::sin(angle), 0});
  }
  expect_covered(polygon);
}

TEST(Polygon, InAnyPlaneAndFarAway) {
  const std::vector<Point> arrow = {{-2, 0, 0}, {0, 1, 0}, {2, 0, 0}, {0, 3, 0}};
  std::vector<Corners> flat, turned;
  triangulate(arrow, flat);
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  for (int round = 0; round < 1000; ++round) {
    Point u, v, from;
    for (std::size_t k = 0; k < 3; ++k) u[k] = normal(random), v[k] = normal(random), from[k] = 1e6 * normal(random);
    std::vector<Point> polygon;
    for (const Point& p : arrow)
      polygon.push_back({from[0] + p[0] * u[0] + p[1] * v[0], from[1] + p[0] * u[1] + p[1] * v[1],
                         from[2] + p[0] * u[2] + p[1] * v[2]});
    triangulate(polygon, turned);
    EXPECT_EQ(turned, flat);
  }
}

/// What has no sensible plane gives as many triangles.
TEST(Polygon, WithoutArea) {
  std::vector<Corners> triangles;
  const std::vector<Point> bow = {{0, 0, 0}, {1, 1, 0}, {1, 0, 0}, {0, 1, 0}}, same(9, Point{1, 2, 3}),
                           nan(5, Point{0, std::nan(""), 0}),
                           pentagram = {{0, 3, 0}, {2, -3, 0}, {-3, 1, 0}, {3, 1, 0}, {-2, -3, 0}};
  for (const auto& polygon : {bow, same, nan, pentagram}) {
    ASSERT_TRUE(triangulate(polygon, triangles));
    EXPECT_EQ(triangles.size(), polygon.size() - 2);
  }
}

TEST(Polygon, TooManyCorners) {
  std::vector<Point> comb;
  for (int i = 0; i < 100000; ++i) comb.push_back({double(i), i % 2 == 0 ? 0.0 : 1.0, 0});
  comb.push_back({1e5, -9, 0});
  std::vector<Corners> triangles;
  EXPECT_FALSE(triangulate(comb, triangles));
}

}  // namespace
}  // namespace fathom::io::test
