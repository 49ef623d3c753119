// Meshes on a device against the CPU, byte for byte: random ones by all ways through the room, each sign by each rule,
// large lattices. Devices that are emulated pass these tests, too.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stop_token>
#include <string>
#include <vector>

#include "fathom/core/error.h"
#include "mesh/on_device.h"

namespace fathom::test {
namespace {

using mesh::Band;
using mesh::BandOptions;
using mesh::Sign;
using mesh::TriangleSet;
using mesh::WindingRule;

TEST_F(MeshOnDevice, RandomProblems) {
  for (int i = 0; i < scaled(600); ++i) {
    const MeshProblem problem = random_mesh_problem(seed_to_replay().value_or(700000 + static_cast<std::uint64_t>(i)));
    SCOPED_TRACE(describe(problem));
    const TriangleSet host = set_on(Backend::cpu, problem), device = set_on(Backend::cuda, problem);
    EXPECT_TRUE(device.on_device());
    EXPECT_EQ(device.sign(), host.sign());
    EXPECT_EQ(device.size(), host.size());
    Execution execution = on(Backend::cuda);
    if (i % 3 == 0) execution.scratch_limit = 100000;  // in pieces
    ASSERT_TRUE(equal(nearest(host, problem, {}), nearest(device, problem, execution)));
    ASSERT_TRUE(equal(field(host, problem, {}), field(device, problem, execution)));
    ASSERT_TRUE(
        equal(host.band(problem.lattice, band_options(problem)), device.band(problem.lattice, band_options(problem))));
  }
}

/// How sides are told.
struct Sides {
  Sign sign;
  WindingRule rule = WindingRule::nonzero;
};
constexpr Sides kSides[] = {{Sign::none},
                            {Sign::pseudonormal},
                            {Sign::fast_winding},
                            {Sign::winding},
                            {Sign::winding, WindingRule::even_odd},
                            {Sign::winding, WindingRule::positive}};

/// Fields, and bands from thinner than a step to all that there is, in lattices of about whole tiles.
void check_lattices(MeshProblem& problem, OneOf& some) {
  const TriangleSet host = set_on(Backend::cpu, problem), device = set_on(Backend::cuda, problem);
  const std::array<std::int64_t, 3> shapes[] = {{8, 9, 7}, {16, 15, 17}, {1, 24, 3}, {25, 1, 8}};
  for (const auto& shape : shapes)
    for (const double more : {0.0, 0.05}) {  // of the spacing along each axis than along the one before
      mesh::Lattice& lattice = problem.lattice;
      lattice.shape = shape;
      for (std::size_t k = 0; k < 3; ++k) {
        lattice.spacing[k] = 0.13 + more * static_cast<double>(k);
        lattice.origin[k] = -0.49 * lattice.spacing[k] * static_cast<double>(shape[k]);
      }
      ++problem.seed;
      if (!some.is_next()) continue;
      problem.real = problem.seed % 2 ? DType::float32 : DType::float64;
      problem.whole = problem.seed % 3 ? DType::int32 : DType::int64;
      SCOPED_TRACE(describe(problem));
      ASSERT_TRUE(equal(field(host, problem, {}), field(device, problem, {})));
      for (const double steps : {0.1, 1.0, 2.5, 40.0}) {
        problem.cutoff = steps * lattice.spacing[0];
        ASSERT_TRUE(equal(host.band(lattice, band_options(problem)), device.band(lattice, band_options(problem))))
            << steps << " steps";
      }
    }
}

/// The least limit that is not refused, by what the refusals say is needed.
template <class Ask>
std::size_t least_limit(const Ask& ask) {
  std::size_t limit = 1;
  for (int i = 0; i < 10; ++i) {
    const std::string words = refusal([&] { ask(limit); });
    if (words == "not refused") break;
    const std::size_t number = words.find_first_of("0123456789", words.find(';'));
    EXPECT_NE(number, std::string::npos) << words;
    const std::size_t needed = std::stoull(words.substr(number));
    EXPECT_GT(needed, limit) << words;
    limit = needed;
  }
  EXPECT_NE(refusal([&] { ask(limit - 1); }), "not refused");
  return limit;
}

std::size_t least_limit_of_band(const TriangleSet& device, const mesh::Lattice& lattice, BandOptions options) {
  return least_limit([&](std::size_t limit) {
    options.execution.scratch_limit = limit;
    device.band(lattice, options);
  });
}

/// At the least limit, tile by tile.
TEST_F(MeshOnDevice, BandsInPieces) {
  MeshProblem problem;
  problem.lattice = {{-1.05, -1.05, -1.05}, {0.07, 0.07, 0.07}, {31, 30, 29}};
  problem.cutoff = 0.1;
  for (const Sign sign : {Sign::winding, Sign::fast_winding}) {
    problem.mesh = sphere({}, 0.9, 2);
    if (sign == Sign::fast_winding) problem.mesh.triangles.resize(problem.mesh.triangles.size() / 2);
    problem.arrays.emplace(problem.mesh, DType::float64, DType::int32);
    problem.sign = sign;
    const TriangleSet host = set_on(Backend::cpu, problem), device = set_on(Backend::cuda, problem);
    BandOptions options = band_options(problem);
    const Band expected = host.band(problem.lattice, options);
    const auto at_least = [&](const auto& ask) {
      options.execution.scratch_limit = least_limit([&](std::size_t limit) {
        options.execution.scratch_limit = limit;
        ask();
      });
      return ask();
    };
    ASSERT_TRUE(equal(expected, at_least([&] { return device.device_band(problem.lattice, options).download(); })));

    std::vector<double> shares;
    options.execution.progress = [&](double share) { shares.push_back(share); };
    ASSERT_TRUE(equal(expected, device.device_band(problem.lattice, options).download()));
    EXPECT_GE(static_cast<std::int64_t>(shares.size()), expected.count());
    EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
    EXPECT_EQ(shares.back(), 1);
    std::stop_source stop;
    options.execution.stop = stop.get_token();
    options.execution.progress = [&](double) { stop.request_stop(); };
    EXPECT_THROW(device.device_band(problem.lattice, options), Cancelled);
  }
}

/// Bands that do not fit at once: from a layer of tiles on at the least limit to all of the lattice.
TEST_F(MeshOnDevice, BandsInSlabs) {
  MeshProblem problem;
  problem.lattice = {{-1.05, -1.05, -1.05}, {0.07, 0.06, 0.04}, {31, 34, 53}};
  for (const auto& [sign, cutoff] :
       {std::pair{Sign::winding, 0.1}, {Sign::fast_winding, 0.1}, {Sign::fast_winding, 0.01}, {Sign::none, 0.1}}) {
    problem.mesh = joined(sphere({0.1, 0, 0}, 0.8, 2), sphere({}, 0.3, 1));
    if (sign == Sign::fast_winding) problem.mesh.triangles.resize(problem.mesh.triangles.size() / 2);
    problem.arrays.emplace(problem.mesh, DType::float64, DType::int32);
    problem.sign = sign;
    problem.cutoff = cutoff;
    problem.real = cutoff < 0.1 ? DType::float64 : DType::float32;
    problem.seed = 1;
    const TriangleSet host = set_on(Backend::cpu, problem), device = set_on(Backend::cuda, problem);
    BandOptions options = band_options(problem);
    const Band expected = host.band(problem.lattice, options), compact = expected.compact();
    const std::size_t least = least_limit_of_band(device, problem.lattice, options);
    EXPECT_LT(least, expected.bytes());
    EXPECT_GT(8 * least, expected.bytes());
    std::vector<double> shares;
    options.execution.progress = [&](double share) { shares.push_back(share); };
    for (const std::size_t times : {1, 2, 4, 10}) {
      shares.clear();
      options.execution.scratch_limit = times * least;
      options.compact = times == 2;
      ASSERT_TRUE(equal(options.compact ? compact : expected, device.band(problem.lattice, options))) << times;
      EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
      EXPECT_EQ(shares.back(), 1);
    }
    if (describe_device(current_device()).name != "emulated device") continue;
    options.execution = {};  // and where the device has no more memory than that
    setenv("FATHOM_EMULATED_KIB", std::to_string((device.bytes() + 2 * least) / 1024).c_str(), 1);
    const bool is_same = static_cast<bool>(equal(expected, device.band(problem.lattice, options)));
    EXPECT_THROW(device.device_band(problem.lattice, options), DeviceError);
    unsetenv("FATHOM_EMULATED_KIB");
    EXPECT_TRUE(is_same);
  }
}

/// A limit of all that a set may have of the device's memory: its tree takes part of it, calls the rest.
TEST_F(MeshOnDevice, DeviceMemory) {
  MeshProblem problem;
  problem.mesh = sphere({}, 1, 2);
  problem.arrays.emplace(problem.mesh, DType::float64, DType::int32);
  problem.sign = Sign::winding;
  problem.lattice = {{-1.2, -1.2, -1.2}, {0.1, 0.1, 0.1}, {25, 26, 27}};
  problem.cutoff = 0.2;
  problem.points = points_array({{0, 0, 0}, {1, 1, 1}, {0.3, 5, 2}});
  mesh::TriangleSetOptions options = options_on(Backend::cuda, problem);
  const auto set_within = [&](std::size_t limit) {
    options.device_memory = limit;
    return TriangleSet(problem.arrays->view(), options);
  };
  const TriangleSet host = set_on(Backend::cpu, problem);
  const std::size_t of_set = least_limit([&](std::size_t limit) { set_within(limit); });
  EXPECT_EQ(of_set, set_within(of_set).bytes());
  EXPECT_THROW(nearest(set_within(of_set), problem, {}), InvalidArgument);
  const BandOptions of_band = band_options(problem);
  const std::size_t for_band =
      least_limit([&](std::size_t limit) { set_within(limit).band(problem.lattice, of_band); });
  EXPECT_GT(for_band, of_set);
  EXPECT_TRUE(equal(host.band(problem.lattice, of_band), set_within(for_band).band(problem.lattice, of_band)));
  const std::size_t for_field = least_limit([&](std::size_t limit) { field(set_within(limit), problem, {}); });
  EXPECT_TRUE(equal(field(host, problem, {}), field(set_within(for_field), problem, {})));
  EXPECT_TRUE(equal(nearest(host, problem, {}), nearest(set_within(for_field), problem, {})));
  Execution execution;
  execution.scratch_limit = 10;  // a limit of the call's own is named as such
  EXPECT_EQ(
      refusal([&] { nearest(set_within(for_field), problem, execution); }).find("the limit of 10 bytes of scratch"),
      0u);
}

/// Tubes that are open at both ends, so that outside bulges into them: its tip reaches into a tile whose corners are all
/// inside, and that this is to be looked at say only corners of the slab before.
TEST_F(MeshOnDevice, HolesBetweenSlabs) {
  struct Tube {
    double radius, length;
    Place origin;
  };
  MeshProblem problem;
  problem.sign = Sign::fast_winding;
  problem.cutoff = 0.001;
  for (const Tube& tube : {Tube{20.427, 30.985, {-31.115, -27.331, -3.988}},
                           {18.935, 27.338, {-27.374, -28.149, -11.885}},
                           {21.334, 32.258, {-25.291, -26.628, -3.699}}}) {
    constexpr int kFaces = 16;
    problem.mesh = {};
    for (int k = 0; k < kFaces; ++k) {
      const double angle = 2 * std::numbers::pi * k / kFaces;
      for (const double z : {0.0, tube.length})
        problem.mesh.vertices.push_back({tube.radius * std::cos(angle), tube.radius * std::sin(angle), z});
      const int a = 2 * k, b = 2 * ((k + 1) % kFaces);
      problem.mesh.triangles.push_back({a, b, b + 1});
      problem.mesh.triangles.push_back({a, b + 1, a + 1});
    }
    problem.arrays.emplace(problem.mesh, DType::float64, DType::int32);
    problem.lattice = {tube.origin, {1, 1, 1}, {56, 56, 48}};
    const TriangleSet host = set_on(Backend::cpu, problem), device = set_on(Backend::cuda, problem);
    BandOptions options = band_options(problem);
    const Band expected = host.band(problem.lattice, options);
    options.execution.scratch_limit = least_limit_of_band(device, problem.lattice, options);
    EXPECT_TRUE(equal(expected, device.band(problem.lattice, options))) << tube.radius;
  }
}

/// Surfaces around one another, some of them inside out; one with holes; one with more triangles than a tile lists.
TEST_F(MeshOnDevice, EachSignByEachRule) {
  Random random(1);
  const Mesh around = joined(sphere({0.1, 0, 0}, 0.9, 1),
                             joined(inside_out(sphere({}, 0.4, 0)), box({-0.9, -0.3, -0.5}, {0.6, 0.4, 0.3})));
  OneOf some(3);
  MeshProblem problem;
  for (const Mesh& mesh : {around, soup(30, random), sphere({0.2, 0.1, -0.1}, 0.3, 3)})
    for (const Sides sides : kSides) {
      problem.mesh = mesh;
      problem.sign = sides.sign;
      problem.rule = sides.rule;
      problem.arrays.emplace(mesh, chance(random, 0.5) ? DType::float32 : DType::float64,
                             chance(random, 0.5) ? DType::int32 : DType::int64);
      if (sides.sign == Sign::winding && !TriangleSet(problem.arrays->view()).topology().closed()) continue;
      check_lattices(problem, some);
      if (HasFatalFailure()) return;
    }
}

/// In a hole, tiles are stored far from the surface.
TEST_F(MeshOnDevice, BandsOfMeshesWithHoles) {
  MeshProblem problem;
  problem.mesh = sphere({0, 0, 0.1}, 1, 2);
  std::erase_if(problem.mesh.triangles, [&](const Corners& corners) {
    return problem.mesh.vertices[static_cast<std::size_t>(corners[0])][2] +
               problem.mesh.vertices[static_cast<std::size_t>(corners[1])][2] +
               problem.mesh.vertices[static_cast<std::size_t>(corners[2])][2] > 0.3;
  });
  problem.arrays.emplace(problem.mesh, DType::float64, DType::int32);
  problem.lattice = {{-1.2, -1.1, -1.3}, {0.06, 0.05, 0.06}, {42, 45, 40}};
  for (const Sign sign : {Sign::fast_winding, Sign::pseudonormal}) {
    problem.sign = sign;
    const TriangleSet host = set_on(Backend::cpu, problem), device = set_on(Backend::cuda, problem);
    for (const double cutoff : {0.03, 0.2}) {
      problem.cutoff = cutoff;
      const Band expected = host.band(problem.lattice, band_options(problem));
      const auto* const masks = expected.masks.as<std::uint64_t>().data();
      std::int64_t without_points = 0;
      for (std::int64_t t = 0; t < expected.count(); ++t)
        without_points += std::all_of(masks + 8 * t, masks + 8 * t + 8, [](std::uint64_t word) { return word == 0; });
      EXPECT_GT(without_points, 0);
      ASSERT_TRUE(equal(expected, device.band(problem.lattice, band_options(problem)))) << problem.cutoff;
    }
  }
}

/// Tiles in a row, so many that cubes of them are looked at first.
TEST_F(MeshOnDevice, LongBands) {
  MeshProblem problem;
  problem.mesh = joined(sphere({10.3, 0, 0}, 0.9, 1), box({4999.2, -1, -1}, {5003.7, 1, 1}));
  problem.arrays.emplace(problem.mesh, DType::float64, DType::int32);
  problem.lattice = {{0, 0.1, -0.05}, {0.01, 0.1, 0.1}, {530001, 3, 2}};
  for (const Sides sides : kSides) {
    problem.sign = sides.sign;
    problem.rule = sides.rule;
    problem.cutoff = 0.05 * static_cast<double>(++problem.seed);
    const TriangleSet host = set_on(Backend::cpu, problem), device = set_on(Backend::cuda, problem);
    const Band expected = host.band(problem.lattice, band_options(problem));
    EXPECT_GT(expected.count(), 10);
    ASSERT_TRUE(equal(expected, device.band(problem.lattice, band_options(problem)))) << problem.seed;
  }
}

/// Lattices of which cubes of tiles are looked at first, about closed meshes, by each sign.
TEST_F(MeshOnDevice, LargeBands) {
  const Mesh ball = sphere({0.1, 0.2, 0.3}, 1, 5);
  const Mesh both = joined(ball, inside_out(sphere({0.1, 0.2, 0.3}, 0.5, 3)));
  for (const Sign sign : {Sign::none, Sign::pseudonormal, Sign::winding, Sign::fast_winding}) {
    MeshProblem problem;
    problem.sign = sign;
    problem.mesh = both;
    problem.arrays.emplace(problem.mesh, DType::float64, DType::int32);
    const TriangleSet host = set_on(Backend::cpu, problem), device = set_on(Backend::cuda, problem);
    for (const double cutoff : {0.004, 0.05}) {
      const mesh::Lattice lattice{{-1.2, -1.1, -1}, {0.008, 0.0075, 0.007}, {341, 330, 350}};
      BandOptions options;
      options.cutoff = cutoff;
      options.triangles = options.closest = true;
      const Band expected = host.band(lattice, options);
      EXPECT_GT(expected.active, 1000);
      ASSERT_TRUE(equal(expected, device.band(lattice, options))) << static_cast<int>(sign) << ' ' << cutoff;
    }
  }
}

/// A tile with more triangles near it than shared memory holds, and lines with more crossings than are kept at a time.
TEST_F(MeshOnDevice, ManyTrianglesAtOnePlace) {
  MeshProblem problem;
  for (int i = 0; i < 70; ++i) problem.mesh = joined(problem.mesh, sphere({0, 0, 0}, 1 + 0.03 * i, 2));
  problem.sign = Sign::winding;
  problem.arrays.emplace(problem.mesh, DType::float32, DType::int64);
  const TriangleSet host = set_on(Backend::cpu, problem), device = set_on(Backend::cuda, problem);
  problem.lattice = {{-4, -4, -4}, {0.5, 0.25, 0.7}, {17, 33, 13}};
  problem.points = points_array({{0, 0, 0}, {1, 1, 1}, {0.3, 5, 2}});
  ASSERT_TRUE(equal(field(host, problem, {}), field(device, problem, {})));
  ASSERT_TRUE(equal(nearest(host, problem, {}), nearest(device, problem, {})));
  for (const double cutoff : {0.1, 2.0, 20.0}) {
    BandOptions options;
    options.cutoff = cutoff;
    options.triangles = true;
    for (const bool compact : {false, true}) {
      options.compact = compact;
      ASSERT_TRUE(equal(host.band(problem.lattice, options), device.band(problem.lattice, options)));
    }
    EXPECT_EQ(refusal([&] { device.device_band(problem.lattice, options); }),
              "a band in a device's memory is not compact; make it so by download() and Band::compact()");
  }
}

TEST_F(MeshOnDevice, ArraysOfTheDevice) {
  for (int i = 0; i < scaled(60); ++i) {
    CallsOnDevice calls(900000 + static_cast<std::uint64_t>(i));
    SCOPED_TRACE(describe(calls.problem));
    const TriangleSet device = calls.set({});
    calls.points.upload(calls.problem.points);
    calls.put(device, {});
    must(cudaDeviceSynchronize());
    ASSERT_TRUE(calls.as_from(set_on(Backend::cpu, calls.problem)));
  }
}

TEST_F(MeshOnDevice, PointsThatAreNoNumbersHaveNoTriangle) {
  MeshProblem problem;
  problem.mesh = sphere({0, 0, 0}, 1, 1);
  problem.arrays.emplace(problem.mesh, DType::float64, DType::int64);
  OnDevice there(problem, {3});
  const TriangleSet set(there.mesh(problem));
  const Array points = points_array({{0, 0, std::nan("")}, {2, 0, 0}, {0, -1e200, 0}});
  const Block block(points);
  set.nearest(AnyConstDeviceView(block.data(), DType::float64, {3, 3}), there.outputs());
  must(cudaDeviceSynchronize());
  there.download();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(there.distance.as<double>().data()[0], kInfinity);
  EXPECT_EQ(there.distance.as<double>().data()[1], 1);
  EXPECT_EQ(there.distance.as<double>().data()[2], kInfinity);
  EXPECT_EQ(there.triangle.as<std::int64_t>().data()[0], -1);
  EXPECT_GE(there.triangle.as<std::int64_t>().data()[1], 0);
  EXPECT_EQ(there.triangle.as<std::int64_t>().data()[2], -1);
}

TEST_F(MeshOnDevice, RefusesWhatIsElsewhere) {
  const MeshProblem problem = random_mesh_problem(1);
  OnDevice there(problem, {1});
  const TriangleSet host = set_on(Backend::cpu, problem), device = set_on(Backend::cuda, problem);
  const Array point = points_array({{1, 2, 3}});
  const Block block(point);
  const AnyConstDeviceView on_device(block.data(), DType::float64, {1, 3}),
      not_there(point.data(), DType::float64, {1, 3});
  EXPECT_THROW(host.nearest(on_device, there.outputs()), InvalidArgument);
  EXPECT_THROW(host.band({}, {.cutoff = 1, .execution = on(Backend::cuda)}), InvalidArgument);
  EXPECT_THROW(host.device_band({}, {.cutoff = 1}), InvalidArgument);
  EXPECT_THROW(device.nearest(not_there, there.outputs()), InvalidArgument);
  EXPECT_THROW(device.nearest(on_device, there.outputs(), on(Backend::cpu)), InvalidArgument);
  EXPECT_THROW(device.nearest(on_device, mesh::DeviceOutputs()), InvalidArgument);
  Execution small;
  small.scratch_limit = 10;
  Array distance(DType::float32, {1});
  mesh::Outputs outputs;
  outputs.distance = distance.view();
  EXPECT_THROW(device.nearest(point.view(), outputs, small), InvalidArgument);
}

}  // namespace
}  // namespace fathom::test
