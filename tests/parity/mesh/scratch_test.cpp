// What sets of triangles allocate while they are built and while they answer: what they say, and never more than the limit.
#include <gtest/gtest.h>

#include "held.h"
#include "mesh/meshes.h"
#include "run.h"

namespace fathom::test {
namespace {

using mesh::Sign;
using mesh::TriangleSet;

TEST(ScratchOfMeshes, StaysWithinTheLimitOfBuilding) {
  const Mesh ball = sphere({}, 1, 6);
  const auto triangles = static_cast<std::int64_t>(ball.triangles.size());
  for (const Mesh& mesh : {ball, split(ball)})
    for (const Sign sign : {Sign::none, Sign::pseudonormal, Sign::winding, Sign::fast_winding}) {
      SCOPED_TRACE(static_cast<int>(sign));
      const MeshArrays arrays(mesh, DType::float64, DType::int64);
      mesh::TriangleSetOptions options;
      options.sign = sign;
      options.execution.threads = 2;
      TriangleSet(arrays.view(), options);  // threads come
      std::size_t limit = static_cast<std::size_t>(40 * triangles);
      options.execution.scratch_limit = limit - 1;
      EXPECT_EQ(refusal([&] { TriangleSet(arrays.view(), options); }),
                "the limit of " + std::to_string(limit - 1) + " bytes of scratch is too small; " + std::to_string(limit) + " are needed");
      options.execution.scratch_limit = limit;
      const std::int64_t before = most_held = bytes_held.load();
      const TriangleSet set(arrays.view(), options);
      const std::int64_t kept = bytes_held - before;
      EXPECT_LE(most_held - before - kept, 40 * triangles);
      const auto told = static_cast<std::int64_t>(set.bytes());
      EXPECT_NEAR(static_cast<double>(told), static_cast<double>(kept), 0.01 * static_cast<double>(kept));
      const auto known = mesh::set_bytes(triangles, static_cast<std::int64_t>(mesh.vertices.size()), sign);
      EXPECT_EQ(set.bytes(), known.kept);
      EXPECT_EQ(limit, known.build);
      EXPECT_GE(mesh::set_bytes(triangles, 1, Sign::automatic).kept, mesh::set_bytes(triangles, 1, Sign::winding).kept);
    }
}

/// Of bands beside their rows, which become the result. Threads are left out first.
TEST(ScratchOfMeshes, IsKnownOfBands) {
  Mesh open = sphere({}, 1, 4);
  open.triangles.resize(open.triangles.size() / 2);
  for (const bool is_open : {false, true}) {
    const TriangleSet set = is_open ? set_of(open, Sign::fast_winding) : set_of(sphere({}, 1, 4), Sign::winding);
    mesh::BandOptions options;
    options.cutoff = 0.05;
    options.execution.threads = 4;
    const mesh::Lattice lattice{{-1.5, -1.5, -1.5}, {0.02, 0.02, 0.02}, {150, 150, 150}};
    const mesh::Band free = set.band(lattice, options);
    EXPECT_EQ(free.threads, 4);
    options.execution.scratch_limit = free.scratch_bytes - 1;
    const mesh::Band limited = set.band(lattice, options);
    EXPECT_EQ(limited.threads, 3);
    EXPECT_LT(limited.scratch_bytes, free.scratch_bytes);
    EXPECT_TRUE(equal(free.distances, limited.distances));
    options.execution.scratch_limit = 1000;
    EXPECT_EQ(refusal([&] { set.band(lattice, options); }),
              "the limit of 1000 bytes of scratch is too small; " +
                  std::to_string(free.scratch_bytes - 3 * (free.scratch_bytes - limited.scratch_bytes)) + " are needed");
  }
}

/// Compact bands take what they are said to.
TEST(ScratchOfMeshes, IsThatOfCompactBands) {
  const TriangleSet set = set_of(sphere({}, 1, 4), Sign::winding);
  mesh::BandOptions options;
  options.cutoff = 0.03;
  options.execution.threads = 1;
  const mesh::Lattice lattice{{-1.1, -1.1, -1.1}, {0.01, 0.01, 0.01}, {221, 221, 221}};
  const std::size_t of_full = set.band(lattice, options).bytes();
  options.compact = true;
  const mesh::Band band = set.band(lattice, options);
  const auto active = static_cast<std::size_t>(band.active), tiles = static_cast<std::size_t>(band.count());
  EXPECT_EQ(band.bytes(), 4 * active + 149 * tiles + 8 + band.row_inside.bytes());
  EXPECT_LT(3 * band.bytes(), 2 * of_full);
}

TEST(ScratchOfMeshes, StaysWithinTheLimitOfPoints) {
  constexpr std::int64_t kPoints = 100000, kSmall = 1 << 17;  // what the threads have in hand
  const TriangleSet set = set_of(sphere({}, 1, 4), Sign::pseudonormal);
  Random random(1);
  std::vector<Place> places(kPoints);
  for (Place& place : places)
    for (double& x : place) x = std::uniform_real_distribution<double>(-1, 1)(random);
  const Array points = points_array(places);
  Array free(DType::float64, {kPoints}), limited(DType::float64, {kPoints});
  const auto answer = [&](Array& distance, std::optional<std::size_t> limit) {
    mesh::Outputs outputs;
    outputs.distance = distance.view();
    Execution execution;
    execution.threads = 2;
    execution.scratch_limit = limit;
    const std::int64_t before = most_held = bytes_held.load();
    const auto told = static_cast<std::int64_t>(set.nearest(points.view(), outputs, execution).scratch_bytes);
    EXPECT_LE(most_held - before, told + kSmall);
    return told;
  };
  answer(free, {});  // threads come
  EXPECT_GT(answer(free, {}), 8 * kPoints);
  EXPECT_LE(answer(limited, 1000), 1000);
  EXPECT_TRUE(equal(free, limited));
}

}  // namespace
}  // namespace fathom::test
