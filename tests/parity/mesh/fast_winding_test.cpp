// Generalised winding numbers against the sum of all solid angles, and the arctangent that they take.
#include "mesh/cpu/fast_winding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "cases.h"
#include "mesh/scene.h"
#include "mesh/sides.hd.h"

namespace fathom::test {
namespace {

using namespace fathom::mesh;

double uniform(Random& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }
Vec3 uniform_point(Random& random) { return {uniform(random), uniform(random), uniform(random)}; }

/// The sum over all triangles, in the widest numbers.
double exact_winding(const Surface& surface, Vec3 point) {
  long double sum = 0;
  for (const Corners& corners : surface.corners) {
    long double v[3][3], length[3];
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3 p = surface.vertices[static_cast<std::size_t>(corners[k])];
      v[k][0] = static_cast<long double>(p.x) - point.x;
      v[k][1] = static_cast<long double>(p.y) - point.y;
      v[k][2] = static_cast<long double>(p.z) - point.z;
      length[k] = std::hypot(v[k][0], v[k][1], v[k][2]);
    }
    const auto product = [&](int i, int j) { return v[i][0] * v[j][0] + v[i][1] * v[j][1] + v[i][2] * v[j][2]; };
    long double determinant = 0;
    for (int k = 0; k < 3; ++k)
      determinant += v[0][k] * (v[1][(k + 1) % 3] * v[2][(k + 2) % 3] - v[1][(k + 2) % 3] * v[2][(k + 1) % 3]);
    sum += std::atan2(determinant, length[0] * length[1] * length[2] + product(0, 1) * length[2] +
                                       product(1, 2) * length[0] + product(0, 2) * length[1]);
  }
  return static_cast<double>(sum / (2 * std::numbers::pi_v<long double>));
}

/// Triangles at random places in the unit cube.
Surface soup(Random& random, std::int32_t triangles, double size) {
  Surface surface;
  for (std::int32_t i = 0; i < triangles; ++i) {
    const Vec3 middle = uniform_point(random);
    for (int k = 0; k < 3; ++k)
      surface.vertices.push_back(middle + size * (uniform_point(random) - Vec3{0.5, 0.5, 0.5}));
    surface.corners.push_back({3 * i, 3 * i + 1, 3 * i + 2});
  }
  return surface;
}

/// A closed surface like a cratered ball, of 4·n² triangles about `middle`.
Surface ball(std::int32_t n, double radius, double bumps, Vec3 middle) {
  Surface surface;
  const auto add = [&](double polar, double around) {
    const double r = radius * (1 + bumps * std::sin(7 * polar) * std::sin(9 * around));
    surface.vertices.push_back(
        middle + r * Vec3{std::sin(polar) * std::cos(around), std::sin(polar) * std::sin(around), std::cos(polar)});
  };
  for (std::int32_t i = 0; i <= n; ++i)
    for (std::int32_t j = 0; j < 2 * n; ++j) add(std::numbers::pi * i / n, std::numbers::pi * j / n);
  // All of a pole are one.
  const auto vertex = [&](std::int32_t i, std::int32_t j) {
    return i == 0 || i == n ? i * 2 * n : i * 2 * n + j % (2 * n);
  };
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t j = 0; j < 2 * n; ++j) {
      surface.corners.push_back({vertex(i, j), vertex(i + 1, j), vertex(i + 1, j + 1)});
      surface.corners.push_back({vertex(i, j), vertex(i + 1, j + 1), vertex(i, j + 1)});
    }
  return surface;
}

/// Half of the points anywhere in and around the box, half of them close to the surface.
Vec3 query(Random& random, const Surface& surface) {
  if (chance(random, 0.5)) {
    const Point &low = surface.bounds.low, &high = surface.bounds.high;
    const auto at = [&](std::size_t k) { return low[k] + (high[k] - low[k]) * (1.4 * uniform(random) - 0.2); };
    const double x = at(0), y = at(1);
    return {x, y, at(2)};
  }
  const std::int64_t i = below(random, surface.size());
  const Vec3 a = surface.corner(i, 0), b = surface.corner(i, 1), c = surface.corner(i, 2);
  const double u = uniform(random), v = uniform(random) * (1 - u);
  return a + (u * (b - a) + v * (c - a)) + 1e-3 * (uniform_point(random) - Vec3{0.5, 0.5, 0.5});
}

/// The largest error.
double check(Random& random, Surface surface, int points) {
  Scene scene;
  scene.surface = std::move(surface);
  prepare(scene);
  const FastWinding winding(scene.surface, scene.tree, 1), by_threads(scene.surface, scene.tree, 3);
  double worst = 0;
  for (int i = 0; i < points; ++i) {
    const Vec3 point = query(random, scene.surface);
    const double exact = exact_winding(scene.surface, point), found = winding.at(point);
    worst = std::max(worst, std::abs(found - exact));
    EXPECT_EQ(found, by_threads.at(point));
    EXPECT_TRUE(winding.inside(point) == (exact >= 0.5) || std::abs(exact - 0.5) < 2e-3) << exact;
  }
  return worst;
}

