// Sets of triangles: what they say of a mesh, hard inputs, and what is refused in which words.
#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <functional>
#include <limits>
#include <numbers>

#include "mesh/problem.h"
#include "run.h"

namespace fathom::test {
namespace {

using mesh::Band;
using mesh::BandOptions;
using mesh::Lattice;
using mesh::Outputs;
using mesh::Sign;
using mesh::Topology;
using mesh::TriangleSet;
using mesh::TriangleSetOptions;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();

Topology topology_of(const Mesh& mesh) { return set_of(mesh).topology(); }

TEST(Topologies, CountPartsOfSolids) {
  Random random(1);
  for (const Mesh& mesh : {box({0, 0, 0}, {1, 2, 3}), sphere({}, 1, 3), torus(1, 0.3, 9, 6), columns(4, 4, random)})
    for (const Mesh& same : {mesh, split(mesh), divided(mesh)}) {
      const Topology topology = topology_of(same);
      EXPECT_TRUE(topology.closed());
      EXPECT_EQ(2 * topology.edges, 3 * static_cast<std::int64_t>(same.triangles.size()));
      EXPECT_EQ(topology.vertices - topology.edges + static_cast<std::int64_t>(same.triangles.size()),
                topology_of(mesh).vertices - topology_of(mesh).edges + static_cast<std::int64_t>(mesh.triangles.size()));
      EXPECT_EQ(topology.flipped + topology.shared + topology.degenerate + topology.duplicate, 0);
    }
  EXPECT_EQ(topology_of(torus(1, 0.3, 9, 6)).vertices, 54);
  const Topology of_box = topology_of(box({0, 0, 0}, {1, 2, 3})), turned = topology_of(inside_out(box({0, 0, 0}, {1, 2, 3})));
  EXPECT_EQ(of_box.vertices, 8);
  EXPECT_DOUBLE_EQ(of_box.volume, 6);
  EXPECT_DOUBLE_EQ(of_box.area, 22);
  EXPECT_DOUBLE_EQ(turned.volume, -6);
  EXPECT_TRUE(turned.closed());
  EXPECT_NEAR(topology_of(sphere({1, 2, 3}, 2, 5)).volume, 32 * std::numbers::pi / 3, 0.05);
}

TEST(Topologies, CountFaults) {
  Mesh mesh = box({0, 0, 0}, {1, 1, 1});
  mesh.triangles.pop_back();
  Topology topology = topology_of(mesh);
  EXPECT_FALSE(topology.closed());
  EXPECT_EQ(topology.open, 3);
  EXPECT_EQ(topology.flipped, 0);

  mesh = box({0, 0, 0}, {1, 1, 1});
  std::swap(mesh.triangles[3][0], mesh.triangles[3][1]);
  topology = topology_of(mesh);
  EXPECT_EQ(topology.open, 3);
  EXPECT_EQ(topology.flipped, 3);

  mesh = box({0, 0, 0}, {1, 1, 1});
  mesh.triangles.push_back({mesh.triangles[5][2], mesh.triangles[5][1], mesh.triangles[5][0]});
  topology = topology_of(mesh);
  EXPECT_EQ(topology.duplicate, 1);
  EXPECT_EQ(topology.shared, 3);
  EXPECT_EQ(topology.open, 3);

  mesh = box({0, 0, 0}, {1, 1, 1});
  mesh.vertices.push_back({0, 0, 0});  // equal to vertex 0, unused ones do not count
  mesh.vertices.push_back({9, 9, 9});
  mesh.triangles.push_back({0, 8, 3});
  mesh.triangles.push_back({5, 5, 5});
  topology = topology_of(mesh);
  EXPECT_EQ(topology.vertices, 8);
  EXPECT_EQ(topology.degenerate, 2);
  EXPECT_TRUE(topology.closed());
}

/// Triangles without an area, which fold two of their corners together, are duplicates as others are, wherever they stand.
TEST(Topologies, CountDuplicatesOfAllKinds) {
  Mesh mesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {}};
  for (int i = 0; i < 10; ++i)
    for (const Corners& corners : {Corners{0, 1, 2}, Corners{1, 0, 2}, Corners{0, 2, 3}, Corners{3, 2, 0}}) mesh.triangles.push_back(corners);
  EXPECT_EQ(topology_of(mesh).duplicate, 38);
  for (const Corners& folded : {Corners{0, 0, 1}, Corners{0, 1, 1}, Corners{1, 0, 1}, Corners{3, 2, 3}, Corners{2, 3, 3}}) {
    mesh.triangles.push_back(folded);
    const std::int64_t before = topology_of(mesh).duplicate;
    mesh.triangles.push_back({folded[1], folded[2], folded[0]});
    EXPECT_EQ(topology_of(mesh).duplicate, before + 1) << folded[0] << folded[1] << folded[2];
    mesh.triangles.pop_back();
    mesh.triangles.pop_back();
  }
}

TEST(TriangleSets, JoinZerosOfBothSigns) {
  const Mesh mesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {-0.0, -0.0, 0}, {1, -0.0, -0.0}, {0, -1, 0}}, {{0, 1, 2}, {4, 3, 5}}};
  EXPECT_EQ(topology_of(mesh).vertices, 4);
  EXPECT_EQ(topology_of(mesh).edges, 5);
}

