// What holds for the distances of meshes whatever they are.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mesh/meshes.h"
#include "run.h"

namespace fathom::test {
namespace {

using mesh::Lattice;
using mesh::Sign;
using mesh::TriangleSet;

/// Coordinates in 64ths, so that sums and halves of them are exact.
Mesh dyadic_mesh(Random& random) {
  const auto kind = pick<Kind>(random, {Kind::soup, Kind::whole, Kind::sphere, Kind::torus, Kind::columns, Kind::overlapping, Kind::duplicated});
  Mesh mesh = rounded(make_mesh(kind, random), 64);
  return moved(std::move(mesh), [](const Place& p) { return Place{p[0] / 64, p[1] / 64, p[2] / 64}; });
}

/// About meshes of that size, in 16ths.
std::vector<Place> places(Random& random, int count = 200) {
  std::vector<Place> result;
  const auto next = [&] { return static_cast<double>(below(random, 97) - 48) / 16; };
  for (int i = 0; i < count; ++i) {
    const double x = next(), y = next();
    result.push_back({x, y, next()});
  }
  return result;
}

struct Fields {
  Array distance, triangle;
};

Fields fields_of(const Mesh& mesh, const Lattice& lattice, Sign sign) {
  Fields fields{Array(DType::float64, lattice.array_shape()), Array(DType::int32, lattice.array_shape())};
  mesh::Outputs outputs;
  outputs.distance = fields.distance.view();
  outputs.triangle = fields.triangle.view();
  set_of(mesh, sign).field(lattice, outputs);
  return fields;
}

class MeshProperty : public testing::Test {
 protected:
  template <class Body>
  void repeat(int count, const Body& body) {
    for (int i = 0; i < scaled(count) && !HasFatalFailure(); ++i) body();
  }
  Random random_{21};
};

TEST_F(MeshProperty, MovesByStepsOfTheLattice) {
  repeat(200, [&] {
    const Mesh mesh = dyadic_mesh(random_);
    Lattice lattice{{-1.5, -1.5, -1.5}, {0.25, 0.25, 0.125}, {13, 12, 20}};
    const Fields before = fields_of(mesh, lattice, Sign::pseudonormal);
    const double shift = pick<double>(random_, {0.25, -8, 1024, 1 << 20});
    for (double& x : lattice.origin) x += shift;
    const Fields after = fields_of(moved(mesh, [&](const Place& p) { return Place{p[0] + shift, p[1] + shift, p[2] + shift}; }),
                                   lattice, Sign::pseudonormal);
    ASSERT_TRUE(equal(before.distance, after.distance));
    ASSERT_TRUE(equal(before.triangle, after.triangle));
  });
}

TEST_F(MeshProperty, ScalesByPowersOfTwo) {
  repeat(200, [&] {
    const Mesh mesh = dyadic_mesh(random_);
    const double scale = std::ldexp(1, static_cast<int>(below(random_, 80)) - 40);
    std::vector<Place> points = places(random_);
    const std::vector<double> before = distances(set_of(mesh, Sign::pseudonormal), points);
    const auto scaled_up = [&](const Place& p) { return Place{p[0] * scale, p[1] * scale, p[2] * scale}; };
    for (Place& point : points) point = scaled_up(point);
    const std::vector<double> after = distances(set_of(moved(mesh, scaled_up), Sign::pseudonormal), points);
    for (std::size_t i = 0; i < points.size(); ++i) ASSERT_EQ(after[i], before[i] * scale);
  });
}

/// The axes' order and directions are nothing to distances but in how sums are rounded.
TEST_F(MeshProperty, TurnsWithTheMesh) {
  repeat(200, [&] {
    const Mesh mesh = dyadic_mesh(random_);
    std::vector<Place> points = places(random_);
    const std::vector<double> before = distances(set_of(mesh), points);
    const auto turned = [](const Place& p) { return Place{-p[2], p[0], -p[1]}; };
    for (Place& point : points) point = turned(point);
    const std::vector<double> after = distances(set_of(moved(mesh, turned)), points);
    for (std::size_t i = 0; i < points.size(); ++i) ASSERT_NEAR(after[i], before[i], 1e-7);
  });
}

TEST_F(MeshProperty, OrderOfTrianglesNamesThemOnly) {
  repeat(200, [&] {
    const Mesh mesh = dyadic_mesh(random_);
    std::vector<std::size_t> order(mesh.triangles.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    Mesh shuffled{mesh.vertices, {}};
    for (const std::size_t id : order) shuffled.triangles.push_back(mesh.triangles[id]);
    const Lattice lattice{{-1, -1, -1}, {0.1875, 0.25, 0.25}, {13, 12, 9}};
    const Fields before = fields_of(mesh, lattice, Sign::none), after = fields_of(shuffled, lattice, Sign::none);
    ASSERT_TRUE(equal(before.distance, after.distance));
    // One that is as near has another name, at most.
    const TriangleSet set = set_of(mesh);
    for (std::int64_t i = 0; i < after.triangle.size(); ++i) {
      const auto name = order[static_cast<std::size_t>(integer_at(after.triangle, i))];
      const auto lowest = static_cast<std::size_t>(integer_at(before.triangle, i));
      if (name == lowest) continue;
      ASSERT_LT(lowest, name);
      const Mesh alone{mesh.vertices, {mesh.triangles[name]}};
      const Place at = {lattice.at(0, i % 13), lattice.at(1, i / 13 % 12), lattice.at(2, i / 13 / 12)};
      ASSERT_EQ(distances(set_of(alone), {at})[0], value_at(before.distance, i));
    }
  });
}

TEST_F(MeshProperty, OrderOfCornersIsNothing) {
  repeat(200, [&] {
    const Mesh mesh = dyadic_mesh(random_);
    Mesh rotated = mesh, turned = mesh;
    for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
      std::rotate(rotated.triangles[i].begin(), rotated.triangles[i].begin() + below(random_, 3), rotated.triangles[i].end());
      std::shuffle(turned.triangles[i].begin(), turned.triangles[i].end(), random_);
    }
    const Lattice lattice{{-1, -1, -1}, {0.1875, 0.25, 0.25}, {13, 12, 9}};
    const Fields before = fields_of(mesh, lattice, Sign::none);
    for (const Mesh& other : {rotated, turned}) {
      const Fields after = fields_of(other, lattice, Sign::none);
      ASSERT_TRUE(equal(before.distance, after.distance));
      ASSERT_TRUE(equal(before.triangle, after.triangle));
    }
  });
}

/// Also where vertices are no longer shared.
TEST_F(MeshProperty, SharingVerticesIsNothing) {
  repeat(200, [&] {
    const Mesh mesh = dyadic_mesh(random_);
    const std::vector<Place> points = places(random_);
    const std::vector<double> before = distances(set_of(mesh), points), after = distances(set_of(split(mesh)), points);
    // Corners are told apart by their order, which differs now; so do roundings.
    for (std::size_t i = 0; i < points.size(); ++i) ASSERT_NEAR(before[i], after[i], 1e-7);
  });
}

TEST_F(MeshProperty, DivisionOfTrianglesIsNothing) {
  repeat(120, [&] {
    const Mesh mesh = dyadic_mesh(random_);
    const std::vector<Place> points = places(random_);
    const std::vector<double> before = distances(set_of(mesh), points), after = distances(set_of(divided(divided(mesh))), points);
    for (std::size_t i = 0; i < points.size(); ++i) ASSERT_NEAR(before[i], after[i], 0x1p-23 * (before[i] + 4));
  });
  // Of well-shaped triangles, by roundings only, and signs stay.
  const Mesh ball = sphere({}, 1, 2), finer = divided(divided(ball));
  const std::vector<Place> points = places(random_, 3000);
  const std::vector<double> before = distances(set_of(ball, Sign::pseudonormal), points), after = distances(set_of(finer, Sign::pseudonormal), points);
  for (std::size_t i = 0; i < points.size(); ++i) ASSERT_NEAR(before[i], after[i], 1e-14);
}

TEST_F(MeshProperty, SignsTurnWithTheSurface) {
  repeat(60, [&] {
    const Mesh mesh = make_mesh(pick<Kind>(random_, {Kind::sphere, Kind::box, Kind::torus, Kind::columns, Kind::nested}), random_);
    const std::vector<Place> points = places(random_);
    const std::vector<double> before = distances(set_of(mesh, Sign::pseudonormal), points),
                              after = distances(set_of(inside_out(mesh), Sign::pseudonormal), points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      ASSERT_EQ(after[i], -before[i]);
      ASSERT_FALSE(before[i] == 0 && (std::signbit(before[i]) || std::signbit(after[i])));
    }
  });
}

/// A step changes a distance by its length at most, and signs with it.
TEST_F(MeshProperty, ChangesNoFasterThanThePoint) {
  repeat(120, [&] {
    const Mesh mesh = make_mesh(pick<Kind>(random_, {Kind::sphere, Kind::box, Kind::torus, Kind::columns, Kind::nested}), random_);
    const std::vector<Place> points = places(random_);
    for (const Sign sign : {Sign::none, Sign::pseudonormal, Sign::winding}) {
      const std::vector<double> found = distances(set_of(mesh, sign), points);
      for (std::size_t i = 1; i < points.size(); ++i) {
        const double step = std::hypot(points[i][0] - points[i - 1][0], points[i][1] - points[i - 1][1], points[i][2] - points[i - 1][2]);
        ASSERT_LE(std::abs(found[i] - found[i - 1]), step + 1e-12);
      }
    }
  });
}

TEST_F(MeshProperty, MoreTrianglesAreNoFarther) {
  repeat(200, [&] {
    const Mesh mesh = dyadic_mesh(random_), both = joined(mesh, dyadic_mesh(random_));
    const std::vector<Place> points = places(random_);
    const std::vector<double> before = distances(set_of(mesh), points), after = distances(set_of(both), points);
    for (std::size_t i = 0; i < points.size(); ++i) ASSERT_LE(after[i], before[i]);
  });
}

}  // namespace
}  // namespace fathom::test
