// Costmaps on a device against the CPU, byte for byte. Devices that are emulated pass these tests, too.
#include <cuda_runtime_api.h>

#include "apps/device_spread.h"
#include "fathom/apps/costmap.h"
#include "fathom/core/error.h"

namespace fathom::test {
namespace {

using namespace apps;
using Rule = grid::Sites::Rule;

void check_one(std::uint64_t seed) {
  SCOPED_TRACE(seed);
  Random random(seed);
  CostmapOptions options;
  options.resolution = pick(random, std::vector<double>{1, 0.05});
  options.inscribed = static_cast<double>(below(random, 40)) / 10 * options.resolution;
  options.inflation = static_cast<double>(below(random, 90)) / 10 * options.resolution;
  options.scaling = pick(random, std::vector<double>{0, 0.3, 4}) / options.resolution;
  options.occupied =
      pick(random, std::vector<grid::Sites>{{Rule::nonzero}, {Rule::greater_equal, 5}, {Rule::equal, 1}});
  if (chance(random, 0.5)) options.unknown = grid::Sites{Rule::equal, 6};
  options.batch_axes = chance(random, 0.3) ? 1 : 0;
  Shape shape{1 + below(random, 30), 1 + below(random, 40)};
  if (options.batch_axes > 0) shape = {2, shape[0], shape[1]};
  const DType type = pick(random, std::vector{DType::uint8, DType::int8, DType::float32});
  const Spread map(type, shape, random), cost(DType::uint8, shape, random), nearest(DType::int32, shape, random);
  const double density = pick(random, std::vector<double>{0, 0.02, 0.3});
  map.each(
      [&]<class T>(std::int64_t, T& cell) { cell = chance(random, density) ? static_cast<T>(below(random, 8)) : T{}; });
  const bool wants_nearest = chance(random, 0.4), wants_cost = !wants_nearest || chance(random, 0.7);

  const SpreadThere map_there(map), cost_there(cost), nearest_there(nearest);
  const Spread cost_here = copy_of(cost), nearest_here = copy_of(nearest);
  const auto of = [&](const auto& costs, const auto& sites) {
    using View = std::decay_t<decltype(costs)>;
    return std::pair(wants_cost ? costs : View(), wants_nearest ? sites : View());
  };
  const auto [costs, sites] = of(cost.view, nearest.view);
  costmap(map.view, options, {costs, sites});

  const auto [costs_there, sites_there] = of(cost_there.view(), nearest_there.view());
  const DeviceCostmapOutputs there{costs_there, sites_there};
  EXPECT_EQ(costmap(map_there.view(), options, there).scratch_bytes,
            costmap_scratch_bytes(map_there.view(), options, there));
  ASSERT_TRUE(cost_there.equals(cost) && nearest_there.equals(nearest));

  const auto [costs_here, sites_here] = of(cost_here.view, nearest_here.view);
  options.execution.backend = Backend::cuda;
  options.execution.scratch_limit = costmap_scratch_bytes(map.view, options, {costs_here, sites_here});
  costmap(map.view, options, {costs_here, sites_here});
  ASSERT_TRUE(equal(cost_here, cost) && equal(nearest_here, nearest));
  --*options.execution.scratch_limit;
  EXPECT_THROW(costmap(map.view, options, {costs_here, sites_here}), InvalidArgument);
}

TEST_F(AppsOnDevice, CostmapsAsOnTheCpu) {
  if (const auto seed = seed_to_replay()) return check_one(*seed);
  for (int k = 0; k < scaled(400) && !HasFatalFailure(); ++k) check_one(static_cast<std::uint64_t>(k));
}

}  // namespace
}  // namespace fathom::test