TEST(TriangleSets, AreOfThemselves) {
  TriangleSet set = set_of(box({0, 0, 0}, {1, 2, 3}), Sign::pseudonormal);
  EXPECT_EQ(set.size(), 12);
  EXPECT_EQ(set.bounds().low, (mesh::Point{0, 0, 0}));
  EXPECT_EQ(set.bounds().high, (mesh::Point{1, 2, 3}));
  EXPECT_EQ(set.sign(), Sign::pseudonormal);
  TriangleSet other = std::move(set);
  EXPECT_EQ(distances(other, {{0.5, 0.5, 0.25}}), std::vector<double>{-0.25});
  set = set_of(box({0, 0, 0}, {4, 4, 4}), Sign::pseudonormal);
  EXPECT_EQ(distances(set, {{2, 2, 1}, {2, 2, 0}, {2, 2, -3}}), (std::vector<double>{-1, 0, 3}));
}

TEST(TriangleSets, KeepWhatTheySay) {
  const Mesh mesh = sphere({}, 1, 6);
  const auto triangles = static_cast<double>(mesh.triangles.size());
  EXPECT_LE(static_cast<double>(set_of(mesh).bytes()), 145 * triangles);
  EXPECT_LE(static_cast<double>(set_of(mesh, Sign::pseudonormal).bytes()), 230 * triangles);
}

/// Each way to give no question gives an empty answer.
TEST(TriangleSets, AnswerNothing) {
  const TriangleSet set = set_of(box({0, 0, 0}, {1, 2, 3}), Sign::pseudonormal);
  Array none(DType::float32, {0}), no_points(DType::float64, {0, 3});
  Outputs outputs;
  outputs.distance = none.view();
  EXPECT_EQ(set.nearest(std::as_const(no_points).view(), outputs).threads, available_threads());
  for (std::size_t axis = 0; axis < 3; ++axis) {
    Lattice lattice{{}, {1, 1, 1}, {9, 9, 9}};
    lattice.shape[axis] = 0;
    Array nothing(DType::float32, lattice.array_shape());
    outputs.distance = nothing.view();
    set.field(lattice, outputs);
    BandOptions options;
    options.cutoff = 1;
    options.triangles = options.closest = true;
    for (const bool compact : {false, true}) {
      options.compact = compact;
      const Band band = set.band(lattice, options);
      EXPECT_EQ(band.is_compact(), compact);
      EXPECT_EQ(band.count(), 0);
      EXPECT_EQ(band.active, 0);
      band.to_dense(nothing.view());
      Array places(DType::int32, {0, 3});
      band.to_list(places.view(), none.view());
    }
  }
}

