// The oracle itself, on arrays small enough to be worked out by hand, and the separable oracle against it.
#include "oracle.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cases.h"

namespace fathom::test {
namespace {

using grid::Border;
using grid::DistanceOptions;
using grid::Metric;
using Rule = grid::Sites::Rule;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A row of int8, and what the oracle says of each element.
struct Row {
  std::vector<std::int8_t> elements;
  DistanceOptions options;

  Oracle oracle() const {
    const HostView<const std::int8_t> view(elements.data(), {static_cast<std::int64_t>(elements.size())});
    return Oracle(view, options);
  }
  std::vector<double> distances() const {
    const Oracle o = oracle();
    std::vector<double> result;
    for (std::size_t i = 0; i < elements.size(); ++i)
      result.push_back(o.distance_value<double>(o.at(static_cast<std::int64_t>(i))));
    return result;
  }
  std::vector<std::int64_t> nearest() const {
    const Oracle o = oracle();
    std::vector<std::int64_t> result;
    for (std::size_t i = 0; i < elements.size(); ++i) result.push_back(o.at(static_cast<std::int64_t>(i)).nearest);
    return result;
  }
};

using Distances = std::vector<double>;
using Sources = std::vector<std::int64_t>;

TEST(Oracle, DistanceToZeros) {
  const Row row{{0, 1, 1, 1, 0, 1}, {}};
  EXPECT_EQ(row.distances(), (Distances{0, 1, 2, 1, 0, 1}));
  EXPECT_EQ(row.nearest(), (Sources{0, 0, 0, 4, 4, 4}));
}

TEST(Oracle, Rules) {
  const auto sites = [](Rule rule, double value) { return Row{{-2, 5, 3}, {.sites = {rule, value}}}.distances(); };
  EXPECT_EQ(sites(Rule::zero, 0), (Distances{kInfinity, kInfinity, kInfinity}));
  EXPECT_EQ(sites(Rule::nonzero, 0), (Distances{0, 0, 0}));
  EXPECT_EQ(sites(Rule::greater_equal, 3), (Distances{1, 0, 0}));
  EXPECT_EQ(sites(Rule::less_equal, 3), (Distances{0, 1, 0}));
  EXPECT_EQ(sites(Rule::equal, 5), (Distances{1, 0, 1}));
  EXPECT_EQ(sites(Rule::greater, 3), (Distances{1, 0, 1}));
  EXPECT_EQ(sites(Rule::less, 3), (Distances{0, 1, 2}));
  EXPECT_EQ(sites(Rule::not_equal, 5), (Distances{0, 1, 0}));
  EXPECT_EQ(sites(Rule::equal, std::nan("")), (Distances{kInfinity, kInfinity, kInfinity}));
}

TEST(Oracle, Labels) {
  const Row row{{0, 1, 1, 1, 2, 2}, {.sites = {Rule::labels}}};
  EXPECT_EQ(row.distances(), (Distances{0, 1, 2, 1, 1, 2}));
  EXPECT_EQ(row.nearest(), (Sources{0, 0, 0, 4, 3, 3}));
}

TEST(Oracle, Borders) {
  Row row{{1, 1, 1, 1, 0}, {.border = {Border::sites}}};
  EXPECT_EQ(row.distances(), (Distances{1, 2, 2, 1, 0}));
  EXPECT_EQ(row.nearest(), (Sources{-1, -1, 4, 4, 4}));
  row.options.border = {Border::periodic};
  EXPECT_EQ(row.distances(), (Distances{1, 2, 2, 1, 0}));
  EXPECT_EQ(row.nearest(), (Sources{4, 4, 4, 4, 4}));
}

TEST(Oracle, Signs) {
  Row row{{0, 0, 7, 7, 7}, {.signed_distance = true}};
  EXPECT_EQ(row.distances(), (Distances{1.5, 0.5, -0.5, -1.5, -2.5}));
  EXPECT_EQ(row.nearest(), (Sources{2, 2, 1, 1, 1}));
  row.options.surface = grid::Surface::centers;
  EXPECT_EQ(row.distances(), (Distances{2, 1, -1, -2, -3}));
  row.options.border = {Border::sites};  // of the class of the zeros
  EXPECT_EQ(row.distances(), (Distances{2, 1, -1, -2, -1}));
  row.options.sites.rule = Rule::nonzero;  // of the class of the others
  EXPECT_EQ(row.distances(), (Distances{1, 1, -1, -2, -3}));
  row.options.sites = {Rule::less_equal, 0};  // inside are those that compare true
  EXPECT_EQ(row.distances(), (Distances{-2, -1, 1, 2, 1}));
  row.options.sites.rule = Rule::labels;
  row.elements = {0, 0, 7, 7, 5};
  EXPECT_EQ(row.distances(), (Distances{2, 1, -1, -1, -1}));
  row.elements = {7, 7, 7, 7, 7};
  row.options.border = {};
  EXPECT_EQ(row.distances(), (Distances{-kInfinity, -kInfinity, -kInfinity, -kInfinity, -kInfinity}));
}

TEST(Oracle, CutoffAndSpacing) {
  const Row row{{0, 1, 1, 1}, {.spacing = {0.5}, .max_distance = 1}};
  EXPECT_EQ(row.distances(), (Distances{0, 0.5, 1, kInfinity}));
  EXPECT_EQ(row.nearest(), (Sources{0, 0, 0, -1}));
  const Row tenths{{0, 1, 1, 1, 1}, {.spacing = {0.1}, .max_distance = 0.3}};
  EXPECT_EQ(tenths.nearest(), (Sources{0, 0, 0, 0, -1}));
}

TEST(Oracle, MetricsAndSpacingIn2D) {
  const std::vector<std::uint8_t> image = {0, 1, 1, 1, 1, 1};
  const HostView<const std::uint8_t> view(image.data(), {2, 3});
  const auto corner = [&](Metric metric, std::vector<double> spacing) {
    const Oracle oracle(view, {.metric = metric, .spacing = std::move(spacing)});
    return oracle.distance_value<double>(oracle.at(5));
  };
  EXPECT_EQ(corner(Metric::euclidean, {}), std::sqrt(5.0));
  EXPECT_EQ(corner(Metric::taxicab, {}), 3);
  EXPECT_EQ(corner(Metric::chessboard, {}), 2);
  EXPECT_EQ(corner(Metric::euclidean, {2, 1.5}), std::sqrt(13.0));
  EXPECT_EQ(corner(Metric::taxicab, {2, 1.5}), 5);
  EXPECT_EQ(corner(Metric::chessboard, {2, 1.5}), 3);
}

TEST(Oracle, Region) {
  const std::vector<std::uint8_t> image = {0, 1, 1, 1, 1, 1};
  const Oracle oracle(HostView<const std::uint8_t>(image.data(), {2, 3}), {.region = {{1, 2}, {0, 2}}});
  EXPECT_EQ(oracle.result_shape(), (Shape{1, 2}));
  EXPECT_EQ(oracle.origin()[0], 1);
}

TEST(Oracle, RootsAreRoundedOnce) {
  EXPECT_EQ(rounded_root<float>(25), 5.0f);
  EXPECT_EQ(rounded_root<double>(2), std::sqrt(2.0));
  // 94906284² + 1: the root lies just above the middle of two floats; rounded to double first, it would be the middle.
  const std::uint64_t middle = 94906284;
  EXPECT_EQ(static_cast<double>(rounded_root<float>(middle * middle)), 94906288);  // a tie: to even
  EXPECT_EQ(static_cast<double>(rounded_root<float>(middle * middle - 1)), 94906280);
  EXPECT_EQ(static_cast<double>(rounded_root<float>((middle + 8) * (middle + 8))), 94906288);  // a tie: to even
  EXPECT_EQ(static_cast<double>(rounded_root<float>((middle + 8) * (middle + 8) + 1)), 94906296);
  EXPECT_EQ(rounded_root<double>(UINT64_MAX), 0x1p32);
  EXPECT_EQ(rounded_root<double>((std::uint64_t{1} << 62) + 1), 0x1p31);
}

TEST(Oracle, SeparableAgrees) {
  Random random(5);
  const std::vector<Border> kBorders = {Border::open, Border::sites, Border::periodic};
  for (int i = 0; i < scaled(60); ++i) {
    Shape shape = random_shape(random, 300);
    const auto sites = make_sites(static_cast<Structure>(i % kStructures), shape, random);
    std::vector<Border> border;
    for (int k = 0; k < shape.rank(); ++k) border.push_back(pick(random, kBorders));
    const Array mask = mask_array(sites, shape);
    const Oracle oracle(mask.view(), {.border = border});
    const Separable fast = separable(sites, shape, border);
    for (std::int64_t e = 0; e < element_count(shape); ++e) {
      const Answer answer = oracle.at(e);
      ASSERT_EQ(fast.nearest[static_cast<std::size_t>(e)], answer.nearest) << to_string(shape) << " at " << e;
      ASSERT_EQ(fast.squared[static_cast<std::size_t>(e)], answer.found ? answer.steps : Separable::kNone);
    }
  }
}

}  // namespace
}  // namespace fathom::test
