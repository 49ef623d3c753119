// Distances of images by the fast engine where spacings have no common unit, against the definition in double: near
// sites by rank, far ones, regions; every instruction set and thread count.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cases.h"
#include "grid/cpu/plain.h"
#include "run.h"

namespace fathom::test {
namespace {

using grid::DistanceOptions;

/// Rows between elements and the nearest site in their column; a million where there is none.
std::vector<double> rows_between(const std::vector<bool>& sites, std::int64_t rows, std::int64_t columns) {
  std::vector<double> between(sites.size(), 1e6);
  const auto pass = [&](std::int64_t begin, std::int64_t end, std::int64_t step) {
    for (std::int64_t y = begin; y != end; y += step)
      for (std::int64_t x = 0; x < columns; ++x) {
        const auto here = static_cast<std::size_t>(y * columns + x);
        if (sites[here]) between[here] = 0;
        else if (y != begin)
          between[here] = std::min(between[here], between[static_cast<std::size_t>((y - step) * columns + x)] + 1);
      }
  };
  pass(0, rows, 1);
  pass(rows - 1, -1, -1);
  return between;
}

/// Sums of two squares, each rounded, of which the least counts: of the sites in a column that is the nearest one's.
std::vector<float> distances(const std::vector<bool>& sites, const Shape& shape, const std::vector<double>& spacing) {
  const std::vector<double> between = rows_between(sites, shape[0], shape[1]);
  const double slow = spacing[0] * spacing[0], fast = spacing[1] * spacing[1];
  std::vector<float> result;
  for (std::int64_t y = 0; y < shape[0]; ++y)
    for (std::int64_t x = 0; x < shape[1]; ++x) {
      double least = std::numeric_limits<double>::infinity();
      for (std::int64_t i = 0; i < shape[1]; ++i) {
        const double rows = between[static_cast<std::size_t>(y * shape[1] + i)];
        const auto columns = static_cast<double>(x - i);
        if (rows < 1e6) least = std::min(least, slow * (rows * rows) + fast * (columns * columns));
      }
      result.push_back(static_cast<float>(std::sqrt(least)));
    }
  return result;
}

void expect_everywhere(const std::vector<bool>& sites, const Shape& shape, DistanceOptions options) {
  const std::vector<float> expected = distances(sites, shape, options.spacing);
  const Array mask = mask_array(sites, shape);
  std::vector<grid::Range> region = options.region;
  if (region.empty()) region = {{0, shape[0]}, {0, shape[1]}};
  for (const InstructionSet set : instruction_sets()) {
    options.execution.instruction_set = set;
    options.execution.threads = 1 + options.execution.threads % 3;
    SCOPED_TRACE(to_string(shape) + ", " + describe(options));
    Results results = run(mask.view(), options, {.distance = DType::float32});
    ASSERT_TRUE(grid::cpu::plain_serves(grid::make_problem(mask.view(), options, results.views())));
    const auto* value = reinterpret_cast<const float*>(results.distance->data());
    for (std::int64_t y = region[0].begin; y < region[0].end; ++y)
      for (std::int64_t x = region[1].begin; x < region[1].end; ++x, ++value)
        ASSERT_EQ(*value, expected[static_cast<std::size_t>(y * shape[1] + x)]) << "at " << y << ", " << x;
  }
}

std::vector<double> any_spacing(Random& random) {
  return pick<std::vector<double>>(random, {{1, 1.3137},
                                            {1.25, 0.742188},
                                            {0.1, 7.0001},
                                            {30.001, 0.25},
                                            {1.7e-7, 1.3137e-7},
                                            {9137, 11300},
                                            {std::sqrt(2), 1},
                                            {1.13f, 0.71f},
                                            {1.9 + 1e-9, 1}});
}

TEST(PlainReals, EqualTheDefinition) {
  Random random(1);
  for (int i = 0; i < scaled(300); ++i) {
    const Shape shape{3 + below(random, i % 9 == 0 ? 400 : 120), 2 + below(random, i % 7 == 0 ? 300 : 150)};
    const std::vector<bool> sites = make_sites(static_cast<Structure>(i % kStructures), shape, random);
    expect_everywhere(sites, shape, {.spacing = any_spacing(random)});
    if (HasFatalFailure()) return;
  }
}

/// Densities at which ranks serve all of an image, parts of it, nothing.
TEST(PlainReals, EqualTheDefinitionAtAnyDensity) {
  Random random(2);
  for (int i = 0; i < scaled(60); ++i) {
    const Shape shape{60 + below(random, 60), 300 + below(random, 300)};
    const double density = std::pow(10, -0.07 * i);
    std::vector<bool> sites(static_cast<std::size_t>(shape[0] * shape[1]));
    const std::int64_t empty = i % 3 == 0 ? below(random, shape[1]) : shape[1];
    for (std::size_t e = 0; e < sites.size(); ++e)
      sites[e] = static_cast<std::int64_t>(e) % shape[1] < empty && chance(random, density);
    expect_everywhere(sites, shape, {.spacing = any_spacing(random)});
    if (HasFatalFailure()) return;
  }
}

TEST(PlainReals, OfRegionsAreThoseOfTheWholeImage) {
  Random random(3);
  for (int i = 0; i < scaled(60); ++i) {
    const Shape shape{40 + below(random, 200), 40 + below(random, 200)};
    DistanceOptions options{.spacing = any_spacing(random)};
    for (int k = 0; k < 2; ++k) {
      const std::int64_t begin = below(random, shape[k]);
      options.region.push_back({begin, begin + 1 + below(random, shape[k] - begin)});
    }
    expect_everywhere(make_sites(static_cast<Structure>(i % kStructures), shape, random), shape, options);
    if (HasFatalFailure()) return;
  }
}

/// What is not served: other outputs, limits, more axes, spacings too unlike or too large.
TEST(PlainReals, ServeDistancesOfImagesAlone) {
  const auto serves = [](const Shape& shape, const DistanceOptions& options, const Wanted& wanted) {
    const Array mask(DType::uint8, shape);
    Results results = run(mask.view(), options, wanted);
    return grid::cpu::plain_serves(grid::make_problem(mask.view(), options, results.views()));
  };
  const Wanted distance{.distance = DType::float32};
  EXPECT_TRUE(serves({9, 9}, {.spacing = {1, 1.3137}}, distance));
  EXPECT_FALSE(serves({9, 9}, {.spacing = {1, 1.3137}, .max_distance = 3}, distance));
  EXPECT_FALSE(serves({9, 9}, {.spacing = {1, 1.3137}}, {.distance = DType::float64}));
  EXPECT_FALSE(serves({9, 9}, {.spacing = {1, 1.3137}}, {.distance = DType::float32, .nearest = DType::int32}));
  EXPECT_FALSE(serves({9, 9, 9}, {.spacing = {1, 1.3137, 1}}, distance));
  EXPECT_FALSE(serves({9, 9}, {.spacing = {1, 1000.3137}}, distance));
  EXPECT_FALSE(serves({9, 9}, {.spacing = {1e8, 1.3137e8}}, distance));
}

}  // namespace
}  // namespace fathom::test