TEST(TriangleSets, RefuseBadMeshes) {
  const std::vector<float> four = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  const std::vector<std::int32_t> one = {0, 1, 2};
  const auto refused = [](AnyConstView vertices, AnyConstView triangles, TriangleSetOptions options = {}) {
    return refusal([&] { TriangleSet({vertices, triangles}, options); });
  };
  const auto view_of = [](const auto& values, Shape shape) {
    return AnyConstView(HostView<const typename std::decay_t<decltype(values)>::value_type>(values.data(), shape));
  };
  const AnyConstView good = view_of(four, {4, 3}), triangle = view_of(one, {1, 3});
  TriangleSetOptions unsigned_options;
  unsigned_options.sign = Sign::none;
  EXPECT_EQ(refused(good, triangle, unsigned_options), "not refused");
  EXPECT_EQ(refused({}, triangle), "the vertices must have the shape [n, 3], not none");
  EXPECT_EQ(refused(good, {}), "the triangles must have the shape [n, 3], not none");
  EXPECT_EQ(refused(view_of(four, {12}), triangle), "the vertices must have the shape [n, 3], not 12");
  EXPECT_EQ(refused(view_of(four, {6, 2}), triangle), "the vertices must have the shape [n, 3], not 6 × 2");
  EXPECT_EQ(refused(good, view_of(one, {1, 1, 3})), "the triangles must have the shape [n, 3], not 1 × 1 × 3");
  EXPECT_EQ(refused(triangle, triangle), "the vertices are int32; give float32 or float64");
  EXPECT_EQ(refused(good, good), "the triangles are float32; give int32 or int64");
  EXPECT_EQ(refused(good, view_of(one, {0, 3})), "the mesh has no triangle; a distance needs one or more");
  EXPECT_EQ(refused(AnyConstView(nullptr, DType::float32, {std::int64_t{1} << 31, 3}), triangle),
            "the vertices are 2147483648; at most 2147483647 are counted");
  EXPECT_EQ(refused(good, AnyConstView(nullptr, DType::int32, {std::int64_t{1} << 31, 3})),
            "the triangles are 2147483648; at most 2147483647 are counted");
  for (const auto& [index, text] : std::initializer_list<std::pair<std::int64_t, const char*>>{
           {4, "4"}, {-1, "-1"}, {std::int64_t{1} << 32, "4294967296"}, {INT64_MIN, "-9223372036854775808"}}) {
    const std::vector<std::int64_t> two = {0, 1, 2, 1, index, 3};
    EXPECT_EQ(refused(good, view_of(two, {2, 3})), std::string("triangle 1 names vertex ") + text + "; there are 4, counted from 0");
  }
  EXPECT_EQ(refused(view_of(four, {0, 3}), triangle), "triangle 0 names vertex 0; there are 0, counted from 0");
  for (const auto& [value, text] : std::initializer_list<std::pair<double, const char*>>{
           {kNan, "nan"}, {kInfinity, "inf"}, {-kInfinity, "-inf"}, {1.5e70, "1.5e+70"}, {-1e300, "-1e+300"}}) {
    std::vector<double> bad(12);
    bad[7] = value;
    const std::string expected = std::string("vertex 2 has the coordinate ") + text + "; coordinates must be finite, and at most 1e70";
    EXPECT_EQ(refused(view_of(bad, {4, 3}), triangle), expected);
  }
  TriangleSetOptions options;
  options.execution.threads = -1;
  EXPECT_EQ(refused(good, triangle, options), "the number of threads is -1; give 1 or more, or 0 for all processors");
  options = {};
  options.execution.scratch_limit = 10;
  EXPECT_EQ(refused(good, triangle, options).substr(0, 47), "the limit of 10 bytes of scratch is too small; ");
  options = {};
  options.sign = Sign::winding;
  EXPECT_EQ(refused(good, triangle, options),
            "the mesh has 3 open edges, so that nothing is certainly inside; use the sign fast-winding, or none");
  options.sign = Sign::none;
  options.execution.backend = Backend::cuda;
  EXPECT_THROW(TriangleSet({good, triangle}, options), DeviceError);
}

/// What a call with outputs refuses, and that it then wrote nothing.
template <class Call>
std::string refused_outputs(const Shape& questions, const Call& call) {
  Shape vectors = questions;
  vectors.push_back(3);
  std::vector<Array> arrays;
  for (const DType dtype : {DType::float32, DType::int32, DType::uint8}) arrays.emplace_back(dtype, questions);
  arrays.emplace_back(DType::float64, vectors);
  for (Array& array : arrays) poison(array);
  Outputs outputs;
  outputs.distance = arrays[0].view();
  outputs.triangle = arrays[1].view();
  outputs.feature = arrays[2].view();
  outputs.gradient = arrays[3].view();
  const std::string text = refusal([&] { call(outputs); });
  for (const Array& array : arrays) EXPECT_TRUE(is_poisoned(array)) << text;
  return text;
}

