// How far the formula of src/mesh/triangle.hd.h is from the true distance, which is found here another way, with twice the
// digits.
#include "mesh/triangle.hd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mesh/meshes.h"

namespace fathom::test {
namespace {

using mesh::Vec3;

__extension__ using Wide = __float128;
using WidePoint = std::array<Wide, 3>;

WidePoint wide(Vec3 p) { return {p.x, p.y, p.z}; }
WidePoint minus(const WidePoint& p, const WidePoint& q) { return {p[0] - q[0], p[1] - q[1], p[2] - q[2]}; }
Wide dot(const WidePoint& p, const WidePoint& q) { return p[0] * q[0] + p[1] * q[1] + p[2] * q[2]; }

/// Squared distance from p to the segment from u to v.
Wide to_segment(const WidePoint& p, const WidePoint& u, const WidePoint& v) {
  const WidePoint edge = minus(v, u), way = minus(p, u);
  const Wide square = dot(edge, edge);
  Wide along = square > 0 ? dot(way, edge) / square : 0;
  along = along < 0 ? 0 : along > 1 ? 1 : along;
  const WidePoint rest = {way[0] - along * edge[0], way[1] - along * edge[1], way[2] - along * edge[2]};
  return dot(rest, rest);
}

/// The true distance: the nearest point of the plane by its normal equations, if it lies in the triangle, else of the sides.
long double true_distance(Vec3 corner_a, Vec3 corner_b, Vec3 corner_c, Vec3 point) {
  const WidePoint a = wide(corner_a), b = wide(corner_b), c = wide(corner_c), p = wide(point);
  const WidePoint u = minus(b, a), v = minus(c, a), w = minus(p, a);
  const Wide uu = dot(u, u), uv = dot(u, v), vv = dot(v, v), uw = dot(u, w), vw = dot(v, w), det = uu * vv - uv * uv;
  Wide least = std::min({to_segment(p, a, b), to_segment(p, a, c), to_segment(p, b, c)});
  if (det > 0) {
    const Wide s = (vv * uw - uv * vw) / det, t = (uu * vw - uv * uw) / det;
    if (s > 0 && t > 0 && s + t < 1) {
      const WidePoint rest = {w[0] - s * u[0] - t * v[0], w[1] - s * u[1] - t * v[1], w[2] - s * u[2] - t * v[2]};
      least = std::min(least, dot(rest, rest));
    }
  }
  return std::sqrt(static_cast<long double>(least));
}

double uniform(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}
Vec3 random_vector(Random& random) { return {uniform(random, -1, 1), uniform(random, -1, 1), uniform(random, -1, 1)}; }

struct Shape3 {
  Vec3 a, b, c;
  double longest() const {
    const Vec3 u = b - a, v = c - a, w = c - b;
    return std::sqrt(std::max({mesh::dot(u, u), mesh::dot(v, v), mesh::dot(w, w)}));
  }
  /// Height over the longest side, in parts of it.
  double flatness() const {
    const Vec3 normal = mesh::cross(b - a, c - a);
    return std::sqrt(mesh::dot(normal, normal)) / (longest() * longest());
  }
};

/// Near and far, above the triangle and on its plane.
Vec3 random_point(const Shape3& t, Random& random) {
  const double reach = t.longest() * pick<double>(random, {1e-9, 1e-3, 1, 1, 1000});
  const double s = uniform(random, -0.5, 1), r = uniform(random, -0.5, 1);
  return t.a + (s * (t.b - t.a) + r * (t.c - t.a)) + reach * random_vector(random);
}

/// The largest error of many triangles as `make` makes them, in units of distance and longest side together.
struct Errors {
  double largest = 0;
  double times_flatness = 0;  ///< each multiplied by its triangle's flatness
};

template <class Make>
Errors errors(int count, const Make& make) {
  Random random(1);
  Errors errors;
  for (int i = 0; i < scaled(count); ++i) {
    const Shape3 t = make(random);
    const mesh::Triangle triangle = mesh::make_triangle(t.a, t.b, t.c);
    for (int k = 0; k < 10; ++k) {
      const Vec3 point = random_point(t, random);
      const long double truth = true_distance(t.a, t.b, t.c, point);
      const long double distance = std::sqrt(static_cast<long double>(nearest_of(triangle, point).squared));
      const auto error = static_cast<double>(std::abs(distance - truth) / (truth + static_cast<long double>(t.longest())));
      errors.largest = std::max(errors.largest, error);
      errors.times_flatness = std::max(errors.times_flatness, error * t.flatness());
    }
  }
  return errors;
}

TEST(FormulaOfTriangles, ErrsByRoundingsOnly) {
  const auto well_shaped = [](Random& random) {
    Shape3 t;
    do t = {random_vector(random), random_vector(random), random_vector(random)};
    while (t.flatness() < 0.2);
    return t;
  };
  EXPECT_LE(errors(8000, well_shaped).largest, 1e-15);
  // Coordinates that a detail is small beside: what counts is the triangle's size, not where it is.
  EXPECT_LE(errors(8000,
                   [&](Random& random) {
                     const Shape3 t = well_shaped(random);
                     const auto far = [](Vec3 p) { return Vec3{1e6, -1e6, 1e6} + 1e-3 * p; };
                     return Shape3{far(t.a), far(t.b), far(t.c)};
                   })
                .largest,
            1e-15);
}

/// The error grows as the triangle gets flat, up to 2⁻²⁴ of distance and longest side; flatter ones have no face.
TEST(FormulaOfTriangles, ErrsByFlatnessAtMost) {
  for (int bits = 2; bits <= 30; ++bits) {
    const Errors of_flat = errors(600, [bits](Random& random) {
      const Vec3 a = random_vector(random), b = random_vector(random);
      const double along = uniform(random, -0.2, 1.2), height = std::ldexp(uniform(random, 0.5, 2), -bits);
      return Shape3{a, b, a + along * (b - a) + height * random_vector(random)};
    });
    EXPECT_LE(of_flat.largest, 0x1p-24) << bits;
    EXPECT_LE(of_flat.times_flatness, 1e-15) << bits;
  }
}

TEST(FormulaOfTriangles, IsExactOfWholeNumbers) {
  Random random(5);
  const auto whole = [&] {
    const auto next = [&] { return static_cast<double>(below(random, 41) - 20); };
    const double x = next(), y = next();
    return Vec3{x, y, next()};
  };
  for (int i = 0; i < scaled(20000); ++i) {
    const Shape3 t{whole(), whole(), whole()};
    // Corners and points of the surface are at 0, and a corner's distance has no error at all.
    const mesh::Triangle triangle = mesh::make_triangle(t.a, t.b, t.c);
    for (const Vec3 corner : {t.a, t.b, t.c}) EXPECT_EQ(nearest_of(triangle, corner).squared, 0);
    EXPECT_EQ(nearest_of(triangle, t.a + 0.5 * (t.c - t.a)).squared, 0);
    const Vec3 away = whole();
    const mesh::Nearest nearest = nearest_of(triangle, away);
    if (nearest.part >= mesh::Part::a) {
      EXPECT_EQ(std::sqrt(nearest.squared), static_cast<double>(true_distance(t.a, t.b, t.c, away)));
    }
  }
}

/// Triangles that share an edge, or a corner, give it the same bits: neither is nearer there.
TEST(FormulaOfTriangles, GivesSharedPartsEqualBits) {
  Random random(6);
  int shared = 0;
  for (int i = 0; i < scaled(20000); ++i) {
    const Vec3 a = random_vector(random), b = random_vector(random), c = random_vector(random), d = random_vector(random);
    const Vec3 point = 2 * random_vector(random);
    const mesh::Nearest first = nearest_of(mesh::make_triangle(a, b, c), point),
                        second = nearest_of(mesh::make_triangle(a, b, d), point);
    const auto both = [&](mesh::Part part) { return first.part == part && second.part == part; };
    if (!both(mesh::Part::ab) && !both(mesh::Part::a) && !both(mesh::Part::b)) continue;
    ++shared;
    EXPECT_EQ(first.squared, second.squared);
  }
  EXPECT_GT(shared, scaled(20000) / 20);
}

}  // namespace
}  // namespace fathom::test