TEST(FastWinding, ErrorOfSoupsIsBelowThatStated) {
  Random random(1);
  for (int i = 0; i < scaled(1000); ++i) {
    const auto triangles = static_cast<std::int32_t>(1 + below(random, chance(random, 0.1) ? 3000 : 100));
    ASSERT_LT(check(random, soup(random, triangles, 0.02 + uniform(random)), 20), 2e-3) << "mesh " << i;
  }
}

TEST(FastWinding, ErrorOfSurfacesIsBelowThatStated) {
  Random random(2);
  for (int i = 0; i < scaled(40); ++i) {
    const auto n = static_cast<std::int32_t>(3 + below(random, 50));
    Surface surface =
        ball(n, 1 + uniform(random), 0.4 * uniform(random), chance(random, 0.5) ? Vec3{} : Vec3{1e6, -1e6, 1e6});
    if (chance(random, 0.5))  // holes
      std::erase_if(surface.corners, [&](const Corners&) { return chance(random, 0.3); });
    ASSERT_LT(check(random, std::move(surface), 50), 2e-3) << "mesh " << i;
  }
}

/// The series has all of its terms: what it leaves out is of the order (radius / distance)³.
TEST(FastWinding, IsThatOfItsSeriesFarAway) {
  Random random(5);
  for (int i = 0; i < scaled(300); ++i) {
    Scene scene;
    scene.surface =
        chance(random, 0.5) ? soup(random, 1, 2) : soup(random, static_cast<std::int32_t>(1 + below(random, 600)), 0.5);
    prepare(scene);
    double area = 0;
    for (std::int64_t t = 0; t < scene.surface.size(); ++t) {
      const Vec3 a = scene.surface.corner(t, 0);
      const Vec3 normal = cross(scene.surface.corner(t, 1) - a, scene.surface.corner(t, 2) - a);
      area += 0.5 * std::sqrt(dot(normal, normal));
    }
    const FastWinding winding(scene.surface, scene.tree, 1);
    for (const double distance : {30.0, 100.0, 300.0}) {
      const Vec3 way = uniform_point(random) - Vec3{0.5, 0.5, 0.5};
      const Vec3 point = Vec3{0.5, 0.5, 0.5} + (distance / std::sqrt(dot(way, way))) * way;
      const double seen = area / (4 * std::numbers::pi * distance * distance);
      ASSERT_LT(std::abs(winding.at(point) - exact_winding(scene.surface, point)), seen * std::pow(1.5 / distance, 3));
    }
  }
}

/// 1 inside, 0 outside; −1 inside of what is inside out.
TEST(FastWinding, OfClosedSurfacesIsTheWindingNumber) {
  Random random(3);
  for (const bool turned : {false, true}) {
    Scene scene;
    scene.surface = ball(60, 1, 0.2, {});
    if (turned)
      for (Corners& corners : scene.surface.corners) std::swap(corners[0], corners[1]);
    prepare(scene);
    const FastWinding winding(scene.surface, scene.tree, 1);
    const TreeView tree = scene.view();
    int inside = 0;
    for (int i = 0; i < scaled(3000); ++i) {
      const Vec3 point = query(random, scene.surface);
      const std::int32_t exact = winding_at(tree, point);
      ASSERT_NEAR(winding.at(point), exact, 2e-3);
      ASSERT_EQ(winding.inside(point), exact == 1);
      inside += exact != 0;
    }
    EXPECT_GT(inside, scaled(500));
  }
}

TEST(FastWinding, HasNoNumberWherePointsAreNone) {
  Scene scene;
  scene.surface = ball(20, 1, 0, {});
  prepare(scene);
  const FastWinding winding(scene.surface, scene.tree, 1);
  EXPECT_FALSE(winding.inside({std::nan(""), 0, 0}));
  EXPECT_FALSE(winding.inside({1e300, 0, 0}));
  EXPECT_GT(winding.bytes(), scene.surface.corners.size() * 24);
}

TEST(Arctangent, ErrorIsBelowThatStated) {
  Random random(4);
  double worst = 0, worst_of_small = 0;
  for (int i = 0; i < scaled(1000000); ++i) {
    const double size = std::exp2(static_cast<double>(below(random, 80)) - 40);
    const double x = uniform(random) * 2 - 1, y = (uniform(random) * 2 - 1) * size;
    const long double exact = std::atan2(static_cast<long double>(y), static_cast<long double>(x));
    const auto error = static_cast<double>(std::abs(arctangent(y, x) - exact));
    worst = std::max(worst, error);
    if (std::abs(exact) < std::numbers::pi / 8)
      worst_of_small = std::max(worst_of_small, error / static_cast<double>(std::abs(exact)));
  }
  EXPECT_LT(worst, 4.5e-16);
  EXPECT_LT(worst_of_small, 3e-16);
  EXPECT_EQ(arctangent(0, 0), 0);
  EXPECT_EQ(arctangent(0, 2), 0);
  EXPECT_EQ(arctangent(0, -2), std::numbers::pi);
  EXPECT_EQ(arctangent(3, 0), std::numbers::pi / 2);
  EXPECT_EQ(arctangent(-3, 0), -std::numbers::pi / 2);
  EXPECT_EQ(arctangent(1, 1), std::numbers::pi / 4);
}

}  // namespace
}  // namespace fathom::test
