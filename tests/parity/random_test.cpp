// Thousands of random problems, every option, on each instruction set, against the oracle and against one another.
#include <gtest/gtest.h>

#include "cases.h"
#include "oracle.h"
#include "run.h"

namespace fathom::test {
namespace {

/// One random problem: the oracle's values, and the same bytes from every instruction set.
void check_case(const Case& c) {
  SCOPED_TRACE(describe(c));
  const Oracle oracle(c.input.view(), c.options);
  std::optional<Results> first;
  for (InstructionSet set : instruction_sets()) {
    grid::DistanceOptions options = c.options;
    options.execution.instruction_set = set;
    Results results;
    try {
      results = run(c.input.view(), options, c.wanted);
    } catch (const std::exception& error) {
      FAIL() << name_of(set) << ": " << error.what();
    }
    ASSERT_EQ(results.report.instruction_set, set);
    ASSERT_TRUE(matches(oracle, results)) << "with " << name_of(set);
    if (first) {
      ASSERT_TRUE(equal(*first, results)) << name_of(set) << " differs from baseline";
    } else {
      first = std::move(results);
    }
  }
}

struct Batch {
  const char* name;
  std::uint64_t first_seed;
  int count;
  std::int64_t most_elements;
};

void PrintTo(const Batch& batch, std::ostream* out) { *out << batch.name; }

class RandomProblems : public testing::TestWithParam<Batch> {};

TEST_P(RandomProblems, EqualsOracle) {
  if (const auto seed = seed_to_replay()) return check_case(random_case(*seed, GetParam().most_elements));
  for (int i = 0; i < scaled(GetParam().count); ++i) {
    check_case(random_case(GetParam().first_seed + static_cast<std::uint64_t>(i), GetParam().most_elements));
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, RandomProblems,
                         testing::Values(Batch{"tiny", 1, 3000, 40}, Batch{"small", 100000, 2500, 300},
                                         Batch{"medium", 200000, 500, 1500}, Batch{"large", 300000, 40, 6000}),
                         [](const auto& batch) { return batch.param.name; });

TEST(TallArrays, EqualOracle) {
  for (int i = 0; i < scaled(300); ++i) {
    check_case(tall_case(350000 + static_cast<std::uint64_t>(i)));
    if (HasFatalFailure()) return;
  }
}

/// The rules and threads must not matter to the bytes, at sizes where threads share the work.
TEST(Threads, SameBytes) {
  for (int i = 0; i < scaled(150); ++i) {
    Case c = random_case(400000 + static_cast<std::uint64_t>(i), 30000);
    SCOPED_TRACE(describe(c));
    c.options.execution.threads = 1;
    const Results one = run(c.input.view(), c.options, c.wanted);
    for (int threads : {2, 3, 7}) {
      c.options.execution.threads = threads;
      const Results many = run(c.input.view(), c.options, c.wanted);
      ASSERT_TRUE(equal(one, many)) << threads << " threads";
      EXPECT_LE(many.report.threads, threads);
    }
  }
}

/// Outputs asked for together must equal those asked for one by one, whatever engine serves each.
TEST(Outputs, TogetherAsAlone) {
  for (int i = 0; i < scaled(300); ++i) {
    const auto seed = 500000 + static_cast<std::uint64_t>(i);
    Case c = i % 4 ? random_case(seed, 2000) : tall_case(seed);
    SCOPED_TRACE(describe(c));
    c.wanted.distance = i % 2 ? DType::float32 : DType::float64;
    c.wanted.nearest = DType::int64;
    c.wanted.coordinates = DType::int32;
    c.wanted.offset = i % 3 ? DType::float32 : DType::float64;
    const Results together = run(c.input.view(), c.options, c.wanted);
    for (const Wanted& alone : {Wanted{.distance = c.wanted.distance}, Wanted{.squared = c.wanted.squared},
                                Wanted{.nearest = c.wanted.nearest}, Wanted{.coordinates = c.wanted.coordinates},
                                Wanted{.offset = c.wanted.offset}}) {
      if (!alone.distance && !alone.squared && !alone.nearest && !alone.coordinates && !alone.offset) continue;
      ASSERT_TRUE(equal(together, run(c.input.view(), c.options, alone)));
    }
  }
}

}  // namespace
}  // namespace fathom::test
