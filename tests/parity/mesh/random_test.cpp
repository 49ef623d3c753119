// Thousands of random meshes, by every way through the room, on each instruction set and on one and more threads, against
// brute force.
#include <gtest/gtest.h>

#include <cmath>

#include "mesh/problem.h"
#include "run.h"

namespace fathom::test {
namespace {

using mesh::Band;
using mesh::BandOptions;
using mesh::TriangleSet;

TriangleSet set_of(const MeshProblem& problem, const Execution& execution = {}) {
  mesh::TriangleSetOptions options;
  options.sign = problem.sign;
  options.execution = execution;
  return TriangleSet(problem.arrays->view(), options);
}

/// Every instruction set, and for the last more threads.
std::vector<Execution> executions() {
  std::vector<Execution> all;
  for (InstructionSet set : instruction_sets()) {
    all.emplace_back();
    all.back().instruction_set = set;
    all.back().threads = 1;
  }
  all.push_back(all.back());
  all.back().threads = 3;
  return all;
}

std::string describe(const Execution& execution) {
  return std::string(name_of(execution.instruction_set)) + ", " + std::to_string(execution.threads) + " threads";
}

BandOptions band_options(const MeshProblem& problem, const Execution& execution) {
  BandOptions options;
  options.cutoff = problem.cutoff;
  options.dtype = problem.real;
  options.triangles = options.closest = problem.seed % 4 != 0;
  options.execution = execution;
  return options;
}

/// The band's nearest points are those of the field, as float32.
testing::AssertionResult same_closest(const MeshProblem& problem, const Band& band, const MeshAnswers& field) {
  for (std::int64_t i = 0; i < (band.closest.size() > 0 ? band.count() * mesh::kTilePoints : 0); ++i) {
    if (integer_at(band.triangles, i) < 0) continue;
    const std::int64_t t = i / mesh::kTilePoints, e = i % mesh::kTilePoints;
    const auto tile = [&](int k) { return 8 * integer_at(band.tiles, 3 * t + k); };
    const std::int64_t at = tile(0) + e % 8 + problem.lattice.shape[0] * (tile(1) + e / 8 % 8 + problem.lattice.shape[1] * (tile(2) + e / 64));
    for (std::int64_t k = 0; k < 3; ++k)
      if (value_at(band.closest, 3 * i + k) != static_cast<float>(value_at(field.closest, 3 * at + k)))
        return testing::AssertionFailure() << "another nearest point at " << at;
  }
  return testing::AssertionSuccess();
}

Array dense(const Band& band) {
  Array all(band.distances.dtype(), band.lattice.array_shape());
  band.to_dense(all.view());
  return all;
}

/// The compact form is what a band is made to and back from, and holds the points that it lists.
void check_compact(const MeshProblem& problem, const TriangleSet& set, const Execution& execution, const Band& band) {
  BandOptions options = band_options(problem, execution);
  options.compact = true;
  const Band compact = set.band(problem.lattice, options);
  ASSERT_TRUE(compact.is_compact() && !band.is_compact());
  ASSERT_TRUE(equal(compact, band.compact()));
  ASSERT_TRUE(equal(compact, compact.compact()));
  ASSERT_TRUE(equal(band, compact.full()));
  ASSERT_TRUE(equal(dense(band), dense(compact)));
  Array places(DType::int32, {band.active, 3}), others(DType::int32, {band.active, 3});
  Array values(problem.real, {band.active}), other_values(problem.real, {band.active});
  band.to_list(places.view(), values.view());
  compact.to_list(others.view(), other_values.view());
  ASSERT_TRUE(equal(places, others));
  ASSERT_TRUE(equal(values, other_values));
  ASSERT_TRUE(equal(values, compact.distances));
}

void check_problem(const MeshProblem& problem) {
  SCOPED_TRACE(fathom::test::describe(problem));
  const std::vector<Place> points = problem.places(), lattice = problem.lattice_places();
  const Truth of_points = brute_force(problem.mesh, points), of_lattice = brute_force(problem.mesh, lattice);
  std::optional<MeshAnswers> first, first_field;
  std::optional<Band> first_band;
  for (const Execution& execution : executions()) {
    SCOPED_TRACE(describe(execution));
    const TriangleSet set = set_of(problem, execution);
    MeshAnswers answers = nearest(set, problem, execution), of_field = field(set, problem, execution);
    Band band = set.band(problem.lattice, band_options(problem, execution));
    EXPECT_EQ(band.threads, execution.threads);
    EXPECT_EQ(band.instruction_set, execution.instruction_set);
    if (first) {
      ASSERT_TRUE(equal(*first, answers));
      ASSERT_TRUE(equal(*first_field, of_field));
      ASSERT_TRUE(equal(*first_band, band));
      continue;
    }
    ASSERT_TRUE(matches(problem, of_points, answers));
    ASSERT_TRUE(agrees(problem, of_points, points, answers));
    ASSERT_TRUE(matches(problem, of_lattice, of_field));
    ASSERT_TRUE(agrees(problem, of_lattice, lattice, of_field));
    ASSERT_TRUE(matches(problem, of_lattice, band));
    ASSERT_TRUE(same_closest(problem, band, of_field));
    check_compact(problem, set, execution, band);
    if (testing::Test::HasFatalFailure()) return;
    first = std::move(answers);
    first_field = std::move(of_field);
    first_band = std::move(band);
  }
}

TEST(RandomMeshes, EqualBruteForce) {
  if (const auto seed = seed_to_replay()) return check_problem(random_mesh_problem(*seed));
  for (int i = 0; i < scaled(1500); ++i) {
    check_problem(random_mesh_problem(static_cast<std::uint64_t>(i) + 1));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace fathom::test
