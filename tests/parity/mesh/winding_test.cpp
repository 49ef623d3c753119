// Winding numbers of closed surfaces, against tetrahedra counted in exact integers: on faces, edges and vertices, too.
#include "mesh/sides.hd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "cases.h"
#include "mesh/scene.h"

namespace fathom::test {
namespace {

using namespace fathom::mesh;
__extension__ using Wide = __int128;
using Whole = std::array<std::int64_t, 3>;

/// Determinant of a, b and c, all less p; and what of it grows with the x, the y and the z of a p that moves.
std::array<Wide, 4> determinant(Whole a, Whole b, Whole c, Whole p) {
  const auto less = [](Whole q, Whole r) { return std::array<Wide, 3>{q[0] - r[0], q[1] - r[1], q[2] - r[2]}; };
  const auto cross = [](std::array<Wide, 3> q, std::array<Wide, 3> r) {
    return std::array<Wide, 3>{q[1] * r[2] - q[2] * r[1], q[2] * r[0] - q[0] * r[2], q[0] * r[1] - q[1] * r[0]};
  };
  const auto u = less(a, p), normal = cross(less(b, a), less(c, a));
  return {u[0] * normal[0] + u[1] * normal[1] + u[2] * normal[2], -normal[0], -normal[1], -normal[2]};
}

int sign(Wide x) { return (x > 0) - (x < 0); }

/// Sign of the determinant once p has moved by (ε, ε², ε³); 0 where the triangle is a line or a point.
int moved_sign(Whole a, Whole b, Whole c, Whole p) {
  for (const Wide term : determinant(a, b, c, p))
    if (term != 0) return sign(term);
  return 0;
}

using Tetrahedron = std::array<Whole, 4>;

/// 1 or −1 in the tetrahedron, by its orientation, else 0.
int winding_of(const Tetrahedron& t, Whole p) {
  const int side = moved_sign(t[0], t[1], t[2], p);
  return side != 0 && side == moved_sign(t[0], t[2], t[3], p) && side == moved_sign(t[0], t[3], t[1], p) &&
                 side == moved_sign(t[1], t[3], t[2], p)
             ? side
             : 0;
}

/// Numbers that stand for `offset` + whole·`unit`, without rounding.
struct Scale {
  double offset = 0, unit = 1;
  double operator()(std::int64_t x) const { return offset + static_cast<double>(x) * unit; }
};

Scene boundary_of(const std::vector<Tetrahedron>& tetrahedra, const Scale& scale) {
  Scene scene;
  for (const Tetrahedron& t : tetrahedra) {
    const auto first = static_cast<std::int32_t>(scene.surface.vertices.size());
    for (const Whole& v : t) scene.surface.vertices.push_back({scale(v[0]), scale(v[1]), scale(v[2])});
    for (const Corners& c : {Corners{0, 1, 2}, Corners{0, 2, 3}, Corners{0, 3, 1}, Corners{1, 3, 2}})
      scene.surface.corners.push_back({first + c[0], first + c[1], first + c[2]});
  }
  prepare(scene);
  return scene;
}

/// All points of a cube of lattice points, one by one and line by line.
void check(const std::vector<Tetrahedron>& tetrahedra, const Scale& scale, std::int64_t low, std::int64_t high,
           std::int64_t step) {
  const Scene scene = boundary_of(tetrahedra, scale);
  TreeView tree = scene.view();
  const std::int64_t size = (high - low) / step + 1;
  const double spacing = scale.unit * static_cast<double>(step), origin = scale(low);
  const Lattice lattice{{origin, origin, origin}, {spacing, spacing, spacing}, {size, size, size}};
  std::vector<std::uint64_t> bits(static_cast<std::size_t>(size + 63) / 64);
  std::vector<std::int32_t> expected(static_cast<std::size_t>(size));
  for (std::int64_t k = 0; k < size; ++k)
    for (std::int64_t j = 0; j < size; ++j) {
      for (std::int64_t i = 0; i < size; ++i) {
        std::int32_t& winding = expected[static_cast<std::size_t>(i)] = 0;
        for (const Tetrahedron& t : tetrahedra)
          winding += winding_of(t, {low + i * step, low + j * step, low + k * step});
        ASSERT_EQ(winding_at(tree, {lattice.at(0, i), lattice.at(1, j), lattice.at(2, k)}),
                  winding)
            << i << ' ' << j << ' ' << k;
      }
      for (const WindingRule rule : {WindingRule::nonzero, WindingRule::even_odd, WindingRule::positive}) {
        tree.rule = rule;
        ASSERT_EQ(winding_line(tree, grid_of(lattice), j, k, bits.data()), 0);
        for (std::int64_t i = 0; i < size; ++i)
          ASSERT_EQ((bits[static_cast<std::size_t>(i / 64)] >> i % 64 & 1) != 0,
                    is_inside(expected[static_cast<std::size_t>(i)], rule))
              << i << ' ' << j << ' ' << k;
      }
    }
}

std::vector<Tetrahedron> random_tetrahedra(std::mt19937_64& random, std::size_t count, std::int64_t size) {
  std::vector<Tetrahedron> tetrahedra(count);
  for (Tetrahedron& t : tetrahedra)
    for (Whole& vertex : t)
      for (std::int64_t& x : vertex) x = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(size + 1));
  return tetrahedra;
}

/// The unit cube's six tetrahedra around a diagonal, whose inner faces lie on one another, turned against each other.
std::vector<Tetrahedron> cube(Whole corner, std::int64_t side) {
  std::vector<Tetrahedron> tetrahedra;
  std::array<std::size_t, 3> axes{0, 1, 2};
  do {
    Tetrahedron t{corner, corner, corner, corner};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t later = i + 1; later < 4; ++later) t[later][axes[i]] += side;
    if (determinant(t[1], t[2], t[3], t[0])[0] < 0) std::swap(t[2], t[3]);
    tetrahedra.push_back(t);
  } while (std::next_permutation(axes.begin(), axes.end()));
  return tetrahedra;
}

