// Rasters that lie in a device's memory.
#include <algorithm>
#include <string>

#include "core/require_device.h"
#include "fathom/core/array.h"
#include "fathom/core/error.h"
#include "fathom/stream/nodes.h"
#include "fathom/stream/run.h"
#include "stream/pixels.h"

#ifdef FATHOM_HAS_CUDA
#include "stream/cuda/graph.h"
#endif

namespace fathom::stream {

namespace {

class DeviceRaster final : public RasterSource {
 public:
  explicit DeviceRaster(const AnyConstDeviceView& pixels) : pixels_(pixels) {}
  DType dtype() const override { return pixels_.dtype(); }
  std::int64_t height() const override { return pixels_.shape()[0]; }
  std::int64_t width() const override { return pixels_.shape()[1]; }
  void read([[maybe_unused]] const Rectangle& part, [[maybe_unused]] const AnyView& out) const override {
#ifdef FATHOM_HAS_CUDA
    cuda::read(pixels_, part, out);
#endif
  }
  /// Which the CPU copies at once, and keeps as long as it has memory for it.
  Shape piece() const override { return {256, 1024}; }
  std::size_t kept_bytes() const override { return 0; }
  std::size_t bytes_of_read() const override { return 0; }
  std::string fingerprint() const override {
    constexpr std::int64_t kRows = 256;
    std::uint32_t sum = 0;
    for (std::int64_t y = 0; y < height(); y += kRows) {
      const Rectangle part{y, 0, std::min(y + kRows, height()), width()};
      Array rows(dtype(), part.shape());
      read(part, rows.view());
      sum = crc32c(sum, {rows.data(), rows.bytes()});
    }
    return to_string(pixels_.shape()) + ' ' + std::string(name_of(dtype())) + ' ' + std::to_string(sum);
  }
  AnyConstDeviceView on_device() const override { return pixels_; }

 private:
  AnyConstDeviceView pixels_;
};

}  // namespace

std::shared_ptr<const RasterSource> device_raster(const AnyConstDeviceView& pixels) {
  require_device();
  if (pixels.rank() != 2)
    throw InvalidArgument("the pixels have " + std::to_string(pixels.rank()) + " axes; a raster has two");
  if (!is_element(pixels.dtype()))
    throw InvalidArgument("rasters are bool, uint8, uint16 or float32, not " + std::string(name_of(pixels.dtype())));
  return std::make_shared<DeviceRaster>(pixels);
}

}  // namespace fathom::stream
