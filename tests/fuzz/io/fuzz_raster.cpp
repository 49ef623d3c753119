// Opens bytes as a raster and reads two parts of it: each is what the whole image has there, or IoError. Sanitizers watch
// the rest.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "fathom/core/error.h"
#include "fathom/io/raster.h"

namespace {

using namespace fathom;

io::ReadOptions options() {
  io::ReadOptions options;
  options.memory_limit = std::size_t{16} << 20;
  return options;
}

/// @param whole  [..., height, width], of which the source is the first page
void compare(const RasterSource& source, const Array& whole, const Rectangle& part) {
  Array read(source.dtype(), part.shape());
  source.read(part, read.view());
  const std::size_t size = size_of(source.dtype()), bytes = static_cast<std::size_t>(part.width()) * size;
  for (std::int64_t y = 0; y < part.height() && bytes > 0; ++y)
    if (std::memcmp(read.data() + static_cast<std::size_t>(y) * bytes,
                    whole.data() + static_cast<std::size_t>((part.y0 + y) * source.width() + part.x0) * size,
                    bytes) != 0)
      std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("fuzz_raster." + std::to_string(getpid()));
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    const io::RasterFile file = io::open_raster(path, options());
    const RasterSource& source = *file.source;
    const std::int64_t height = source.height(), width = source.width();
    if (source.bytes_of_read() > *options().memory_limit) std::abort();
    const io::Image image = io::read(path, options());
    if (image.data.dtype() != source.dtype()) std::abort();
    compare(source, image.data, {height / 2, width / 3, height, width});
    compare(source, image.data, {0, 0, height - height / 4, width / 2});
  } catch (const IoError&) {
  }
  return 0;
}
