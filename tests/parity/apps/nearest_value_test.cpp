// Values, distances and directions from the site that brute force finds.
#include "fathom/apps/nearest_value.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "apps/nearest_value_cases.h"
#include "cases.h"

namespace fathom::test {
namespace {

using namespace apps;

/// One image: where its sites are, and which is the nearest.
struct Map {
  Shape shape;
  std::vector<bool> sites;
  std::vector<double> spacing;
  std::vector<bool> periodic;
  double reach = 0;

  /// The way along an axis, the shorter one across a periodic border; of equally short ones the positive.
  std::int64_t way(std::int64_t from, std::int64_t to, int axis) const {
    const std::int64_t straight = to - from, n = shape[axis];
    if (!periodic[static_cast<std::size_t>(axis)]) return straight;
    return ((straight % n + n) % n) * 2 <= n ? (straight % n + n) % n : (straight % n + n) % n - n;
  }
  std::vector<std::int64_t> ways(std::int64_t from, std::int64_t to) const {
    std::vector<std::int64_t> result(static_cast<std::size_t>(shape.rank()));
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      result[static_cast<std::size_t>(axis)] = way(from % shape[axis], to % shape[axis], axis);
      from /= shape[axis];
      to /= shape[axis];
    }
    return result;
  }
  double distance(std::int64_t from, std::int64_t to) const {
    double sum = 0;
    const auto steps = ways(from, to);
    for (std::size_t k = 0; k < steps.size(); ++k) sum += std::pow(static_cast<double>(steps[k]) * spacing[k], 2);
    return std::sqrt(sum);
  }
  /// −1: none is within reach.
  std::int64_t nearest(std::int64_t from) const {
    std::int64_t best = -1;
    double least = reach * (1 + 1e-12) + 1e-12;
    for (std::int64_t to = 0; to < element_count(shape); ++to)
      if (sites[static_cast<std::size_t>(to)] && distance(from, to) < (best < 0 ? least * (1 + 1e-12) : least)) {
        best = to;
        least = distance(from, to) * (1 - 1e-12);
      }
    return best;
  }
};

void check_one(std::uint64_t seed) {
  const NearestValueCase c = nearest_value_case(seed);
  Map map;
  for (int axis = c.options.batch_axes; axis < c.input.view.rank(); ++axis)
    map.shape.push_back(c.input.view.shape()[axis]);
  map.spacing = c.options.spacing;
  for (const grid::Border border : c.options.border) map.periodic.push_back(border == grid::Border::periodic);
  map.reach = std::isinf(c.options.max_distance) ? 1e9 : c.options.max_distance;
  const Spread &value = c.value, &distance = c.distance, &direction = c.direction;
  std::vector<double> values(static_cast<std::size_t>(element_count(c.input.view.shape())));
  c.input.each(
      [&](std::int64_t i, auto element) { values[static_cast<std::size_t>(i)] = static_cast<double>(element); });
  nearest_values(c.input.view, c.options, c.outputs());

  const std::int64_t size = element_count(map.shape);
  const auto first_of = [&](std::int64_t i) { return i / size * size; };
  const auto site_of = [&](std::int64_t i) {
    map.sites.clear();
    for (std::int64_t k = first_of(i); k < first_of(i) + size; ++k)
      map.sites.push_back(values[static_cast<std::size_t>(k)] > 3);
    return map.nearest(i - first_of(i));
  };
  value.each([&](std::int64_t i, auto& found) {
    const std::int64_t site = site_of(i), from = site < 0 ? i : first_of(i) + site;
    ASSERT_EQ(static_cast<double>(found), values[static_cast<std::size_t>(from)]) << "seed " << seed << " at " << i;
  });
  distance.each([&](std::int64_t i, auto& found) {
    const std::int64_t site = site_of(i);
    const double expected = site < 0 ? HUGE_VAL : map.distance(i - first_of(i), site);
    ASSERT_TRUE(static_cast<double>(found) == expected || std::abs(static_cast<double>(found) - expected) < 1e-12);
  });
  if (map.shape.rank() != 2) return;
  direction.each([&](std::int64_t i, auto& found) {
    const std::int64_t site = site_of(i);
    const auto degrees = static_cast<double>(found);
    if (site < 0) {
      ASSERT_TRUE(std::isnan(degrees)) << "seed " << seed << " at " << i;
      return;
    }
    const auto way = map.ways(i - first_of(i), site);
    if (way[0] == 0 && way[1] == 0) {
      ASSERT_EQ(degrees, 0);
      return;
    }
    const double length = map.distance(i - first_of(i), site), turn = degrees * std::numbers::pi / 180;
    ASSERT_TRUE(degrees > 0 && degrees <= 360);
    ASSERT_NEAR(-std::cos(turn) * length, static_cast<double>(way[0]) * map.spacing[0], 1e-5) << "seed " << seed;
    ASSERT_NEAR(std::sin(turn) * length, static_cast<double>(way[1]) * map.spacing[1], 1e-5) << "seed " << seed;
  });
}

TEST(NearestValue, comes_from_the_nearest_site) {
  if (const auto seed = seed_to_replay()) return check_one(*seed);
  for (int k = 0; k < scaled(3000) && !::testing::Test::HasFatalFailure(); ++k)
    check_one(static_cast<std::uint64_t>(k));
}

TEST(NearestValue, points_as_a_compass_does) {
  Array map(DType::uint8, {3, 3}), direction(DType::float32, {3, 3});
  std::fill_n(map.as<std::uint8_t>().data(), 9, std::uint8_t{1});
  map.as<std::uint8_t>().data()[4] = 0;
  nearest_values(std::as_const(map).view(), {}, {{}, {}, direction.view()});
  const std::vector<float> expected = {135, 180, 225, 90, 0, 270, 45, 360, 315};
  EXPECT_EQ(std::vector<float>(direction.as<float>().data(), direction.as<float>().data() + 9), expected);
}

std::string refusal(const AnyConstView& input, const grid::DistanceOptions& options,
                    const NearestValueOutputs& outputs) {
  try {
    nearest_values(input, options, outputs);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(NearestValue, of_nothing_is_nothing) {
  Array empty(DType::uint8, {0, 4}), value(DType::uint8, {0, 4}), distance(DType::float32, {0, 4}),
      direction(DType::float32, {0, 4});
  EXPECT_EQ(nearest_values(empty.view(), {}, {value.view(), distance.view(), direction.view()}).scratch_bytes, 0U);
}

TEST(NearestValue, refuses_what_has_no_answer) {
  Array volume(DType::uint8, {2, 3, 4}), values(DType::uint8, {2, 3, 4}), angles(DType::float32, {2, 3, 4});
  const AnyConstView input = std::as_const(volume).view();
  grid::DistanceOptions options;
  EXPECT_EQ(refusal(input, options, {}), "no output was given; give value, distance or direction");
  EXPECT_EQ(refusal(input, options, {{}, {}, angles.view()}), "directions are of maps, with 2 axes of space, not 3");
  EXPECT_EQ(refusal(input, options, {angles.view(), {}, {}}), "'value' is float32; it must be uint8");
  EXPECT_EQ(refusal(input, options, {volume.view(), {}, {}}),
            "'value' shares memory with the input; give an array of its own");
  options.execution.scratch_limit = nearest_value_scratch_bytes(input, options, {values.view(), {}, {}}, true) - 1;
  EXPECT_NE(refusal(input, options, {values.view(), {}, {}}).find(" bytes is too small; "), std::string::npos);
  options = {};
  options.batch_axes = 3;
  EXPECT_EQ(refusal(input, options, {values.view(), {}, {}}),
            "3 batch axes of an array with 3 axes; give 0 or more, and fewer than it has");
  options = {};
  options.signed_distance = true;
  EXPECT_EQ(refusal(input, options, {values.view(), {}, {}}),
            "values of nearest sites have no sign, and are of the whole array; leave out sign and region");
  options = {};
  options.sites.rule = grid::Sites::Rule::labels;
  EXPECT_EQ(refusal(input, options, {values.view(), {}, {}}),
            "the sites are another label's elements, whose values mean nothing; choose another rule");
}

}  // namespace
}  // namespace fathom::test
