// Which side of closed meshes a point is on: meshes of whole coordinates, where counting what a ray crosses is exact.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "mesh/meshes.h"

namespace fathom::test {
namespace {

using mesh::Sign;
using mesh::TriangleSet;

__extension__ using Wide = __int128;
using Whole = std::array<std::int64_t, 3>;

Whole whole(const Place& p) {
  return {static_cast<std::int64_t>(p[0]), static_cast<std::int64_t>(p[1]), static_cast<std::int64_t>(p[2])};
}

Whole minus(const Whole& p, const Whole& q) { return {p[0] - q[0], p[1] - q[1], p[2] - q[2]}; }

Wide determinant(const Whole& p, const Whole& q, const Whole& r) {
  return p[0] * (Wide{q[1]} * r[2] - Wide{q[2]} * r[1]) - p[1] * (Wide{q[0]} * r[2] - Wide{q[2]} * r[0]) +
         p[2] * (Wide{q[0]} * r[1] - Wide{q[1]} * r[0]);
}

/// Whether the ray from the point crosses an odd number of triangles; nothing if it meets an edge, or the point lies in a
/// triangle's plane.
std::optional<bool> is_odd_along(const Mesh& mesh, const Whole& point, const Whole& ray) {
  bool odd = false;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const Whole a = minus(whole(mesh.corner(i, 0)), point), b = minus(whole(mesh.corner(i, 1)), point),
                c = minus(whole(mesh.corner(i, 2)), point);
    const Wide ab = determinant(ray, a, b), bc = determinant(ray, b, c), ca = determinant(ray, c, a);
    if (ab == 0 || bc == 0 || ca == 0) return {};
    if ((ab > 0) != (bc > 0) || (bc > 0) != (ca > 0)) continue;
    const Wide volume = determinant(a, b, c);
    if (volume == 0) return {};
    odd ^= (volume > 0) == (ab > 0);  // the plane is ahead
  }
  return odd;
}

std::optional<bool> is_inside(const Mesh& mesh, const Place& point) {
  const Whole rays[] = {{1000003, 1009, 13}, {-7, 999983, 1013}, {17, -1019, 1000033}, {-999979, 23, 1021}};
  for (const Whole& ray : rays)
    if (const auto odd = is_odd_along(mesh, whole(point), ray)) return odd;
  return {};
}

Place random_whole(Random& random, std::int64_t reach) {
  const auto next = [&] { return static_cast<double>(below(random, 2 * reach + 1) - reach); };
  const double x = next(), y = next();
  return {x, y, next()};
}

/// A linear map with whole numbers that keeps a handedness, so that no edge is square any more.
Mesh sheared(Mesh mesh, Random& random) {
  const double p = static_cast<double>(below(random, 7) - 3), q = static_cast<double>(below(random, 7) - 3),
               r = static_cast<double>(below(random, 7) - 3);
  return moved(std::move(mesh), [&](const Place& v) { return Place{v[0] + p * v[1] + q * v[2], v[1] + r * v[2], v[2]}; });
}

struct Solid {
  const char* name;
  Mesh mesh;
};

std::vector<Solid> solids(Random& random) {
  std::vector<Solid> all;
  all.push_back({"box", box({-30, -20, -50}, {30, 40, 10})});
  all.push_back({"sphere", rounded(sphere({}, 1, 2), 100)});
  all.push_back({"torus", rounded(torus(1, 0.4, 12, 7), 80)});
  all.push_back({"nested", joined(rounded(sphere({}, 1, 2), 100), inside_out(rounded(sphere({}, 0.6, 1), 100)))});
  all.push_back({"needle", tetrahedron({0, 0, 0}, {100, 3, 0}, {100, -2, 1}, {99, 0, -4})});
  for (int i = 0; i < 10; ++i) {
    all.push_back({"columns", rounded(columns(3, 3, random), 16)});
    all.push_back({"sheared columns", sheared(rounded(columns(3, 3, random), 16), random)});
    all.push_back({"tetrahedron", tetrahedron(random_whole(random, 40), random_whole(random, 40), random_whole(random, 40), random_whole(random, 40))});
  }
  return all;
}

/// Anywhere, and about the mesh's vertices and edges, where the regions of many parts meet.
std::vector<Place> places_about(const Mesh& mesh, Random& random) {
  std::vector<Place> places;
  for (int i = 0; i < 400; ++i) {
    Place place = random_whole(random, i % 4 == 0 ? 150 : 5);
    const auto triangle = static_cast<std::size_t>(below(random, static_cast<std::int64_t>(mesh.triangles.size())));
    const Place &a = mesh.corner(triangle, 0), &b = mesh.corner(triangle, 1);
    for (std::size_t k = 0; k < 3; ++k)
      if (i % 4 > 0) place[k] += i % 4 == 1 ? std::floor(0.5 * (a[k] + b[k])) : a[k];
    places.push_back(place);
  }
  return places;
}

/// Distances are negative inside by an exact count, for the mesh and its inside-out.
void check_solid(const Solid& solid, Random& random) {
  SCOPED_TRACE(solid.name);
  const std::vector<Place> places = places_about(solid.mesh, random);
  const std::vector<double> unsigned_distances = distances(set_of(solid.mesh), places),
                            right = distances(set_of(solid.mesh, Sign::pseudonormal), places),
                            turned = distances(set_of(inside_out(solid.mesh), Sign::pseudonormal), places);
  int known = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    ASSERT_EQ(std::abs(right[i]), unsigned_distances[i]);
    if (right[i] == 0) {
      ASSERT_FALSE(std::signbit(right[i]) || std::signbit(turned[i]));
      continue;
    }
    ASSERT_EQ(turned[i], -right[i]);
    const auto inside = is_inside(solid.mesh, places[i]);
    if (!inside) continue;
    ++known;
    ASSERT_EQ(right[i] < 0, *inside) << places[i][0] << " " << places[i][1] << " " << places[i][2] << " at " << right[i];
  }
  ASSERT_GT(known, 200);
}