/// Overlapping, nested, inside out and flat ones; most points lie on planes of faces, most lines meet edges.
TEST(Winding, IsThatOfTetrahedraOnFewCoordinates) {
  std::mt19937_64 random(1);
  for (int i = 0; i < scaled(1500); ++i) {
    check(random_tetrahedra(random, 1 + random() % 12, 4), {}, -1, 5, 1);
    if (HasFatalFailure()) FAIL() << "mesh " << i;
  }
}

/// Many triangles, so that the tree has levels; points between the coordinates, too; long lines.
TEST(Winding, IsThatOfManyTetrahedra) {
  std::mt19937_64 random(2);
  for (int i = 0; i < scaled(10); ++i) {
    check(random_tetrahedra(random, 500, 24), {0, 0.5}, -2, 26, 4);
    check(random_tetrahedra(random, 100, 300), {-7, 0.25}, -10, 310, 40);
    if (HasFatalFailure()) FAIL() << "mesh " << i;
  }
  check(random_tetrahedra(random, 6, 20), {}, -30, 270, 2);
}

/// Duplicated opposite faces vanish; sheets a millionth of the side apart do not.
TEST(Winding, IsThatOfCubes) {
  check(cube({0, 0, 0}, 4), {}, -1, 5, 1);
  std::vector<Tetrahedron> nested = cube({0, 0, 0}, 8);
  for (const Tetrahedron& t : cube({2, 2, 2}, 4)) nested.push_back({t[0], t[2], t[1], t[3]});
  for (const Tetrahedron& t : cube({8, 0, 0}, 8)) nested.push_back(t);
  check(nested, {0.125, 0.25}, -1, 17, 1);
  constexpr std::int64_t kSide = 1 << 20;
  std::vector<Tetrahedron> near = cube({0, 0, 0}, kSide);
  for (const Tetrahedron& t : cube({kSide + 1, 1, 1}, kSide)) near.push_back(t);
  check(near, {}, kSide - 3, kSide + 4, 1);
}

/// Coordinates at 10⁶ with details of a thousandth, slanted faces, points a last bit from them.
TEST(Winding, IsExactFarFromTheOrigin) {
  std::mt19937_64 random(3);
  for (int i = 0; i < scaled(200); ++i) {
    check(random_tetrahedra(random, 8, 5), {1e6, 0x1p-10}, 0, 5, 1);
    check(random_tetrahedra(random, 20, std::int64_t{1} << 32), {0x1p20, 0x1p-32}, std::int64_t{1} << 30,
          std::int64_t{3} << 30, std::int64_t{1} << 28);
    if (HasFatalFailure()) FAIL() << "mesh " << i;
  }
}

