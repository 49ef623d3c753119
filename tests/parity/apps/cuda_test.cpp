// Pictures drawn on a device: the CPU's, sample for sample.
#include <gtest/gtest.h>

#include <numbers>
#include <thread>
#include <vector>

#include "apps/scenes.h"
#include "fathom/core/device.h"

namespace fathom::test {
namespace {

using namespace apps;

constexpr Stepping kSteppings[] = {Stepping::unit, Stepping::field, Stepping::pointwise, Stepping::cone};

class DeviceRays : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no CUDA device";
  }
};

testing::AssertionResult same_march(const Picture& a, const Picture& b) {
  if (const auto result = same(a, b); !result) return result;
  if (a.report.rays != b.report.rays || a.report.hits != b.report.hits || a.report.samples != b.report.samples)
    return testing::AssertionFailure() << "other totals";
  return equal(a.samples, b.samples);
}

RayMarcher marcher_of(const Scene& scene, Backend backend) {
  RayMarcherOptions options = scene.marcher;
  options.execution.backend = backend;
  return RayMarcher(scene.volume.view(), options);
}

TEST_F(DeviceRays, TakeTheSamplesOfTheCpu) {
  for (int i = 0; i < scaled(100); ++i) {
    Scene scene = random_scene(2000 + static_cast<std::uint64_t>(i));
    scene.march.antialias = i % 4 == 0 ? 2 + i % 3 : 1;
    for (Stepping stepping : kSteppings) {
      SCOPED_TRACE("seed " + std::to_string(2000 + i) + ", stepping " + std::to_string(static_cast<int>(stepping)));
      scene.marcher.stepping = stepping;
      scene.march.half_angle = std::numbers::pi * (i % 5) / 4;
      const RayMarcher device = marcher_of(scene, Backend::cuda);
      const Picture found = render(device, scene.march, scene.picture);
      ASSERT_EQ(found.report.backend, Backend::cuda);
      ASSERT_FALSE(found.report.device.empty());
      const RayMarcher cpu = marcher_of(scene, Backend::cpu);
      ASSERT_EQ(device.solid(), cpu.solid());
      ASSERT_TRUE(same_march(render(cpu, scene.march, scene.picture), found));
    }
  }
}

/// In parts of the picture, and into memory with a pitch or upside down.
TEST_F(DeviceRays, DrawWithLittleScratchIntoAnyLayout) {
  Scene scene = random_scene(15);
  scene.picture = {50, 60};
  for (Stepping stepping : kSteppings) {
    scene.marcher.stepping = stepping;
    const RayMarcher marcher = marcher_of(scene, Backend::cuda);
    const Picture whole = render(marcher, scene.march, scene.picture);
    EXPECT_GT(whole.report.hits, 100);
    RayMarchOptions limited = scene.march;
    limited.execution.scratch_limit = whole.report.scratch_bytes / 7;
    const Picture parts = render(marcher, limited, scene.picture);
    EXPECT_LE(parts.report.scratch_bytes, *limited.execution.scratch_limit);
    EXPECT_TRUE(same_march(whole, parts));
    limited.execution.scratch_limit = 1;
    EXPECT_THROW(render(marcher, limited, scene.picture), InvalidArgument);

    Array padded(DType::float32, {50, 64});
    poison(padded);
    RayMarchOutputs outputs;
    outputs.depth = AnyView(padded.data() + 49 * 64 * sizeof(float), DType::float32, {50, 60}, {-64, 1});
    marcher.render(scene.march, outputs);
    Array expected(DType::float32, {50, 64});
    poison(expected);
    for (std::int64_t row = 0; row < 50; ++row)
      std::copy_n(whole.depth.as<float>().data() + row * 60, 60, expected.as<float>().data() + (49 - row) * 64);
    EXPECT_TRUE(equal(expected, padded));
  }
}

TEST_F(DeviceRays, OfNothingAreBackground) {
  for (const Shape& shape : {Shape{5, 6, 7}, Shape{0, 4, 4}, Shape{4, 4, 0}}) {
    const Array volume = mask_array(std::vector<bool>(static_cast<std::size_t>(element_count(shape)), false), shape,
                                    DType::uint8, false);
    for (Stepping stepping : kSteppings) {
      RayMarcherOptions options = marcher_on(Backend::cuda);
      options.stepping = stepping;
      const Picture found = render(RayMarcher(volume.view(), options), {}, {20, 30});
      options.execution.backend = Backend::cpu;
      EXPECT_TRUE(same_march(render(RayMarcher(volume.view(), options), {}, {20, 30}), found)) << to_string(shape);
    }
  }
}

TEST_F(DeviceRays, OfSeveralThreadsAtOnce) {
  const Scene scene = random_scene(15);
  RayMarcherOptions options = marcher_on(Backend::cuda);
  options.stepping = Stepping::cone;
  const RayMarcher marcher(scene.volume.view(), options);
  const Picture expected = render(marcher, scene.march, scene.picture);
  std::vector<Picture> found;
  for (int i = 0; i < 8; ++i) found.emplace_back(scene.picture);
  std::vector<std::thread> threads;
  for (Picture& one : found) threads.emplace_back([&] { one.report = marcher.render(scene.march, one.views()); });
  for (std::thread& thread : threads) thread.join();
  for (const Picture& one : found) EXPECT_TRUE(same_march(expected, one));
}

TEST_F(DeviceRays, StopWhenAskedTo) {
  const Scene scene = random_scene(15);
  std::stop_source stop;
  stop.request_stop();
  RayMarchOptions options = scene.march;
  options.execution.stop = stop.get_token();
  EXPECT_THROW(render(marcher_of(scene, Backend::cuda), options, scene.picture), Cancelled);
}

TEST_F(DeviceRays, StayInsideTheMemoryLimit) {
  const Scene scene = random_scene(15);
  for (Stepping stepping : kSteppings) {
    RayMarcherOptions options = marcher_on(Backend::cuda);
    options.stepping = stepping;
    options.memory_limit = 1;
    const std::string text = refusal([&] { RayMarcher(scene.volume.view(), options); });
    const std::string start = "the marcher's memory limit of 1 bytes is too small; what works here is ";
    ASSERT_TRUE(text.starts_with(start)) << text;
    options.memory_limit = std::stoull(text.substr(start.size()));
    EXPECT_LE(RayMarcher(scene.volume.view(), options).bytes(), *options.memory_limit);
  }
}

TEST_F(DeviceRays, WorkWhereTheMarcherLives) {
  const Scene scene = random_scene(15);
  RayMarchOptions options;
  options.execution.backend = Backend::cpu;
  EXPECT_EQ(refusal([&] {
              render(marcher_of(scene, Backend::cuda), options, {4, 4});
            }),
            "the marcher is in a device's memory, where the backend cpu cannot work; use auto or cuda");
  options.execution.backend = Backend::cuda;
  EXPECT_EQ(refusal([&] {
              render(marcher_of(scene, Backend::cpu), options, {4, 4});
            }),
            "the marcher is in the host's memory; build it with the backend cuda, or use auto or cpu");
}

}  // namespace
}  // namespace fathom::test