TEST(SignsByPseudonormals, EqualCountsAlongRays) {
  Random random(3);
  for (int i = 0; i < scaled(10); ++i)
    for (const Solid& solid : solids(random)) {
      check_solid(solid, random);
      if (HasFatalFailure()) return;
    }
}

/// Sides are those of analytic solids, too, as far from the surface as a facet deviates from it.
TEST(SignsByPseudonormals, AreThoseOfASphereAndATorus) {
  Random random(4);
  const auto reals = [&] { return std::uniform_real_distribution<double>(-1.6, 1.6)(random); };
  const TriangleSet round = set_of(sphere({}, 1, 4), Sign::pseudonormal), ring = set_of(torus(1, 0.4, 60, 40), Sign::pseudonormal);
  std::vector<Place> places;
  for (int i = 0; i < 5000; ++i) {
    const double x = reals(), y = reals();
    places.push_back({x, y, reals()});
  }
  const std::vector<double> of_round = distances(round, places), of_ring = distances(ring, places);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto [x, y, z] = places[i];
    EXPECT_NEAR(of_round[i], std::sqrt(x * x + y * y + z * z) - 1, 0.006);
    EXPECT_NEAR(of_ring[i], std::hypot(std::hypot(x, y) - 1, z) - 0.4, 0.006);
  }
}

/// A band, made dense, is the field up to the cutoff, and the cutoff with the field's sign beyond.
void check_bands(const TriangleSet& set, const mesh::Lattice& lattice, double unit, std::initializer_list<double> cutoffs) {
  Array field(DType::float64, lattice.array_shape()), dense(DType::float64, lattice.array_shape());
  mesh::Outputs outputs;
  outputs.distance = field.view();
  set.field(lattice, outputs);
  mesh::BandOptions options;
  options.dtype = DType::float64;
  for (const double units : cutoffs) {
    const double cutoff = options.cutoff = units * unit;
    set.band(lattice, options).to_dense(dense.view());
    for (std::int64_t i = 0; i < field.size(); ++i) {
      const double distance = field.as<double>().data()[i];
      const double expected = std::abs(distance) <= cutoff ? distance : std::copysign(cutoff, distance);
      ASSERT_EQ(dense.as<double>().data()[i], expected)
          << "point " << i << " at " << distance << ", spacing " << lattice.spacing[0] << ", cutoff " << cutoff;
    }
  }
}

