// Thousands of random point problems, every option, on each instruction set, against brute force.
#include <gtest/gtest.h>

#include "cases.h"
#include "points/problem.h"

namespace fathom::test {
namespace {

void check_problem(PointProblem problem) {
  SCOPED_TRACE(describe(problem));
  const DType distance = problem.seed % 2 ? DType::float32 : DType::float64;
  const PointAnswers expected = brute_force(problem, distance);
  for (InstructionSet set : instruction_sets()) {
    problem.query.execution.instruction_set = set;
    PointAnswers answers;
    try {
      answers = nearest(problem, distance, static_cast<int>(problem.seed % 3));
    } catch (const std::exception& error) {
      FAIL() << name_of(set) << ": " << error.what();
    }
    ASSERT_TRUE(equal(expected, answers)) << "with " << name_of(set);
  }
}

struct Batch {
  const char* name;
  std::uint64_t first_seed;
  int count;
  std::int64_t most_sites;
};

void PrintTo(const Batch& batch, std::ostream* out) { *out << batch.name; }

class RandomPointProblems : public testing::TestWithParam<Batch> {};

TEST_P(RandomPointProblems, EqualBruteForce) {
  if (const auto seed = seed_to_replay()) return check_problem(random_point_problem(*seed, GetParam().most_sites));
  for (int i = 0; i < scaled(GetParam().count); ++i) {
    check_problem(random_point_problem(GetParam().first_seed + static_cast<std::uint64_t>(i), GetParam().most_sites));
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, RandomPointProblems,
                         testing::Values(Batch{"tiny", 1, 3000, 40}, Batch{"small", 100000, 1000, 400},
                                         Batch{"medium", 200000, 150, 3000}, Batch{"large", 300000, 8, 30000}),
                         [](const auto& batch) { return batch.param.name; });

/// Sizes at which threads share sorting and searching, and the curve divides cells again.
TEST(PointStorages, SameBytes) {
  for (int i = 0; i < scaled(9); ++i) {
    Random random(static_cast<std::uint64_t>(i) + 1);
    PointProblem problem;
    problem.seed = static_cast<std::uint64_t>(i) + 1;
    problem.spread = static_cast<Spread>(i % kSpreads);
    const DType dtype = pick<DType>(random, {DType::int32, DType::float32, DType::float64});
    problem.sites = make_points(problem.spread, dtype, 70000 + 7 * i, 3, random);
    problem.queries = make_points(problem.spread, dtype, 700, 3, random);
    problem.query.k = i % 2 ? 1 : 5;
    SCOPED_TRACE(describe(problem));
    problem.set.storage = points::Storage::plain;
    const PointAnswers plain = nearest(problem, DType::float32);
    for (points::Storage storage : {points::Storage::boxed, points::Storage::sorted})
      for (int threads : {1, 3}) {
        problem.set.storage = storage;
        problem.set.execution.threads = problem.query.execution.threads = threads;
        ASSERT_TRUE(equal(plain, nearest(problem, DType::float32))) << static_cast<int>(storage) << " " << threads;
      }
  }
}

}  // namespace
}  // namespace fathom::test
