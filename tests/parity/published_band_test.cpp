// The published bands against the mesh room's: those that are exact byte for byte, the published octree by what it misses,
// on the CPU, on a device, and on one that is emulated.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "cases.h"
#include "fathom/core/device.h"
#include "fathom/published/band.h"
#include "mesh/meshes.h"
#include "mesh/problem.h"
#include "run.h"

namespace fathom::test {
namespace {

using published::BandAlgorithm;
using published::BandOptions;
using published::BandResult;

class PublishedBand : public testing::Test {
 protected:
  void SetUp() override {
    if (kBackend == Backend::cuda && device_count() == 0) GTEST_SKIP() << "there is no CUDA device";
  }
  static constexpr Backend kBackend = Backend::FATHOM_TEST_BACKEND;

  static BandResult find(const mesh::Triangles& mesh, const mesh::Lattice& lattice, BandOptions options) {
    options.execution.backend = options.algorithm == BandAlgorithm::octree ? kBackend : Backend::cpu;
    BandResult result = published::band(mesh, lattice, options);
    EXPECT_EQ(result.report.backend, options.execution.backend);
    return result;
  }
};

mesh::Band exact(const mesh::Triangles& mesh, const mesh::Lattice& lattice, const BandOptions& options) {
  mesh::TriangleSetOptions plain;
  plain.sign = mesh::Sign::none;
  plain.execution.backend = Backend::cpu;
  mesh::BandOptions wanted;
  wanted.cutoff = options.cutoff;
  wanted.dtype = options.dtype;
  return mesh::TriangleSet(mesh, plain).band(lattice, wanted);
}

TEST_F(PublishedBand, ExactOnesAreExact) {
  int refused = 0;
  const int problems = scaled(400);
  for (int i = 0; i < problems; ++i) {
    MeshProblem problem = random_mesh_problem(seed_to_replay().value_or(static_cast<std::uint64_t>(i) + 93000));
    auto& h = problem.lattice.spacing;
    if (*std::max_element(h.begin(), h.end()) > 4 * *std::min_element(h.begin(), h.end())) h = {h[0], h[0], h[0]};
    BandOptions options;
    options.cutoff = problem.cutoff = std::min(problem.cutoff, 8 * *std::min_element(h.begin(), h.end()));
    options.dtype = problem.real;
    options.corrected = true;
    options.execution.threads = 1 + i % 3;
    const mesh::Triangles view = problem.arrays->view();
    const mesh::Band expected = exact(view, problem.lattice, options);
    for (const BandAlgorithm algorithm : {BandAlgorithm::octree, BandAlgorithm::mauch, BandAlgorithm::naive}) {
      if (kBackend == Backend::cuda && algorithm != BandAlgorithm::octree) continue;
      options.algorithm = algorithm;
      SCOPED_TRACE(describe(problem) + ", algorithm " + std::to_string(static_cast<int>(algorithm)));
      try {
        const BandResult result = find(view, problem.lattice, options);
        EXPECT_TRUE(result.report.exact);
        ASSERT_TRUE(equal(expected, result.band));
      } catch (const InvalidArgument& error) {
        ++refused;
        ASSERT_NE(std::string(error.what()).find("too small beside the coordinates"), std::string::npos) << error.what();
      }
    }
  }
  EXPECT_LE(refused, problems / 4);
}

/// A torus in a fine lattice, whose bands are narrow.
struct Example {
  MeshArrays arrays{torus(3, 1, 24, 12), DType::float64, DType::int32};
  mesh::Lattice lattice;
  BandOptions options;

