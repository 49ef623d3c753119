// Textures of signed distance from a device: the CPU's bytes, from arrays of the host and of the device.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "cases.h"
#include "device_block.h"
#include "fathom/apps/sdf.h"
#include "fathom/core/device.h"

namespace fathom::test {
namespace {

class SdfOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no CUDA device";
  }
};

TEST_F(SdfOnDevice, IsTheCpus) {
  for (int k = 0; k < scaled(300); ++k) {
    Random random(static_cast<std::uint64_t>(k) + 91000);
    SCOPED_TRACE(k);
    const Shape shape{1 + below(random, 40), 1 + below(random, 40)};
    const DType dtype = pick(random, std::vector{DType::boolean, DType::uint8, DType::uint16, DType::float32});
    const double most = dtype == DType::uint8 ? 255 : dtype == DType::uint16 ? 65535 : 1;
    Array image(dtype, shape);
    const double empty = pick(random, std::vector{0.2, 0.9, 1.0});
    for (std::int64_t i = 0; i < image.size(); ++i)
      store(image, i, chance(random, empty) ? 0 : chance(random, 0.5) ? most : most * static_cast<double>(below(random, 8)) / 7);
    const DType type = pick(random, std::vector{DType::uint8, DType::uint16, DType::float32, DType::float64});
    const Shape extents{below(random, 60), below(random, 60)};
    Array cpu(type, extents), host(type, extents), device(type, extents);
    apps::SdfOptions options;
    options.range = 6;
    options.invert = chance(random, 0.3);
    const auto expected = apps::sdf(std::as_const(image).view(), options, cpu.view());
    options.execution.backend = Backend::cuda;
    const auto found = apps::sdf(std::as_const(image).view(), options, host.view());
    EXPECT_EQ(found.backend, Backend::cuda);
    EXPECT_EQ(found.segments, expected.segments);
    EXPECT_EQ(found.scale, expected.scale);
    const Block from(image), to(device.bytes());
    apps::sdf(AnyConstDeviceView(from.data(), dtype, shape), options, AnyDeviceView(to.data(), type, extents));
    must(cudaDeviceSynchronize());
    to.download(device);
    for (const Array* other : {&host, &device})
      ASSERT_TRUE(cpu.bytes() == 0 || std::memcmp(cpu.data(), other->data(), cpu.bytes()) == 0);
  }
}

TEST_F(SdfOnDevice, BatchesAreTheCpus) {
  Random random(5);
  Array images(DType::uint8, {3, 2, 14, 17});
  for (std::int64_t k = 0; k < images.size(); ++k) store(images, k, static_cast<double>(below(random, 256)));
  const Shape extents{3, 2, 20, 30};
  Array cpu(DType::uint8, extents), host(DType::uint8, extents), device(DType::uint8, extents);
  apps::SdfOptions options;
  options.batch_axes = 2;
  const auto expected = apps::sdf(std::as_const(images).view(), options, cpu.view());
  options.execution.backend = Backend::cuda;
  const auto found = apps::sdf(std::as_const(images).view(), options, host.view());
  EXPECT_EQ(found.backend, Backend::cuda);
  EXPECT_EQ(found.segments, expected.segments);
  const Block from(images), to(device.bytes());
  apps::sdf(AnyConstDeviceView(from.data(), DType::uint8, images.shape()), options,
            AnyDeviceView(to.data(), DType::uint8, extents));
  must(cudaDeviceSynchronize());
  to.download(device);
  for (const Array* other : {&host, &device}) EXPECT_EQ(std::memcmp(cpu.data(), other->data(), cpu.bytes()), 0);
}

}  // namespace
}  // namespace fathom::test
