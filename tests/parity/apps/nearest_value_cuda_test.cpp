// Values, distances and directions of nearest sites on a device against the CPU, byte for byte. Devices that are
// emulated pass these tests, too.
#include <cuda_runtime_api.h>

#include "apps/device_spread.h"
#include "apps/nearest_value_cases.h"
#include "fathom/core/error.h"

namespace fathom::test {
namespace {

using namespace apps;

void check_one(std::uint64_t seed) {
  SCOPED_TRACE(seed);
  const NearestValueCase c = nearest_value_case(seed);
  const SpreadThere input(c.input), value(c.value), distance(c.distance), direction(c.direction);
  const Spread values = copy_of(c.value), distances = copy_of(c.distance), directions = copy_of(c.direction);
  nearest_values(c.input.view, c.options, c.outputs());

  DeviceNearestValueOutputs there{value.view(), distance.view(), {}};
  NearestValueOutputs here{values.view, distances.view, {}};
  if (c.is_plane()) there.direction = direction.view(), here.direction = directions.view;
  const NearestValueReport report = nearest_values(input.view(), c.options, there);
  ASSERT_TRUE(value.equals(c.value) && distance.equals(c.distance) && direction.equals(c.direction));
  EXPECT_EQ(report.scratch_bytes, nearest_value_scratch_bytes(input.view(), c.options, there));

  grid::DistanceOptions options = c.options;
  options.execution.backend = Backend::cuda;
  options.execution.scratch_limit = nearest_value_scratch_bytes(c.input.view, options, here);
  EXPECT_EQ(nearest_values(c.input.view, options, here).backend, Backend::cuda);
  ASSERT_TRUE(equal(values, c.value) && equal(distances, c.distance) && equal(directions, c.direction));
  --*options.execution.scratch_limit;
  EXPECT_THROW(nearest_values(c.input.view, options, here), InvalidArgument);
}

TEST_F(AppsOnDevice, NearestValuesAsOnTheCpu) {
  if (const auto seed = seed_to_replay()) return check_one(*seed);
  for (int k = 0; k < scaled(800) && !HasFatalFailure(); ++k) check_one(static_cast<std::uint64_t>(k));
}

}  // namespace
}  // namespace fathom::test
