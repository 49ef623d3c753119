// Morphology on a device against the CPU, byte for byte: between arrays of the host, and between those of the device.
// Devices that are emulated pass these tests, too.
#include <cuda_runtime_api.h>

#include "apps/device_spread.h"
#include "apps/morphology_cases.h"
#include "fathom/core/error.h"

namespace fathom::test {
namespace {

using namespace apps;

void check_one(std::uint64_t seed) {
  const MorphologyCase c = morphology_case(seed);
  SCOPED_TRACE(std::to_string(seed) + ": " + describe(c));
  const Spread untouched = copy_of(c.output);
  const SpreadThere input(c.input), output(untouched);
  morphology(c.input.view, c.options, c.output.view);

  const MorphologyReport there = morphology(input.view(), c.options, output.view());
  ASSERT_TRUE(output.equals(c.output));
  EXPECT_EQ(there.backend, Backend::cuda);
  EXPECT_EQ(there.scratch_bytes, morphology_scratch_bytes(input.view(), c.options));

  MorphologyOptions options = c.options;
  options.execution.backend = Backend::cuda;
  options.execution.scratch_limit = morphology_scratch_bytes(c.input.view, options);
  const Spread from_host = copy_of(untouched);
  const MorphologyReport report = morphology(c.input.view, options, from_host.view);
  ASSERT_TRUE(equal(from_host, c.output));
  EXPECT_EQ(report.device, describe_device(current_device()).name);
  EXPECT_EQ(report.scratch_bytes, *options.execution.scratch_limit);
  options.execution.scratch_limit = report.scratch_bytes - 1;
  EXPECT_THROW(morphology(c.input.view, options, from_host.view), InvalidArgument);
}

TEST_F(AppsOnDevice, MorphologyAsOnTheCpu) {
  if (const auto seed = seed_to_replay()) return check_one(*seed);
  for (int k = 0; k < scaled(1500) && !HasFatalFailure(); ++k) check_one(static_cast<std::uint64_t>(k));
}

TEST_F(AppsOnDevice, MorphologyOfLargerArrays) {
  Random random(3);
  for (const Shape& shape : {Shape{90, 133}, Shape{24, 33, 40}, Shape{2, 40, 64}})
    for (const MorphologyOperation operation : kOperations)
      for (const MorphologyBorder border : kBorders) {
        MorphologyOptions options;
        options.operation = operation;
        options.border = border;
        options.size = std::sqrt(static_cast<double>(below(random, 40)));
        options.batch_axes = shape[0] == 2;
        const Array mask =
            mask_array(make_sites(static_cast<Structure>(below(random, kStructures)), shape, random), shape);
        const Array expected = morphology(mask.view(), options);
        options.execution.backend = Backend::cuda;
        const Array found = morphology(mask.view(), options);
        ASSERT_EQ(std::memcmp(found.data(), expected.data(), found.bytes()), 0)
            << to_string(shape) << " " << static_cast<int>(operation) << " " << options.size;
      }
}

#ifndef FATHOM_EMULATED  // it would take minutes
TEST_F(AppsOnDevice, MorphologyOfBatchesInGroups) {
  Random random(4);
  const Shape shape{3, 6000, 5000};  // two at once
  const Array mask = mask_array(scatter(shape, 0.01, random), shape, DType::uint8, false);
  MorphologyOptions options;
  options.size = 6;
  options.batch_axes = 1;
  const Array expected = morphology(mask.view(), options);
  options.execution.backend = Backend::cuda;
  const Array found = morphology(mask.view(), options);
  ASSERT_EQ(std::memcmp(found.data(), expected.data(), found.bytes()), 0);
}
#endif

TEST_F(AppsOnDevice, MorphologyRefuses) {
  Random random(1);
  const Spread host(DType::uint8, {4, 5}, random);
  const SpreadThere there(host), other(host);
  MorphologyOptions options;
  EXPECT_THROW(morphology(there.view(), options, there.view()), InvalidArgument);
  options.execution.backend = Backend::cpu;
  EXPECT_THROW(morphology(there.view(), options, other.view()), InvalidArgument);
  options.execution.backend = Backend::automatic;
  options.execution.scratch_limit = 10;
  EXPECT_THROW(morphology(there.view(), options, other.view()), InvalidArgument);
  options.execution.scratch_limit.reset();
  const AnyConstDeviceView not_there(host.memory.data(), DType::uint8, {4, 5});
  EXPECT_THROW(morphology(not_there, options, other.view()), InvalidArgument);
}

}  // namespace
}  // namespace fathom::test
