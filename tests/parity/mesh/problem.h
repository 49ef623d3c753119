// Random problems of meshes, what must come back from them by brute force over all triangles, and calls into poisoned memory
// with gaps. All from one seed, so that a failure is replayed with FATHOM_TEST_SEED=<seed>.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "mesh/meshes.h"

namespace fathom::test {

struct MeshProblem {
  std::uint64_t seed = 0;
  Kind kind = Kind::soup;
  double scale = 1;
  Mesh mesh;  ///< with vertices rounded to their type
  std::optional<MeshArrays> arrays;
  mesh::Sign sign = mesh::Sign::none;
  mesh::WindingRule rule = mesh::WindingRule::nonzero;
  mesh::Lattice lattice;
  double cutoff = 1;
  Array points;                ///< [n, 3 + gap]
  std::int64_t point_gap = 0;  ///< elements behind each point
  DType real = DType::float32, whole = DType::int32;  ///< of the outputs
  std::int64_t gap = 0;                               ///< elements behind each row of an output

  AnyConstView points_view() const;
  std::vector<Place> places() const;          ///< of the points
  std::vector<Place> lattice_places() const;  ///< in the order of arrays [z, y, x]
};

MeshProblem random_mesh_problem(std::uint64_t seed);
std::string describe(const MeshProblem& problem);

/// All outputs of a call, dense.
struct MeshAnswers {
  Array distance, triangle, closest, barycentric, feature, gradient, inside;
};

/// @return what the call wrote, after it was looked at that the gaps were left alone
MeshAnswers nearest(const mesh::TriangleSet& set, const MeshProblem& problem, const Execution& execution);
MeshAnswers field(const mesh::TriangleSet& set, const MeshProblem& problem, const Execution& execution);

testing::AssertionResult equal(const MeshAnswers& a, const MeshAnswers& b);
testing::AssertionResult equal(const mesh::Band& a, const mesh::Band& b);

/// What is nearest to each point, by the formula of src/mesh/triangle.hd.h, for all triangles one after the other.
struct Truth {
  std::vector<double> distance;
  std::vector<std::int64_t> triangle;
  std::vector<mesh::Feature> feature;
};
Truth brute_force(const Mesh& mesh, const std::vector<Place>& points);

/// Distances, triangles and features are equal, and signs go together.
testing::AssertionResult matches(const MeshProblem& problem, const Truth& truth, const MeshAnswers& answers);

/// The nearest points are so far away and have those weights, and gradients lead there.
testing::AssertionResult agrees(const MeshProblem& problem, const Truth& truth, const std::vector<Place>& points,
                                const MeshAnswers& answers);

/// The band against brute force: which points it has, how far they are, what is nearest.
testing::AssertionResult matches(const MeshProblem& problem, const Truth& truth, const mesh::Band& band);

}  // namespace fathom::test
