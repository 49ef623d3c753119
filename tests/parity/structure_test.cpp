// Whole images and volumes of the sizes at which tiles, bands and threads begin to matter, each structure on each
// instruction set, against the separable oracle.
#include <gtest/gtest.h>

#include "cases.h"
#include "oracle.h"
#include "run.h"

namespace fathom::test {
namespace {

using grid::Border;

const std::vector<Shape> kShapes = {{131, 300}, {64, 700},    {700, 64},    {1, 3001},     {3001, 1},     {3, 2053},
                                    {2053, 3},  {17, 33, 65}, {64, 32, 48}, {2, 150, 100}, {100, 150, 2}, {70, 3, 131},
                                    {9, 20, 300}};

class Structures : public testing::TestWithParam<int> {};

void check(const std::vector<bool>& sites, const Shape& shape, const std::vector<Border>& border) {
  const Separable expected = separable(sites, shape, border);
  const Array mask = mask_array(sites, shape);
  grid::DistanceOptions options;
  options.border = border;
  for (InstructionSet set : instruction_sets())
    for (int threads : {1, 3}) {
      options.execution.instruction_set = set;
      options.execution.threads = threads;
      SCOPED_TRACE(to_string(shape) + ", " + describe(options));
      ASSERT_TRUE(matches(expected, run(mask.view(), options, {.distance = DType::float32})));
      ASSERT_TRUE(matches(expected, run(mask.view(), options, {.squared = DType::uint32})));
      ASSERT_TRUE(matches(expected, run(mask.view(), options, {.distance = DType::float32, .nearest = DType::int64})));
    }
}

TEST_P(Structures, OpenBorders) {
  Random random(1 + static_cast<std::uint64_t>(GetParam()));
  for (int i = 0; i < scaled(static_cast<int>(kShapes.size())); ++i) {
    const Shape& shape = kShapes[static_cast<std::size_t>(i)];
    check(make_sites(static_cast<Structure>(GetParam()), shape, random), shape, {});
    if (HasFatalFailure()) return;
  }
}

TEST_P(Structures, OtherBorders) {
  Random random(static_cast<std::uint64_t>(GetParam()) + 100);
  for (const auto& [shape, border] : std::vector<std::pair<Shape, std::vector<Border>>>{
           {{131, 200}, {Border::periodic}},
           {{200, 131}, {Border::sites}},
           {{100, 140}, {Border::sites, Border::periodic}},
           {{20, 40, 50}, {Border::periodic, Border::open, Border::sites}},
           {{9, 12, 290}, {Border::open, Border::periodic, Border::periodic}}}) {
    check(make_sites(static_cast<Structure>(GetParam()), shape, random), shape, border);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Structures, testing::Range(0, kStructures), [](const auto& structure) {
  return std::string(name_of(static_cast<Structure>(structure.param)));
});

/// The other metrics and unequal spacing where sites are farther apart than any window of neighbours.
TEST(FarSites, EqualBruteForce) {
  Random random(78);
  for (const Shape& shape : {Shape{90, 100}, Shape{200, 37}, Shape{37, 200}, Shape{20, 21, 22}})
    for (grid::DistanceOptions options :
         {grid::DistanceOptions{.metric = grid::Metric::chessboard},
          grid::DistanceOptions{.metric = grid::Metric::taxicab}, grid::DistanceOptions{.spacing = {1.25, 0.5, 2}},
          grid::DistanceOptions{.metric = grid::Metric::chessboard, .spacing = {0.5, 2, 1}}}) {
      if (options.spacing.size() > 1) options.spacing.resize(static_cast<std::size_t>(shape.rank()));
      const Array mask = mask_array(scatter(shape, pick<double>(random, {3e-4, 2e-3, 0.01}), random), shape);
      const Oracle oracle(mask.view(), options);
      std::vector<std::int64_t> some;
      for (std::int64_t e = 0; e < mask.size(); e += 1 + below(random, 9)) some.push_back(e);
      for (InstructionSet set : instruction_sets()) {
        options.execution.instruction_set = set;
        SCOPED_TRACE(to_string(shape) + ", " + describe(options));
        const Results distance = run(mask.view(), options, {.distance = DType::float64});
        const Results both = run(mask.view(), options, {.distance = DType::float64, .nearest = DType::int64});
        ASSERT_TRUE(equal(*distance.distance, *both.distance));
        ASSERT_TRUE(matches_at(oracle, both, some));
      }
    }
}

/// Densities from almost none to almost all.
TEST(Densities, EqualOracle) {
  Random random(77);
  for (double density : {1e-6, 1e-5, 1e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 0.5, 0.9, 0.99})
    for (const Shape& shape : {Shape{200, 311}, Shape{27, 38, 53}}) {
      SCOPED_TRACE(density);
      check(scatter(shape, density, random), shape, {});
      if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace fathom::test
