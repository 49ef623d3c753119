// Where lattices lie about a mesh, and what bands give of theirs.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "mesh/problem.h"
#include "run.h"

namespace fathom::test {
namespace {

using mesh::Band;
using mesh::BandOptions;
using mesh::Bounds;
using mesh::Lattice;
using mesh::LatticeOptions;
using mesh::Point;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();
using Points = std::array<std::int64_t, 3>;

TEST(Lattices, ResolutionDividesTheLongestSide) {
  LatticeOptions options;
  options.resolution = 5;
  Lattice lattice = lattice_around({{1, 2, 3}, {3, 10, 4}}, options);
  EXPECT_EQ(lattice.spacing, (Point{2, 2, 2}));
  EXPECT_EQ(lattice.origin, (Point{-3, -2, -1}));
  EXPECT_EQ(lattice.shape, (Points{2 + 4, 5 + 4, 2 + 4}));
  options.margin = 0;
  lattice = lattice_around({{1, 2, 3}, {3, 10, 4}}, options);
  EXPECT_EQ(lattice.origin, (Point{1, 2, 3}));
  EXPECT_EQ(lattice.shape, (Points{2, 5, 2}));
  EXPECT_EQ(lattice.array_shape(), (Shape{2, 5, 2}));
}

/// Whatever is rounded: as many points as were asked for, the first and the last on the box.
TEST(Lattices, ResolutionIsKept) {
  Random random(1);
  for (int i = 0; i < 3000; ++i) {
    const double low = pick<double>(random, {0, 0.1, -1 / 3.0, 1e6, -1e6}), side = pick<double>(random, {1, 0.3, 1e-3, 1e-3, 1234.5}) * (1 + 1e-3 * i);
    LatticeOptions options;
    options.resolution = 2 + below(random, 2000);
    options.margin = below(random, 4);
    const Bounds bounds{{low, 0, 0}, {low + side, 0, 0}};
    const Lattice lattice = lattice_around(bounds, options);
    ASSERT_EQ(lattice.shape, (Points{*options.resolution + 2 * options.margin, 1 + 2 * options.margin, 1 + 2 * options.margin}))
        << low << " " << side;
    ASSERT_NEAR(lattice.at(0, options.margin), low, 4e-16 * (std::abs(low) + side));
    ASSERT_NEAR(lattice.at(0, lattice.shape[0] - 1 - options.margin), low + side, 4e-16 * (std::abs(low) + side));
  }
}

TEST(Lattices, SpacingsFitOneAnother) {
  LatticeOptions options;
  options.spacing = Point{0.5, 2, 1};
  options.margin = 1;
  const Lattice lattice = lattice_around({{1.25, -3, 7}, {2, 5, 7}}, options);
  EXPECT_EQ(lattice.origin, (Point{1 - 0.5, -4 - 2, 7 - 1}));
  // 1, 1.5, 2 | −4, −2, 0, 2, 4, 6 | 7, and one more on each side
  EXPECT_EQ(lattice.shape, (Points{3 + 2, 6 + 2, 1 + 2}));
  // The box lies inside of it.
  Random random(2);
  for (int i = 0; i < 2000; ++i) {
    Bounds bounds;
    for (std::size_t k = 0; k < 3; ++k) {
      bounds.low[k] = std::uniform_real_distribution<double>(-3, 3)(random);
      bounds.high[k] = bounds.low[k] + static_cast<double>(below(random, 5)) / 7;
      (*options.spacing)[k] = pick<double>(random, {0.1, 0.25, 1 / 3.0, 7});
    }
    options.margin = below(random, 3);
    const Lattice about = lattice_around(bounds, options);
    for (std::size_t k = 0; k < 3; ++k) {
      const double h = about.spacing[k];
      ASSERT_LE(about.at(k, options.margin), bounds.low[k] + 1e-12);
      ASSERT_GT(about.at(k, options.margin + 1), bounds.low[k] - 1e-12);
      ASSERT_GE(about.at(k, about.shape[k] - 1 - options.margin), bounds.high[k] - 1e-11);
      ASSERT_NEAR(about.origin[k] / h, std::round(about.origin[k] / h), 1e-12);
    }
  }
}

TEST(Lattices, OriginAndShapeAreTaken) {
  LatticeOptions options;
  options.spacing = Point{0.5, 0.5, 0.5};
  options.origin = Point{0, 1, 10};
  const Bounds bounds{{1, 1, 1}, {3, 3, 3}};
  EXPECT_EQ(refusal([&] { lattice_around(bounds, options); }),
            "the lattice's origin along z, 10, is beyond the mesh, which reaches from 1 to 3; give one before its end, or a shape");
  // From the origin to the box's far side, and the margin.
  (*options.origin)[2] = 3;
  EXPECT_EQ(lattice_around(bounds, options).origin, (Point{0, 1, 3}));
  EXPECT_EQ(lattice_around(bounds, options).shape, (Points{7 + 2, 5 + 2, 1 + 2}));
  options.origin = Point{0, 1, 10};
  options.shape = Points{4, 5, 6};
  EXPECT_EQ(lattice_around(bounds, options).shape, (Points{4, 5, 6}));
  // However small the part of the mesh: the whole would be too much to count.
  options.spacing = Point{1e-12, 1e-12, 1e-12};
  EXPECT_EQ(lattice_around(bounds, options).shape, (Points{4, 5, 6}));
}

TEST(Lattices, RefuseWhatHasNoMeaning) {
  const Bounds bounds{{0, 0, 0}, {1, 2, 3}};
  const auto refused = [&](const auto& change, const Bounds& box) {
    LatticeOptions options;
    options.resolution = 10;
    change(options);
    return refusal([&] { lattice_around(box, options); });
  };
  EXPECT_EQ(refused([](LatticeOptions&) {}, bounds), "not refused");
  EXPECT_EQ(refused([](LatticeOptions& o) { o.resolution.reset(); }, bounds), "neither resolution nor spacing was given; give one of them");
  EXPECT_EQ(refused([](LatticeOptions& o) { o.spacing = Point{1, 1, 1}; }, bounds), "resolution and spacing were given; give one of them");
  for (const std::int64_t resolution : {1, 0, -5})
    EXPECT_EQ(refused([&](LatticeOptions& o) { o.resolution = resolution; }, bounds),
              "the resolution is " + std::to_string(resolution) + "; give 2 points or more");
  EXPECT_EQ(refused([](LatticeOptions&) {}, {{1, 1, 1}, {1, 1, 1}}), "the mesh is a single point, which a resolution cannot divide; give a spacing");
  for (const double h : {0.0, -1.0, kNan, kInfinity})
    EXPECT_EQ(refused([&](LatticeOptions& o) { o.resolution.reset(), o.spacing = Point{1, h, 1}; }, bounds), "a spacing is not finite or not above 0");
  EXPECT_EQ(refused([](LatticeOptions& o) { o.margin = -1; }, bounds), "the margin is negative; give 0 points or more");
  const char* kTooMany = "the lattice would have more than 2147483647 points along z; give a larger spacing or a smaller resolution";
  EXPECT_EQ(refused([](LatticeOptions& o) { o.resolution = std::int64_t{1} << 40; }, {{0, 0, 0}, {0, 0, 3}}), kTooMany);
  EXPECT_EQ(refused([](LatticeOptions& o) { o.margin = INT64_MAX; }, bounds).substr(0, 59), "the lattice would have more than 2147483647 points along x;");
  EXPECT_EQ(refused([](LatticeOptions& o) { o.resolution.reset(), o.spacing = Point{1, 1e-300, 1}; }, {{0, 1e70, 0}, {1, 2e70, 1}}),
            "the lattice's origin along y is not finite or beyond 1e150");
  EXPECT_EQ(refused([](LatticeOptions& o) { o.resolution.reset(), o.spacing = Point{1, 1, 1e-9}; }, bounds), kTooMany);
  for (const double x : {kNan, kInfinity, 1e200})
    EXPECT_EQ(refused([&](LatticeOptions& o) { o.origin = Point{0, x, 0}; }, bounds), "the lattice's origin along y is not finite or beyond 1e150");
  for (const std::int64_t points : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 31})
    EXPECT_EQ(refused([&](LatticeOptions& o) { o.shape = Points{1, points, 1}; }, bounds),
              "the lattice's shape has " + std::to_string(points) + " points along y; give 1 to 2147483647");
}

TEST(Lattices, MarginsHoldBands) {
  LatticeOptions options;
  options.spacing = Point{1, 0.25, 3};
  const Bounds bounds{{-3, -3, -3}, {3, 3, 3}};
  options.cutoff = 1;
  EXPECT_EQ(lattice_around(bounds, options).origin, (Point{-3 - 2, -3 - 1.25, -3 - 6}));
  EXPECT_EQ(lattice_around(bounds, options).shape, (Points{7 + 4, 25 + 10, 3 + 4}));
  options.cutoff = 1.01;
  EXPECT_EQ(lattice_around(bounds, options).shape, (Points{7 + 6, 25 + 12, 3 + 4}));
  for (const double cutoff : {1e300, -1.0, kNan, kInfinity}) {
    options.cutoff = cutoff;
    EXPECT_EQ(refusal([&] { lattice_around(bounds, options); }), "the cutoff is below 0, or more than 2147483647 steps of the lattice");
  }
}

struct BandOfSphere {
  explicit BandOfSphere(DType dtype) {
    LatticeOptions around;
    around.resolution = 21;
    const mesh::TriangleSet set = set_of(sphere({}, 1, 3), mesh::Sign::pseudonormal);
    BandOptions options;
    options.cutoff = 0.25;
    options.dtype = dtype;
    band = set.band(lattice_around(set.bounds(), around), options);
  }
  Band band;
};

TEST(Bands, ListTheirPoints) {
  for (const DType dtype : {DType::float32, DType::float64}) {
    const Band band = BandOfSphere(dtype).band;
    ASSERT_GT(band.active, 1000);
    EXPECT_GT(band.bytes(), static_cast<std::size_t>(band.active) * size_of(dtype));
    // In rows with a gap, and either by itself.
    Array memory(DType::int32, {band.active, 5}), values(dtype, {band.active}), again(dtype, {band.active}), places(DType::int32, {band.active, 3});
    poison(memory);
    const AnyView rows(memory.data(), DType::int32, {band.active, 3}, {5, 1});
    band.to_list(rows, values.view());
    band.to_list({}, again.view());
    band.to_list(places.view(), {});
    EXPECT_TRUE(equal(values, again));
    Array dense(dtype, band.lattice.array_shape());
    band.to_dense(dense.view());
    std::int64_t near = 0;
    for (std::int64_t i = 0; i < dense.size(); ++i) near += std::abs(value_at(dense, i)) < 0.25;
    EXPECT_LE(near, band.active);
    std::int64_t before = -1;
    for (std::int64_t i = 0; i < band.active; ++i) {
      const auto at = [&](int k) { return integer_at(memory, 5 * i + k); };
      for (int k = 0; k < 3; ++k) ASSERT_EQ(at(k), integer_at(places, 3 * i + k));
      ASSERT_EQ(integer_at(memory, 5 * i + 3), integer_at(memory, 5 * i + 4));  // the gap is as it was
      ASSERT_EQ(value_at(dense, at(0) + band.lattice.shape[0] * (at(1) + band.lattice.shape[1] * at(2))), value_at(values, i));
      ASSERT_LE(std::abs(value_at(values, i)), 0.25);
      const auto tiles = band.tile_shape();
      const std::int64_t order = at(0) / 8 + tiles[0] * (at(1) / 8 + tiles[1] * (at(2) / 8));
      ASSERT_GE(order, before);
      before = order;
    }
  }
}

TEST(Bands, BecomeDenseInStridedOutputs) {
  const Band band = BandOfSphere(DType::float32).band;
  const Shape shape = band.lattice.array_shape();
  Array dense(DType::float32, shape), memory(DType::float32, {shape[0], shape[1], shape[2] + 2});
  band.to_dense(dense.view());
  poison(memory);
  // Planes run backwards.
  const std::int64_t row = shape[2] + 2, plane = row * shape[1];
  band.to_dense(AnyView(memory.data() + (shape[0] - 1) * plane * 4, DType::float32, shape, {-plane, row, 1}));
  for (std::int64_t z = 0; z < shape[0]; ++z)
    for (std::int64_t y = 0; y < shape[1]; ++y)
      for (std::int64_t x = 0; x < row; ++x) {
        const float got = memory.as<float>().data()[(shape[0] - 1 - z) * plane + y * row + x];
        if (x < shape[2]) ASSERT_EQ(got, dense.as<float>().data()[x + shape[2] * (y + shape[1] * z)]);
        else ASSERT_EQ(std::bit_cast<std::uint32_t>(got), std::bit_cast<std::uint32_t>(memory.as<float>().data()[row - 1]));
      }
}

TEST(Bands, RefuseOtherOutputs) {
  const Band band = BandOfSphere(DType::float32).band;
  Array doubles(DType::float64, band.lattice.array_shape()), flat(DType::float32, {7}), places(DType::int64, {band.active, 3});
  const std::string shape = to_string(band.lattice.array_shape()), active = std::to_string(band.active);
  EXPECT_EQ(refusal([&] { band.to_dense({}); }), "no output was given");
  EXPECT_EQ(refusal([&] { band.to_dense(doubles.view()); }),
            "the output 'out' is float64 of the shape " + shape + "; it must be float32 of " + shape);
  EXPECT_EQ(refusal([&] { band.to_dense(flat.view()); }), "the output 'out' is float32 of the shape 7; it must be float32 of " + shape);
  EXPECT_EQ(refusal([&] { band.to_list(places.view(), {}); }),
            "the output 'places' is int64 of the shape " + active + " × 3; it must be int32 of " + active + " × 3");
  EXPECT_EQ(refusal([&] { band.to_list({}, flat.view()); }),
            "the output 'distances' is float32 of the shape 7; it must be float32 of " + active);
}

}  // namespace
}  // namespace fathom::test