TEST(TriangleSets, RefuseBadOutputs) {
  const TriangleSet set = set_of(box({0, 0, 0}, {1, 2, 3}));
  const Array points = points_array({{0, 0, 0}, {1, 2, 2}, {4, 5, 6}, {7, 8, 9}});
  Array floats(DType::float64, {4}), longer(DType::float64, {5}), matrix(DType::float64, {4, 3}), integers(DType::int32, {4}),
      bytes(DType::uint8, {4}), signed_bytes(DType::int8, {4});
  const auto refused = [&](const auto& change) {
    return refused_outputs({4}, [&](Outputs& outputs) { change(outputs), set.nearest(points.view(), outputs); });
  };
  EXPECT_EQ(refused([](Outputs& o) { o = {}; }),
            "no output was given; give distance, triangle, closest, barycentric, feature, gradient or inside");
  EXPECT_EQ(refused([&](Outputs& o) { o.distance = longer.view(); }), "the output 'distance' has the shape 5; it must have 4");
  EXPECT_EQ(refused([&](Outputs& o) { o.distance = matrix.view(); }), "the output 'distance' has the shape 4 × 3; it must have 4");
  EXPECT_EQ(refused([&](Outputs& o) { o.distance = integers.view(); }), "the output 'distance' is int32; it must be float32 or float64");
  EXPECT_EQ(refused([&](Outputs& o) { o.triangle = floats.view(); }), "the output 'triangle' is float64; it must be int32 or int64");
  EXPECT_EQ(refused([&](Outputs& o) { o.closest = floats.view(); }), "the output 'closest' has the shape 4; it must have 4 × 3");
  EXPECT_EQ(refused([&](Outputs& o) { o.barycentric = floats.view(); }), "the output 'barycentric' has the shape 4; it must have 4 × 3");
  EXPECT_EQ(refused([&](Outputs& o) { o.gradient = integers.view(); }), "the output 'gradient' is int32; it must be float32 or float64");
  EXPECT_EQ(refused([&](Outputs& o) { o.feature = signed_bytes.view(); }), "the output 'feature' is int8; it must be uint8");
  EXPECT_EQ(refused([&](Outputs& o) { o.inside = integers.view(); }), "the output 'inside' is int32; it must be uint8");
}

TEST(TriangleSets, RefuseBadPoints) {
  const TriangleSet set = set_of(box({0, 0, 0}, {1, 2, 3}));
  const auto refused = [&](const AnyConstView& points, const Execution& execution = {}) {
    return refused_outputs({2}, [&](Outputs& outputs) { set.nearest(points, outputs, execution); });
  };
  std::vector<double> six = {0, 1, 2, 3, 4, 5};
  const auto view = [&](Shape shape) { return AnyConstView(HostView<const double>(six.data(), shape)); };
  EXPECT_EQ(refused(view({6})), "points must have the shape [n, 3], not 6");
  EXPECT_EQ(refused(view({3, 2})), "points must have the shape [n, 3], not 3 × 2");
  EXPECT_EQ(refused(view({1, 2, 3})), "points must have the shape [n, 3], not 1 × 2 × 3");
  EXPECT_EQ(refused(AnyConstView(reinterpret_cast<const std::byte*>(six.data()), DType::int32, {2, 3})),
            "points are int32; give float32 or float64");
  Execution execution;
  execution.threads = -7;
  EXPECT_EQ(refused(view({2, 3}), execution), "the number of threads is -7; give 1 or more, or 0 for all processors");
  execution = {};
  execution.backend = Backend::cuda;
  EXPECT_NE(refused(view({2, 3}), execution), "not refused");
  for (const auto& [value, text] : std::initializer_list<std::pair<double, const char*>>{{kNan, "nan"}, {-kInfinity, "-inf"}, {2e150, "2e+150"}}) {
    six[4] = value;
    EXPECT_EQ(refused(view({2, 3})), std::string("point 1 has the coordinate ") + text + "; coordinates must be finite, and at most 1e150");
  }
}