  explicit Example(std::int64_t resolution) {
    mesh::LatticeOptions around;
    around.resolution = resolution;
    options.cutoff = around.cutoff.emplace(10.0 / static_cast<double>(resolution));
    lattice = mesh::lattice_around(mesh::bounds_of(arrays.view()), around);
  }
};

TEST_F(PublishedBand, AsPublishedMissesWhatEndsOfEdgesMiss) {
  Example example(60);
  example.options.measure_error = true;
  const auto error_of = [&] { return *find(example.arrays.view(), example.lattice, example.options).report.error; };
  const auto all = error_of();
  EXPECT_LT(all.share, .002);
  example.options.points = example.options.faces = false;
  const auto of_edges = error_of();
  EXPECT_GT(of_edges.missed, all.missed);
  EXPECT_GT(all.missed + all.farther, 0);
  example.options.corrected = example.options.points = example.options.faces = true;
  EXPECT_EQ(error_of().missed, 0);
  EXPECT_EQ(error_of().farther, 0);
}

/// Edges shorter than a step have no starting point, unless they cross a plane of the lattice.
TEST_F(PublishedBand, ShortEdgesAreMissedAsPublished) {
  const Mesh small = tetrahedron({.2, .2, .2}, {.4, .2, .2}, {.2, .4, .2}, {.2, .2, .4});
  const MeshArrays arrays(small, DType::float64, DType::int64);
  const mesh::Lattice lattice{{-3, -3, -3}, {1, 1, 1}, {8, 8, 8}};
  BandOptions options;
  options.cutoff = 2;
  options.points = options.faces = false;
  EXPECT_EQ(find(arrays.view(), lattice, options).band.active, 0);
  options.corrected = true;
  EXPECT_GT(find(arrays.view(), lattice, options).band.active, 0);
}

TEST_F(PublishedBand, WhatATreeCosts) {
  Example example(40);
  const BandResult plain = find(example.arrays.view(), example.lattice, example.options);
  EXPECT_EQ(plain.report.phases.size(), 3u);
  // Every node has a child, and all but the root a parent: with eight to a node there are at least n / 7 for n points.
  EXPECT_GE(plain.report.nodes, (plain.band.active - 1) / 7);
  EXPECT_LE(plain.report.nodes, 7 * plain.band.active);
  EXPECT_GE(plain.report.scratch_bytes, static_cast<std::size_t>(32 * plain.report.nodes + 8 * plain.band.active));
  example.options.measure_tree = true;
  const BandResult again = find(example.arrays.view(), example.lattice, example.options);
  ASSERT_EQ(again.report.phases.size(), 5u);
  EXPECT_EQ(again.report.phases[3].name, "again");
  EXPECT_EQ(again.report.phases[4].name, "without tree");
  EXPECT_TRUE(equal(plain.band, again.band));
  EXPECT_EQ(plain.report.visited, again.report.visited);
}

/// What the algorithms are about: most points are looked at by few primitives.
TEST_F(PublishedBand, Work) {
  Example example(40);
  example.options.corrected = true;
  const BandResult octree = find(example.arrays.view(), example.lattice, example.options);
  example.options.algorithm = BandAlgorithm::mauch;
  const BandResult mauch = find(example.arrays.view(), example.lattice, example.options);
  example.options.algorithm = BandAlgorithm::naive;
  const BandResult naive = find(example.arrays.view(), example.lattice, example.options);
  EXPECT_EQ(naive.report.visited, element_count(example.lattice.array_shape()) * 24 * 12 * 2);
  EXPECT_LT(mauch.report.visited, octree.report.visited);
  EXPECT_LT(100 * octree.report.visited, naive.report.visited);
  EXPECT_GE(mauch.report.visited, mauch.band.active);
}

TEST_F(PublishedBand, SmallTreesGrow) {
  // A lattice of one row has a node for each point and more, which the area does not let expect.
  Mesh line;
  line.vertices = {{0, 0, 0}, {20000, 0, 0}, {0, 1e-3, 0}};
  line.triangles = {{0, 1, 2}};
  const MeshArrays arrays(line, DType::float64, DType::int32);
  const mesh::Lattice lattice{{0, 0, 0}, {1, 1, 1}, {20000, 1, 1}};
  BandOptions options;
  options.cutoff = .5;
  options.corrected = true;
  const BandResult found = find(arrays.view(), lattice, options);
  EXPECT_EQ(found.band.active, 20000);
  EXPECT_GT(found.report.scratch_bytes, 8u * 4 * 20000);
  EXPECT_TRUE(equal(exact(arrays.view(), lattice, options), found.band));
  options.execution.scratch_limit = 100000;
  EXPECT_EQ(refusal([&] { find(arrays.view(), lattice, options); }),
            "the scratch limit of 100000 bytes is too small for the octree; give more, or take a smaller cutoff or lattice");
}

TEST_F(PublishedBand, EmptyLattices) {
  Example example(20);
  example.lattice.shape = {0, 3, 4};
  example.options.measure_error = true;
  for (const BandAlgorithm algorithm : {BandAlgorithm::octree, BandAlgorithm::mauch, BandAlgorithm::naive}) {
    example.options.algorithm = algorithm;
    const BandResult found = find(example.arrays.view(), example.lattice, example.options);
    EXPECT_EQ(found.band.active, 0);
    EXPECT_EQ(found.report.error->missed, 0);
  }
}

TEST_F(PublishedBand, WhatIsRefused) {
  Example example(20);
  const auto refused = [&](const BandOptions& options, const mesh::Lattice& lattice, const std::string& says) {
    EXPECT_EQ(refusal([&] { published::band(example.arrays.view(), lattice, options); }), says);
  };
  BandOptions options = example.options;
  options.cutoff = 0;
  refused(options, example.lattice,
          "the cutoff is not finite or not above 0; give the largest distance of the band");
  options = example.options;
  options.cutoff = 64 * example.lattice.spacing[0];
  refused(options, example.lattice,
          "the cutoff and half a cell's diagonal are more than 64 of the lattice's shortest steps; the octree is for narrow "
          "bands, and for steps of about the same length along all axes");
  options = example.options;
  mesh::Lattice far = example.lattice;
  far.origin[1] = 1e15;
  refused(options, far,
          "the lattice's steps are too small beside the coordinates of the mesh and the lattice for the algorithms octree "
          "and mauch; move both to 0");
  options.algorithm = BandAlgorithm::mauch;
  options.execution.scratch_limit = 1000;
  refused(options, example.lattice,
          "an array of the whole lattice takes more than 1000 bytes; give more, or take a smaller lattice or the octree");
  options.execution.backend = Backend::cuda;
  refused(options, example.lattice,
          "the algorithms mauch and naive are of the CPU; take the backend auto or cpu, or the octree");
}

}  // namespace
}  // namespace fathom::test
