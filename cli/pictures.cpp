#include "pictures.h"

#include <algorithm>

#include "chart/canvas.h"

namespace fathom::cli {

Array samples_picture(const Array& samples, std::int32_t most) {
  Array picture(DType::uint8, samples.shape());
  const auto* from = samples.as<std::int32_t>().data();
  auto* to = picture.as<std::uint8_t>().data();
  for (std::int64_t i = 0; i < samples.size(); ++i)
    to[i] = static_cast<std::uint8_t>(255 - std::max(from[i] - 1, 0) * std::int64_t{255} / std::max(most - 1, 1));
  return picture;
}

void write_transparent(const Array& shade, const Array& coverage, std::FILE* stream) {
  const auto height = static_cast<int>(shade.shape()[0]), width = static_cast<int>(shade.shape()[1]);
  const Surface surface = make_surface(width, height);
  unsigned char* const rows = cairo_image_surface_get_data(surface.get());
  const int stride = cairo_image_surface_get_stride(surface.get());
  const auto *level = shade.as<std::uint8_t>().data(), *opacity = coverage.as<std::uint8_t>().data();
  for (int y = 0; y < height; ++y) {
    auto* row = reinterpret_cast<std::uint32_t*>(rows + std::ptrdiff_t{y} * stride);
    for (int x = 0; x < width; ++x) *row++ = std::uint32_t{*opacity++} << 24 | *level++ * 0x010101u;
  }
  cairo_surface_mark_dirty(surface.get());
  write_png(surface.get(), stream);
}

}  // namespace fathom::cli
