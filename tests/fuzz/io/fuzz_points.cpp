// Feeds bytes to the readers of points: whatever they are, the readers return points within the memory limit or throw
// IoError. Sanitizers watch the rest.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "fathom/core/error.h"
#include "io/point_formats.h"

namespace {

using namespace fathom::io;

constexpr MemoryLimit kLimit{std::uint64_t{16} << 20, true};

void read(std::span<const std::byte> bytes, const PointOptions& options, bool first) {
  try {
    MemorySource source("fuzz", bytes);
    const Points points = read_points(source, kLimit, options, first);
    const fathom::Shape& shape = points.data.shape();
    if (shape.rank() != 2 || (shape[1] != 2 && shape[1] != 3) || points.data.bytes() > kLimit.bytes) std::abort();
    if (points.columns.size() != static_cast<std::size_t>(shape[1])) std::abort();
    volatile unsigned sum = 0;  // every byte is read, so that a sanitizer sees what was not written or not there
    for (std::byte b : std::span(points.data.data(), points.data.bytes())) sum = sum + std::to_integer<unsigned>(b);
  } catch (const fathom::IoError&) {  // any other exception is a fault of the reader
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  for (bool first : {false, true}) read(bytes, {}, first);
  read(bytes, {{"2", "1"}, 0, ','}, false);
  read(bytes, {{"x", "y", "3"}, ';', 0}, false);
  return 0;
}
