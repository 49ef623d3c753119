// Random point problems for the parity tests, what must come back from them by brute force over all pairs, and calls
// into poisoned memory. All from one seed, so that a failure is replayed with FATHOM_TEST_SEED=<seed>.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cases.h"
#include "fathom/core/array.h"
#include "fathom/points/site_set.h"

namespace fathom::test {

enum class Spread { uniform, clustered, lattice, collinear, duplicates, equal, far_from_origin, sphere, extremes };
inline constexpr int kSpreads = 9;
const char* name_of(Spread spread);

/// Points of one cloud, [n, d], of a type that holds them.
Array make_points(Spread spread, DType dtype, std::int64_t count, int axes, Random& random);

/// Half of them on a shell of radius 400 about the origin, the others anywhere outside of it in a cube of side 2000.
Array shell_in_cube(std::int64_t count, DType dtype, Random& random);

/// Coordinate k of point i.
double coordinate(const Array& points, std::int64_t i, int k);

struct PointProblem {
  std::uint64_t seed = 0;
  Spread spread = Spread::uniform;
  Array sites, queries;
  Array directions;   ///< of the cones; empty: no cones
  Array half_angles;  ///< [n]
  points::SiteSetOptions set;
  points::QueryOptions query;
};

PointProblem random_point_problem(std::uint64_t seed, std::int64_t most_sites);
std::string describe(const PointProblem& problem);

struct PointAnswers {
  Array distance;
  Array squared;  ///< of the Euclidean metric; else empty
  Array site;
};

/// Poisoned, [n, k].
PointAnswers make_answers(const PointProblem& problem, DType distance);
points::QueryOutputs outputs_into(PointAnswers& answers);

/// Brute force, without a line of the library's: 128-bit integers between integers, else float64.
PointAnswers brute_force(const PointProblem& problem, DType distance);

/// What nearest() returns, every byte poisoned before. @param layout  0: rows, 1: padded rows, 2: structure of arrays
PointAnswers nearest(const PointProblem& problem, DType distance, int layout = 0);

testing::AssertionResult equal(const PointAnswers& a, const PointAnswers& b);

}  // namespace fathom::test
