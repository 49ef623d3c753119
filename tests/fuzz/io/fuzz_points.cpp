// Feeds bytes to the readers of points: whatever they are, the readers return points within the memory limit or throw
// IoError. Sanitizers watch the rest.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "fathom/core/error.h"
#include "io/point_formats.h"

namespace {

using namespace fathom::io;

constexpr MemoryLimit kLimit{std::uint64_t{16} << 20, true};

void read(std::span<const std::byte> bytes, bool first_columns) {
  try {
    MemorySource source("fuzz", bytes);
    const fathom::Array points = read_points(source, kLimit, first_columns);
    const fathom::Shape& shape = points.shape();
    if (shape.rank() != 2 || (shape[1] != 2 && shape[1] != 3) || points.bytes() > kLimit.bytes) std::abort();
    volatile unsigned sum = 0;  // every byte is read, so that a sanitizer sees what was not written or not there
    for (std::byte b : std::span(points.data(), points.bytes())) sum = sum + std::to_integer<unsigned>(b);
  } catch (const fathom::IoError&) {  // any other exception is a fault of the reader
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (bool first_columns : {false, true}) read({reinterpret_cast<const std::byte*>(data), size}, first_columns);
  return 0;
}