/// Points on planes, and a last bit beside them, whose determinant float64 does not hold.
TEST(Winding, PredicatesAreExact) {
  std::mt19937_64 random(4);
  const auto any = [&] { return static_cast<std::int64_t>(random() >> 23) - (std::int64_t{1} << 40); };
  const auto real = [](Whole p) {
    return Vec3{static_cast<double>(p[0]), static_cast<double>(p[1]), static_cast<double>(p[2])};
  };
  int zeros = 0;
  for (int i = 0; i < scaled(200000); ++i) {
    const Whole a{any(), any(), any()}, b{any(), any(), any()};
    Whole c{any(), any(), any()}, p;
    for (std::size_t k = 0; k < 3; ++k) {
      c[k] += (c[k] + b[k] + a[k]) & 1;
      p[k] = (a[k] + b[k]) / 2 + (c[k] - a[k]) / 4;
    }
    if (random() % 2) p[random() % 3] += static_cast<std::int64_t>(random() % 3) - 1;
    const int expected = sign(determinant(a, b, c, p)[0]);
    ASSERT_EQ(orientation(real(a), real(b), real(c), real(p)), expected);
    zeros += expected == 0;
    Whole middle{0, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2 + static_cast<std::int64_t>(random() % 2)};
    const Wide in_yz = Wide{a[1] - middle[1]} * (b[2] - middle[2]) - Wide{a[2] - middle[2]} * (b[1] - middle[1]);
    ASSERT_EQ(orientation_in_yz(real(a), real(b), real(middle)), sign(in_yz));
    zeros += in_yz == 0;
  }
  EXPECT_GT(zeros, 100);
  // Differences of very different sizes, which no float64 holds: from 1 to the grain and to the largest coordinate.
  EXPECT_EQ(orientation({1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, -1, 1 + 0x1p-52}), -1);
  EXPECT_EQ(orientation({1e70, 0, 0}, {0, 1e70, 0}, {0, 0, 1e70}, {kGrain, 1e70, 0}), -1);
  EXPECT_EQ(orientation({1e70, 0, 0}, {0, 1e70, 0}, {0, 0, 1e70}, {-kGrain, 1e70, 0}), 1);
}

/// Closed surfaces are left as often as they are entered, with vertices of any size, and lines and points agree.
TEST(Winding, CountsEvenlyAmongNumbersOfAnySize) {
  std::mt19937_64 random(5);
  const auto any = [&] {
    constexpr double kSizes[] = {0, 1, 3, 0x1p-1074, 0x1p-300, 1e-150, 1e-16, 1e70};
    const double x = kSizes[random() % 8] * (random() % 2 ? 1 : static_cast<double>(random() % 1000) / 1000);
    return random() % 2 ? x : -x;
  };
  std::uint64_t bits[1];
  for (int i = 0; i < scaled(3000); ++i) {
    Scene scene;
    for (int v = 0; v < 8; ++v) scene.surface.vertices.push_back({any(), any(), any()});
    for (int t = 0; t < 6; ++t) {
      std::int32_t v[4];
      for (std::int32_t& x : v) x = static_cast<std::int32_t>(random() % 8);
      for (const Corners& c : {Corners{0, 1, 2}, Corners{0, 2, 3}, Corners{0, 3, 1}, Corners{1, 3, 2}})
        scene.surface.corners.push_back({v[c[0]], v[c[1]], v[c[2]]});
    }
    prepare(scene);
    const TreeView tree = scene.view();
    for (int line = 0; line < 10; ++line) {
      const Lattice lattice{{any(), any(), any()}, {std::abs(any()) + 0x1p-1074, 1, 1}, {20, 1, 1}};
      ASSERT_EQ(winding_line(tree, grid_of(lattice), 0, 0, bits), 0);
      for (int x = 0; x < 20; ++x)
        ASSERT_EQ(winding_at(tree, {lattice.at(0, x), lattice.origin[1], lattice.origin[2]}) != 0,
                  (bits[0] >> x & 1) != 0)
            << "mesh " << i;
    }
  }
}

TEST(Winding, TellsOfHoles) {
  Scene scene;
  scene.surface.vertices = {{0, 0, 0}, {1, 4, 0}, {2, 0, 4}};
  scene.surface.corners = {{0, 1, 2}};
  prepare(scene);
  std::uint64_t bits[1];
  const Lattice lattice{{0, 1, 1}, {1, 1, 1}, {4, 1, 1}};
  EXPECT_NE(winding_line(scene.view(), grid_of(lattice), 0, 0, bits), 0);
}

}  // namespace
}  // namespace fathom::test
