// Nearest sites by the fast engine, in every layout of its keys: near and far sites, spacings in a unit, limits,
// regions, outputs at any address; every instruction set and thread count.
#include <gtest/gtest.h>

#include <array>

#include "cases.h"
#include "grid/cpu/plain.h"
#include "oracle.h"
#include "run.h"

namespace fathom::test {
namespace {

using grid::DistanceOptions;

const Wanted kAll = {.squared = DType::float64, .nearest = DType::int32, .coordinates = DType::int64};

/// Where the lowest of the nearest sites is, by the definition; -1 beyond the squared limit.
std::vector<std::int64_t> nearest_sites(const std::vector<bool>& sites, const Shape& shape,
                                        const std::vector<std::int64_t>& multiples, std::int64_t limit) {
  const auto count = static_cast<std::int64_t>(sites.size());
  const auto place_of = [&](std::int64_t e) {
    std::array<std::int64_t, 3> place{};
    for (int k = shape.rank() - 1; k >= 0; e /= shape[k--]) place[static_cast<std::size_t>(k)] = e % shape[k];
    return place;
  };
  std::vector<std::int64_t> nearest(sites.size(), -1), where;
  for (std::int64_t e = 0; e < count; ++e)
    if (sites[static_cast<std::size_t>(e)]) where.push_back(e);
  for (std::int64_t e = 0; e < count; ++e) {
    const auto here = place_of(e);
    std::int64_t best = limit + 1;
    for (const std::int64_t site : where) {
      const auto there = place_of(site);
      std::int64_t squared = 0;
      for (std::size_t k = 0; k < multiples.size(); ++k) {
        const std::int64_t units = (here[k] - there[k]) * multiples[k];
        squared += units * units;
      }
      if (squared >= best) continue;
      best = squared;
      nearest[static_cast<std::size_t>(e)] = site;
    }
  }
  return nearest;
}

/// Indices, and the same as coordinates.
void expect_sites(const std::vector<std::int64_t>& expected, const Shape& shape, const Results& results) {
  const auto count = static_cast<std::int64_t>(expected.size());
  for (std::int64_t e = 0; e < count; ++e) {
    const std::int64_t site = expected[static_cast<std::size_t>(e)];
    ASSERT_EQ(integer_at(*results.nearest, e), site) << "at " << e;
    std::int64_t rest = site;
    for (int k = shape.rank() - 1; k >= 0; --k) {
      ASSERT_EQ(integer_at(*results.coordinates, k * count + e), site < 0 ? -1 : rest % shape[k]) << "at " << e;
      rest /= shape[k];
    }
  }
}

bool is_served(const Array& mask, const DistanceOptions& options, Results& results) {
  return grid::cpu::plain_serves(grid::make_problem(mask.view(), options, results.views()));
}

/// Rows and planes of which some are beside the sites, some farther than 16 bits say, some farther than 32 do.
TEST(PlainSites, EqualSeparableOracleAtAnyDistance) {
  Random random(1);
  const Shape shapes[] = {{600, 700}, {61, 1500}, {1500, 61}, {90, 100, 110}, {40, 20, 300}, {9, 1200, 5}};
  for (const Shape& shape : shapes)
    for (const std::int64_t kind : some_of(kStructures, 3)) {
      const std::vector<bool> sites = make_sites(static_cast<Structure>(kind), shape, random);
      const Separable expected = separable(sites, shape, {});
      const Array mask = mask_array(sites, shape);
      for (const InstructionSet set : instruction_sets()) {
        DistanceOptions options;
        options.execution.instruction_set = set;
        options.execution.threads = 1 + static_cast<int>(kind % 3);
        SCOPED_TRACE(to_string(shape) + ", " + name_of(static_cast<Structure>(kind)) + ", " + describe(options));
        Results results = run(mask.view(), options, {.squared = DType::uint32, .nearest = DType::int32});
        ASSERT_TRUE(is_served(mask, options, results));
        ASSERT_TRUE(matches(expected, results));
      }
    }
}

TEST(PlainSites, EqualBruteForceWithSpacingsInAUnit) {
  Random random(2);
  const std::vector<std::vector<std::int64_t>> spacings = {{1, 2, 3},  {3, 2, 1}, {6, 4, 3}, {1, 1, 4},
                                                           {20, 1, 7}, {2, 3, 2}, {1, 9, 1}};
  for (int i = 0; i < scaled(220); ++i) {
    const bool volume = i % 2 == 1;
    const auto extent = [&](std::int64_t most) { return 3 + below(random, most - 2); };
    const Shape shape = volume ? Shape{extent(26), extent(26), extent(40)} : Shape{extent(60), extent(140)};
    const std::vector<std::int64_t>& all = pick(random, spacings);
    const std::vector<std::int64_t> multiples(all.begin(), all.begin() + shape.rank());
    const std::vector<bool> sites = make_sites(static_cast<Structure>(i % kStructures), shape, random);
    DistanceOptions options;
    for (const std::int64_t multiple : multiples) options.spacing.push_back(0.25 * static_cast<double>(multiple));
    if (i % 5 == 0) options.max_distance = 0.25 * static_cast<double>(1 + below(random, 60));
    const auto units = static_cast<std::int64_t>(std::min(4 * options.max_distance, 1e6));
    const auto expected = nearest_sites(sites, shape, multiples, units * units);
    const Array mask = mask_array(sites, shape);
    for (const InstructionSet set : instruction_sets()) {
      options.execution.instruction_set = set;
      options.execution.threads = 1 + i % 3;
      SCOPED_TRACE(to_string(shape) + ", " + describe(options));
      Results results = run(mask.view(), options, kAll);
      ASSERT_TRUE(is_served(mask, options, results));
      expect_sites(expected, shape, results);
      if (HasFatalFailure()) return;
    }
  }
}

/// The part of the whole array's results.
TEST(PlainSites, OfRegionsAreThoseOfTheWholeArray) {
  Random random(3);
  for (int i = 0; i < scaled(60); ++i) {
    const Shape shape = i % 2 == 1 ? Shape{30, 40, 70} : Shape{200, 330};
    const Array mask = mask_array(make_sites(static_cast<Structure>(i % kStructures), shape, random), shape);
    DistanceOptions options;
    if (i % 3 == 0) options.spacing = {1, 3, 2}, options.spacing.resize(static_cast<std::size_t>(shape.rank()));
    const Results whole = run(mask.view(), options, kAll);
    for (int k = 0; k < shape.rank(); ++k) {
      const std::int64_t begin = below(random, shape[k]);
      options.region.push_back({begin, begin + 1 + below(random, shape[k] - begin)});
    }
    const Results part = run(mask.view(), options, kAll);
    const Shape region = result_shape(shape, options);
    for (std::int64_t e = 0; e < element_count(region); ++e) {
      std::int64_t rest = e, index = 0, step = 1;
      for (int k = shape.rank() - 1; k >= 0; --k) {
        index += (options.region[static_cast<std::size_t>(k)].begin + rest % region[k]) * step;
        rest /= region[k];
        step *= shape[k];
      }
      ASSERT_EQ(integer_at(*part.nearest, e), integer_at(*whole.nearest, index));
      ASSERT_EQ(value_at(*part.squared, e), value_at(*whole.squared, index));
    }
  }
}

/// Outputs too large for the caches, wherever in a line of these they begin.
TEST(PlainSites, AreWrittenToAnyAddress) {
  Random random(4);
  for (const Shape& shape : {Shape{1100, 1999}, Shape{1040, 2048}, Shape{61, 200, 192}}) {
    const Array mask = mask_array(scatter(shape, 0.01, random), shape);
    const std::int64_t count = element_count(shape);
    for (const InstructionSet set : instruction_sets()) {
      DistanceOptions options;
      options.execution.instruction_set = set;
      const Results aligned = run(mask.view(), options, {.nearest = DType::int64});
      for (const std::int64_t first : {1, 7}) {
        std::vector<std::int32_t> memory(static_cast<std::size_t>(count + 16), -2);
        grid::DistanceOutputs outputs;
        outputs.nearest = AnyView(reinterpret_cast<std::byte*>(memory.data() + first), DType::int32, shape);
        distance_transform(mask.view(), options, outputs);
        for (std::int64_t i = -first; i < 16 + count - first; ++i) {
          const std::int64_t wanted = i < 0 || i >= count ? -2 : integer_at(*aligned.nearest, i);
          // Of so many, asked before: the assertion takes long.
          if (memory[static_cast<std::size_t>(i + first)] != wanted)
            ASSERT_EQ(memory[static_cast<std::size_t>(i + first)], wanted) << to_string(shape) << " at " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace fathom::test
