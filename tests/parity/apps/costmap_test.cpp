// Costmaps against the formula at each cell, with the nearest occupied cell by brute force.
#include "fathom/apps/costmap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "cases.h"
#include "fathom/core/error.h"
#include "oracle.h"

namespace fathom::test {
namespace {

/// One map of a batch by the definition.
void expect_cells(const std::int8_t* map, const Shape& shape, const apps::CostmapOptions& options,
                  const std::uint8_t* cost, const std::int64_t* nearest) {
  const std::int64_t cells = element_count(shape);
  for (std::int64_t k = 0; k < cells; ++k) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max(), site = -1;
    for (std::int64_t other = 0; other < cells; ++other) {
      if (map[other] < 65) continue;
      const Index a = unravel(k, shape), b = unravel(other, shape);
      std::int64_t squared = 0;
      for (std::size_t axis = 0; axis < static_cast<std::size_t>(shape.rank()); ++axis)
        squared += (a[axis] - b[axis]) * (a[axis] - b[axis]);
      if (squared < least) least = squared, site = other;
    }
    const double d = std::sqrt(static_cast<double>(least)) * options.resolution;
    double expected = 252 * std::exp(-options.scaling * (d - options.inscribed));
    if (site < 0 || d > options.inflation) expected = 0;
    if (site >= 0 && d <= options.inscribed) expected = 253;
    if (least == 0) expected = 254;
    if (map[k] < 0) expected = 255;
    EXPECT_EQ(cost[k], static_cast<int>(expected)) << k << " at " << d;
    EXPECT_EQ(nearest[k], site);
  }
}

TEST(Costmap, IsTheFormula) {
  for (int k = 0; k < scaled(2000); ++k) {
    Random random(static_cast<std::uint64_t>(k));
    SCOPED_TRACE(k);
    apps::CostmapOptions options;
    options.occupied = {grid::Sites::Rule::greater_equal, 65};
    options.unknown = grid::Sites{grid::Sites::Rule::less, 0};
    options.resolution = pick(random, std::vector{1.0, 0.05, 0.3});
    options.inscribed = options.resolution * static_cast<double>(below(random, 4));
    options.inflation = options.resolution * static_cast<double>(below(random, 12));
    options.scaling = pick(random, std::vector{0.0, 0.5, 3.0, 10.0});
    options.batch_axes = static_cast<int>(below(random, 2));
    options.execution.threads = chance(random, 0.5) ? 1 : 3;
    Shape shape, space;
    if (options.batch_axes > 0) shape.push_back(1 + below(random, 3));
    for (std::int64_t axis = 0, axes = 1 + below(random, 3); axis < axes; ++axis)
      space.push_back(1 + below(random, axes == 3 ? 6 : 14));
    for (std::int64_t extent : space) shape.push_back(extent);
    Array map(DType::int8, shape), cost(DType::uint8, shape), nearest(DType::int64, shape), alone(DType::uint8, shape);
    const double dense = pick(random, std::vector{0.0, 0.02, 0.3, 1.0});
    for (std::int64_t i = 0; i < map.size(); ++i)
      store(map, i, chance(random, dense) ? 100 : chance(random, 0.1) ? -1 : static_cast<double>(below(random, 60)));
    apps::costmap(map.view(), options, {cost.view(), nearest.view()});
    const std::int64_t cells = element_count(space);
    for (std::int64_t begin = 0; begin < map.size(); begin += cells)
      expect_cells(map.as<std::int8_t>().data() + begin, space, options, cost.as<std::uint8_t>().data() + begin,
                   nearest.as<std::int64_t>().data() + begin);
    apps::costmap(map.view(), options, {alone.view(), {}});
    for (std::int64_t i = 0; i < map.size(); ++i)
      EXPECT_EQ(alone.as<std::uint8_t>().data()[i], cost.as<std::uint8_t>().data()[i]);
  }
}

/// Three cells of 0.1 m, 0.30000000000000004 in float64, are within 0.3 m.
TEST(Costmap, LeavesRoomForRounding) {
  Array map(DType::uint8, {6}), cost(DType::uint8, {6});
  for (std::int64_t k = 0; k < 6; ++k) store(map, k, k == 0);
  apps::CostmapOptions options;
  options.resolution = 0.1;
  options.inscribed = options.inflation = 0.3;
  options.scaling = 0;
  apps::costmap(map.view(), options, {cost.view(), {}});
  const auto* const found = cost.as<std::uint8_t>().data();
  EXPECT_EQ(std::vector<int>(found, found + 6), (std::vector{254, 253, 253, 253, 0, 0}));
  options.inscribed = 0;
  apps::costmap(map.view(), options, {cost.view(), {}});
  EXPECT_EQ(std::vector<int>(found, found + 6), (std::vector{254, 252, 252, 252, 0, 0}));
  options.inscribed = 0.4;
  apps::costmap(map.view(), options, {cost.view(), {}});
  EXPECT_EQ(std::vector<int>(found, found + 6), (std::vector{254, 253, 253, 253, 253, 0}));
}

TEST(Costmap, RefusesWhatHasNoMeaning) {
  Array map = mask_array({true, false, false, true}, {2, 2}, DType::uint8, false);
  Array cost(DType::uint8, {2, 2}), wrong(DType::int32, {2, 2});
  const auto refuses = [&](const char* why, const apps::CostmapOptions& options, const apps::CostmapOutputs& outputs) {
    try {
      apps::costmap(map.view(), options, outputs);
      ADD_FAILURE() << why;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  };
  apps::CostmapOptions options;
  refuses("no output was given", options, {});
  refuses("the output 'cost' is int32", options, {wrong.view(), {}});
  options.resolution = 0;
  refuses("the resolution is 0; give a finite number above 0", options, {cost.view(), {}});
  options = {};
  options.inflation = std::nan("");
  refuses("the inflation radius is nan", options, {cost.view(), {}});
  options = {};
  options.scaling = -1;
  refuses("the scaling is -1", options, {cost.view(), {}});
  options = {};
  options.unknown = grid::Sites{grid::Sites::Rule::labels};
  refuses("cannot be those of labels", options, {cost.view(), {}});
  options = {};
  options.batch_axes = -1;
  refuses("-1 batch axes of an array with 2 axes", options, {cost.view(), {}});

  Array line(DType::uint8, {20000}), costs(DType::uint8, {20000});
  std::fill_n(line.as<std::uint8_t>().data(), 20000, 0);
  options = {};
  options.inflation = 10000;
  options.scaling = 0;
  EXPECT_THROW(apps::costmap(line.view(), options, {costs.view(), {}}), InvalidArgument);
}

}  // namespace
}  // namespace fathom::test