TEST(TriangleSets, RefuseBadLatticesAndBands) {
  const TriangleSet set = set_of(box({0, 0, 0}, {1, 2, 3}));
  const Lattice good{{0, 0, 0}, {1, 1, 1}, {4, 3, 2}};
  const auto refused = [&](const auto& change) {
    Lattice lattice = good;
    change(lattice);
    const std::string text = refused_outputs({2, 3, 4}, [&](Outputs& outputs) { set.field(lattice, outputs); });
    BandOptions options;
    options.cutoff = 1;
    EXPECT_EQ(refusal([&] { set.band(lattice, options); }), text);
    return text;
  };
  for (const double spacing : {0.0, -1.0, kNan, kInfinity})
    EXPECT_EQ(refused([&](Lattice& l) { l.spacing[1] = spacing; }), "the lattice's spacing along y is not finite or not above 0");
  EXPECT_EQ(refused([](Lattice& l) { l.shape[2] = -1; }), "the lattice has -1 points along z; 0 to 2147483647 can be counted");
  EXPECT_EQ(refused([](Lattice& l) { l.shape[0] = std::int64_t{1} << 31; }),
            "the lattice has 2147483648 points along x; 0 to 2147483647 can be counted");
  for (const double origin : {kNan, kInfinity, -2e150})
    EXPECT_EQ(refused([&](Lattice& l) { l.origin[0] = origin; }), "the lattice reaches beyond 1e150 along x");
  EXPECT_EQ(refused([](Lattice& l) { l.spacing[2] = 1e150; }), "the lattice reaches beyond 1e150 along z");
  EXPECT_EQ(refused_outputs({4, 3, 2}, [&](Outputs& outputs) { set.field(good, outputs); }),
            "the output 'distance' has the shape 4 × 3 × 2; it must have 2 × 3 × 4");

  const auto refused_band = [&](double cutoff, DType dtype = DType::float32, int threads = 1) {
    BandOptions options;
    options.cutoff = cutoff;
    options.dtype = dtype;
    options.execution.threads = threads;
    return refusal([&] { set.band(good, options); });
  };
  for (const double cutoff : {0.0, -1.0, kNan, kInfinity})
    EXPECT_EQ(refused_band(cutoff), "the cutoff is not finite or not above 0; give the largest distance of the band");
  EXPECT_EQ(refused_band(1e-50), "the cutoff 1e-50 is 0 as float32, which has no sides; ask for float64");
  EXPECT_EQ(refused_band(1, DType::int32), "a band's distances are float32 or float64, not int32");
  EXPECT_EQ(refused_band(1, DType::float32, -1), "the number of threads is -1; give 1 or more, or 0 for all processors");
}

/// Scratch is kept for the threads that get work.
TEST(TriangleSets, TakeMoreThreadsThanThereAre) {
  Execution execution;
  execution.threads = INT32_MAX;
  const MeshArrays arrays(box({0, 0, 0}, {1, 1, 1}), DType::float32, DType::int32);
  TriangleSetOptions options;
  options.execution = execution;
  const TriangleSet set(arrays.view(), options);
  const Array points = points_array(std::vector<Place>(2000, Place{0.5, 0.5, 3}));
  Array distance(DType::float32, {2000}), field(DType::float32, {9, 9, 9});
  Outputs outputs;
  outputs.distance = distance.view();
  EXPECT_EQ(set.nearest(points.view(), outputs, execution).threads, INT32_MAX);
  EXPECT_EQ(value_at(distance, 1999), 2);
  outputs.distance = field.view();
  set.field({{0.5, 0.5, -3}, {1, 1, 1}, {9, 9, 9}}, outputs, execution);
  EXPECT_EQ(value_at(field, 0), 3);
  BandOptions band;
  band.cutoff = 3;
  band.execution = execution;
  EXPECT_EQ(set.band({{0.5, 0.5, -3}, {1, 1, 1}, {1, 1, 9}}, band).active, 8);
}

/// Cutoffs from the smallest to the largest number: none or all of the points.
TEST(TriangleSets, TakeExtremeCutoffs) {
  const TriangleSet set = set_of(box({0.25, 0.25, 0.25}, {1, 2, 3}));
  const Lattice lattice{{0, 0, 0}, {1, 1, 1}, {11, 9, 8}};
  const auto active = [&](double cutoff) {
    BandOptions options;
    options.cutoff = cutoff;
    options.dtype = cutoff < 1e-45 ? DType::float64 : DType::float32;
    return set.band(lattice, options).active;
  };
  EXPECT_EQ(active(5e-324), 2 * 3);  // the points of the box's far faces x = 1, y = 2 and z = 3, but one another's
  for (const double cutoff : {1e3, 1e30, 1e150, 1e200, std::numeric_limits<double>::max()}) EXPECT_EQ(active(cutoff), 11 * 9 * 8) << cutoff;
}

/// Meshes so large or small that squares of squares leave float64.
TEST(TriangleSets, TakeExtremeSizes) {
  for (const double scale : {1e-150, 1e-100, 1e-60, 1e-20, 1e20, 1e69}) {
    const TriangleSet set = set_of(box({0, 0, 0}, {scale, scale, scale}));
    EXPECT_DOUBLE_EQ(distances(set, {{3 * scale, scale, scale}})[0], 2 * scale) << scale;
    EXPECT_DOUBLE_EQ(distances(set, {{0, 1e140, 0}})[0], 1e140) << scale;
  }
}

