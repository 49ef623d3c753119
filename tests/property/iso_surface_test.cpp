// Level sets of fields: closed, manifold, turned outwards, where they should be.
#include "fathom/mesh/iso_surface.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "fathom/core/error.h"
#include "run.h"

namespace fathom::test {
namespace {

using mesh::IsoSurface;
using mesh::Lattice;
using mesh::level_set;

/// values(i, j, k) at all points of a lattice.
template <class T, class Values>
Array field_of(const Lattice& lattice, const Values& values) {
  Array field(std::is_same_v<T, float> ? DType::float32 : DType::float64, lattice.array_shape());
  T* to = field.as<T>().data();
  for (std::int64_t k = 0; k < lattice.shape[2]; ++k)
    for (std::int64_t j = 0; j < lattice.shape[1]; ++j)
      for (std::int64_t i = 0; i < lattice.shape[0]; ++i) *to++ = static_cast<T>(values(i, j, k));
  return field;
}

/// Edges that are not there twice, once in each direction.
std::int64_t loose_edges(const IsoSurface& surface) {
  std::map<std::pair<int, int>, int> uses;
  const auto* const corners = surface.triangles.as<std::int32_t>().data();
  for (std::int64_t t = 0; t < surface.triangles.shape()[0]; ++t)
    for (int k = 0; k < 3; ++k) ++uses[{corners[3 * t + k], corners[3 * t + (k + 1) % 3]}];
  std::int64_t loose = 0;
  for (const auto& [edge, count] : uses) {
    const auto back = uses.find({edge.second, edge.first});
    loose += count != 1 || back == uses.end() || back->second != 1;
  }
  return loose;
}

template <class T>
double volume(const IsoSurface& surface) {
  const auto* const corners = surface.triangles.as<std::int32_t>().data();
  const T* const vertices = surface.vertices.as<T>().data();
  double sum = 0;
  for (std::int64_t t = 0; t < surface.triangles.shape()[0]; ++t) {
    const auto at = [&](int k, int axis) { return static_cast<double>(vertices[3 * corners[3 * t + k] + axis]); };
    for (int k = 0; k < 3; ++k) {
      const int u = (k + 1) % 3, v = (k + 2) % 3;
      sum += at(0, k) * (at(1, u) * at(2, v) - at(1, v) * at(2, u)) / 6;
    }
  }
  return sum;
}

TEST(IsoSurface, ASphereHasItsVolume) {
  const Lattice lattice{{-3, -2.5, -2.25}, {0.125, 0.1, 0.15}, {49, 51, 31}};
  const auto radius = [&](auto i, auto j, auto k) { return std::hypot(lattice.at(0, i), lattice.at(1, j), lattice.at(2, k)); };
  for (const double level : {1.0, 2.0}) {
    const Array narrow_field = field_of<float>(lattice, radius);
    const IsoSurface narrow = level_set(lattice, narrow_field.view(), level);
    const Array wide_field = field_of<double>(lattice, radius);
    const IsoSurface wide = level_set(lattice, wide_field.view(), level);
    const double expected = 4.0 / 3 * 3.14159265358979 * level * level * level;
    EXPECT_NEAR(volume<float>(narrow) / expected, 1, 0.01);
    EXPECT_NEAR(volume<double>(wide) / expected, 1, 0.01);
    EXPECT_EQ(loose_edges(wide), 0);
    EXPECT_TRUE(wide.closed);
    const double* const at = wide.vertices.as<double>().data();
    for (std::int64_t v = 0; v < wide.vertices.shape()[0]; ++v)
      EXPECT_NEAR(std::hypot(at[3 * v], at[3 * v + 1], at[3 * v + 2]), level, 0.01);
  }
}

TEST(IsoSurface, NoiseIsClosedAndManifold) {
  Random random(7);
  for (int trial = 0; trial < 40; ++trial) {
    const Lattice lattice{{}, {1, 1, 1}, {below(random, 9) + 3, below(random, 9) + 3, below(random, 9) + 3}};
    std::int64_t inside = 0;
    const Array field = field_of<float>(lattice, [&](auto i, auto j, auto k) {
      const bool on_border = i == 0 || j == 0 || k == 0 || i + 1 == lattice.shape[0] || j + 1 == lattice.shape[1] || k + 1 == lattice.shape[2];
      // Small whole numbers, so that many are the level itself.
      const auto value = static_cast<double>(on_border ? 1 + below(random, 3) : below(random, 5) - 2);
      inside += value < 1;
      return value;
    });
    const IsoSurface surface = level_set(lattice, field.view(), 1);
    EXPECT_TRUE(surface.closed);
    EXPECT_EQ(loose_edges(surface), 0);
    EXPECT_EQ(surface.triangles.shape()[0] > 0, inside > 0);
    EXPECT_EQ(volume<float>(surface) > 0, inside > 0);
  }
}

TEST(IsoSurface, EndsAtTheBorder) {
  const Lattice lattice{{}, {1, 1, 1}, {4, 4, 4}};
  const Array plane = field_of<float>(lattice, [](auto, auto, auto k) { return static_cast<double>(k) - 1.5; });
  const IsoSurface surface = level_set(lattice, plane.view(), 0);
  EXPECT_FALSE(surface.closed);
  EXPECT_EQ(surface.vertices.shape()[0], 16);
  EXPECT_EQ(surface.triangles.shape()[0], 18);
  EXPECT_EQ(loose_edges(surface), 12);
}

TEST(IsoSurface, OddValues) {
  const Lattice lattice{{}, {1, 1, 1}, {3, 3, 3}};
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double outside : {infinity, std::nan(""), 1.0}) {
    const Array field = field_of<float>(lattice, [&](auto i, auto j, auto k) { return i * j * k == 1 ? -infinity : outside; });
    const IsoSurface surface = level_set(lattice, field.view(), 0);
    EXPECT_EQ(surface.triangles.shape()[0], 8);
    EXPECT_EQ(loose_edges(surface), 0);
    for (const float x : std::vector<float>(surface.vertices.as<float>().data(), surface.vertices.as<float>().data() + 18))
      EXPECT_TRUE(x >= 0 && x <= 2);
  }
  const Array field = field_of<float>(lattice, [](auto...) { return 1.0; });
  EXPECT_EQ(level_set(lattice, field.view(), 0).triangles.shape()[0], 0);
  EXPECT_THROW(level_set(lattice, field.view(), infinity), InvalidArgument);
  EXPECT_THROW(mesh::level_set({{}, {1, 1, 1}, {3, 3, 4}}, field.view(), 0), InvalidArgument);
  EXPECT_EQ(mesh::level_set({{}, {1, 1, 1}, {0, 3, 3}}, Array(DType::float32, {3, 3, 0}).view(), 0).vertices.shape()[0], 0);
}

}  // namespace
}  // namespace fathom::test