TEST(SignsByPseudonormals, AreThoseOfTheFieldInBands) {
  Random random(5);
  for (const Solid& solid : solids(random)) {
    SCOPED_TRACE(solid.name);
    const TriangleSet set = set_of(solid.mesh, Sign::pseudonormal);
    for (const double h : {5.0, 7.0, 11.5}) {
      mesh::LatticeOptions around;
      around.spacing = {h, h, chance(random, 0.5) ? h : 2 * h};
      around.margin = 1;
      mesh::Lattice lattice = lattice_around(set.bounds(), around);
      if (chance(random, 0.3)) lattice.shape[0] = (lattice.shape[0] + 1) / 2;  // the mesh leaves it
      check_bands(set, lattice, std::max(h, lattice.spacing[2]), {0.01, 0.3, 0.5, 0.7, 1, 1.5, 2.5});
      if (HasFatalFailure()) return;
    }
  }
}

/// Far from 0, where some neighbours are the same point, and others farther apart than the spacing says.
TEST(SignsByPseudonormals, AreRightWhereStepsAreRounded) {
  for (const double h : {1e-9, 1e-10, 1e-11})
    for (const Sign sign : {Sign::pseudonormal, Sign::winding, Sign::fast_winding}) {
      const mesh::Lattice lattice{{1e6, -1e6, 1e6}, {h, h, h}, {50, 37, 20}};
      const auto place = [&](std::int64_t i) { return Place{lattice.at(0, i), lattice.at(1, i), lattice.at(2, i)}; };
      check_bands(set_of(box(place(5), place(15)), sign), lattice, h, {0.5, 1.5, 4, 20});
      const TriangleSet small = set_of(tetrahedron(place(2), {place(30)[0], place(20)[1], place(3)[2]}, place(19), {place(3)[0], place(30)[1], place(10)[2]}), sign);
      check_bands(small, lattice, h, {0.5, 1.5, 4, 20});
    }
}

Mesh without(Mesh mesh, const auto& leaves_out) {
  std::erase_if(mesh.triangles, [&](const Corners& corners) {
    Place middle{};
    for (const std::int64_t corner : corners)
      for (std::size_t k = 0; k < 3; ++k) middle[k] += mesh.vertices[static_cast<std::size_t>(corner)][k] / 3;
    return leaves_out(middle);
  });
  return mesh;
}

/// In a hole, inside and outside meet far from the surface.
TEST(SignsOfMeshesWithHoles, AreThoseOfTheFieldInBands) {
  const Mesh square = divided(divided(box({-1, -1, -1.5}, {1, 1, 1.5})));
  const Mesh tube = moved(without(square, [](const Place& p) { return std::abs(p[2]) == 1.5; }), [](const Place& p) {
    const double length = std::max(std::hypot(p[0], p[1]), 0.1);
    return Place{p[0] / length, p[1] / length, p[2]};
  });
  const Solid open[] = {{"tube", tube},
                        {"half a sphere", without(sphere({}, 1, 3), [](const Place& p) { return p[2] > 0; })},
                        {"box without a face", without(square, [](const Place& p) { return p[1] == 1; })}};
  for (const Solid& solid : open)
    for (const Sign sign : {Sign::fast_winding, Sign::pseudonormal}) {
      SCOPED_TRACE(solid.name);
      const TriangleSet set = set_of(solid.mesh, sign);
      ASSERT_FALSE(set.topology().closed());
      for (const double h : {1 / 7.0, 1 / 17.0, 1 / 25.0}) {
        mesh::LatticeOptions around;
        around.spacing = {h, 1.5 * h, h};
        around.margin = 5;
        check_bands(set, lattice_around(set.bounds(), around), h, {0.3, 1, 3});
        if (HasFatalFailure()) return;
      }
    }
}

/// Where roundings let a point beside the surface be farther from it than a step, and all about it lie on the surface.
TEST(SignsByPseudonormals, AreRightBesideSurfacesThroughTheLattice) {
  for (const double h : {0.1, 0.3, 0.7, 1.1, 1 / 3.0}) {
    const mesh::Lattice lattice{{0, 0, 0}, {h, h, h}, {20, 20, 20}};
    for (int low = 2; low < 12; ++low) {
      const auto place = [&](int x) { return Place{lattice.at(0, low + x), lattice.at(0, low + x), lattice.at(0, low + x)}; };
      check_bands(set_of(box(place(0), place(2)), Sign::pseudonormal), lattice, h, {1});
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace fathom::test