/// What is inside takes a way of its own where nothing else is asked for. Surfaces pass through points of the lattices.
TEST(TriangleSets, MarkInsideAloneAsBesideOthers) {
  Random random(12);
  for (const Mesh& mesh : {box({0, 0, 0}, {4, 5, 6}), joined(sphere({3, 3, 3}, 2, 2), box({1, 1, 1}, {3, 3, 3})), columns(4, 5, random)})
    for (const Lattice& lattice : {Lattice{{-1, -1, -1}, {1, 1, 1}, {11, 9, 17}}, Lattice{{-0.25, 0.5, 0}, {0.5, 0.25, 0.75}, {20, 13, 7}}}) {
      const TriangleSet set = set_of(mesh, Sign::winding);
      Array distance(DType::float32, lattice.array_shape()), beside(DType::uint8, lattice.array_shape()),
          alone(DType::uint8, lattice.array_shape());
      Outputs outputs;
      outputs.inside = alone.view();
      set.field(lattice, outputs);
      outputs.inside = beside.view();
      outputs.distance = distance.view();
      set.field(lattice, outputs);
      std::int64_t on_surface = 0;
      for (std::int64_t i = 0; i < alone.size(); ++i) {
        ASSERT_EQ(integer_at(alone, i), integer_at(beside, i)) << i;
        on_surface += value_at(distance, i) == 0;
      }
      EXPECT_GT(on_surface, 0);
    }
}

TEST(TriangleSets, CanBeCancelledAndReport) {
  const Mesh mesh = sphere({}, 1, 5);
  const TriangleSet set = set_of(mesh, Sign::pseudonormal);
  const Lattice lattice{{-1.2, -1.2, -1.2}, {0.03, 0.03, 0.03}, {80, 80, 80}};
  Array field(DType::float32, lattice.array_shape()), distance(DType::float32, {50000});
  std::vector<Place> places(50000);
  Random random(2);
  for (Place& place : places)
    for (double& x : place) x = std::uniform_real_distribution<double>(-1, 1)(random);
  const Array points = points_array(places);
  const std::vector<std::pair<const char*, std::function<void(const Execution&)>>> calls = {
      {"construction", [&](const Execution& execution) {
         const MeshArrays arrays(mesh, DType::float32, DType::int32);
         TriangleSetOptions options;
         options.sign = Sign::none;
         options.execution = execution;
         TriangleSet(arrays.view(), options);
       }},
      {"nearest", [&](const Execution& execution) {
         Outputs outputs;
         outputs.distance = distance.view();
         set.nearest(points.view(), outputs, execution);
       }},
      {"field", [&](const Execution& execution) {
         Outputs outputs;
         outputs.distance = field.view();
         set.field(lattice, outputs, execution);
       }},
      {"band", [&](const Execution& execution) {
         BandOptions options;
         options.cutoff = 0.2;
         options.execution = execution;
         set.band(lattice, options);
       }}};
  for (const auto& [name, call] : calls) {
    SCOPED_TRACE(name);
    Execution execution;
    double reported = 0;
    execution.progress = [&](double share) {
      EXPECT_GE(share, reported);
      EXPECT_LE(share, 1);
      reported = share;
    };
    call(execution);
    EXPECT_EQ(reported, 1);
    std::stop_source stop;
    execution.stop = stop.get_token();
    execution.progress = {};
    stop.request_stop();
    EXPECT_THROW(call(execution), Cancelled);
  }
}

/// Work goes on for 0.1 s of processor time at most after it was stopped, also where each point asks for much: amid a fine
/// surface.
TEST(TriangleSets, StopSoon) {
  const TriangleSet set = set_of(sphere({}, 1, 8));
  Array distance(DType::float64, {20000});
  const Array points = points_array(std::vector<Place>(20000, Place{1e-4, 2e-4, 3e-4}));
  Outputs outputs;
  outputs.distance = distance.view();
  std::stop_source stop;
  Execution execution;
  execution.threads = 1;
  execution.stop = stop.get_token();
  std::clock_t stopped = 0;
  execution.progress = [&](double) {
    if (!stop.stop_requested()) stopped = std::clock();
    stop.request_stop();
  };
  EXPECT_THROW(set.nearest(points.view(), outputs, execution), Cancelled);
  EXPECT_LT(std::clock() - stopped, CLOCKS_PER_SEC / (scaled(10) == 10 ? 10 : 1));  // slower under sanitizers
}

}  // namespace
}  // namespace fathom::test
