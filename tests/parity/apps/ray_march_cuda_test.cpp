// Pictures of volumes in a device's memory against those of the host's, byte for byte. Devices that are emulated pass
// these tests, too.
#include <cuda_runtime_api.h>

#include <iterator>

#include "apps/device_spread.h"
#include "apps/scenes.h"
#include "fathom/core/error.h"

namespace fathom::test {
namespace {

using namespace apps;

#ifdef FATHOM_EMULATED  // without sets of points
constexpr Stepping kSteppings[] = {Stepping::unit, Stepping::field};
#else
constexpr Stepping kSteppings[] = {Stepping::unit, Stepping::field, Stepping::pointwise, Stepping::cone};
#endif

TEST_F(AppsOnDevice, VolumesThereAreDrawnAsOnTheCpu) {
  for (int i = 0; i < scaled(60); ++i) {
    Scene scene = random_scene(4000 + static_cast<std::uint64_t>(i));
    SCOPED_TRACE(i);
    const RayMarcher expected(scene.volume.view(), scene.marcher);
    const Block block(scene.volume);
    RayMarcherOptions options = scene.marcher;
    options.execution.backend = Backend::automatic;
    options.stepping = kSteppings[static_cast<std::size_t>(i) % std::size(kSteppings)];
    const AnyConstDeviceView volume(block.data(), scene.volume.dtype(), scene.volume.shape());
    const RayMarcher there(volume, options);
    ASSERT_EQ(there.solid(), expected.solid());
    const Picture found = render(there, scene.march, scene.picture);
    ASSERT_EQ(found.report.backend, Backend::cuda);
    ASSERT_TRUE(same(render(expected, scene.march, scene.picture), found));
  }
}

TEST_F(AppsOnDevice, VolumesThereAreRefused) {
  const Scene scene = random_scene(1);
  const Block block(scene.volume);
  const AnyConstDeviceView volume(block.data(), scene.volume.dtype(), scene.volume.shape());
  RayMarcherOptions options;
  options.execution.backend = Backend::cpu;
  EXPECT_THROW(RayMarcher(volume, options), InvalidArgument);
  const AnyConstDeviceView host(scene.volume.data(), scene.volume.dtype(), scene.volume.shape());
  EXPECT_THROW(RayMarcher{host}, InvalidArgument);

  const Block flat(mask_array(std::vector<bool>(64 * 64), {64, 64, 1}, DType::uint8, false));
  options = {};
  options.stepping = Stepping::unit;
  options.memory_limit = 64 * 64 * (8 + 1 + 12);  // a word, a voxel and a row
  const AnyConstDeviceView thin(flat.data(), DType::uint8, {64, 64, 1});
  EXPECT_NO_THROW(RayMarcher(thin, options));
  --*options.memory_limit;
  EXPECT_THROW(RayMarcher(thin, options), InvalidArgument);
}

}  // namespace
}  // namespace fathom::test
