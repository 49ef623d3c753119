// Feeds bytes to one reader, chosen when compiled: whatever they are, the reader returns an image within the memory
// limit or throws IoError. Sanitizers watch the rest.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "fathom/core/error.h"
#include "io/convert.h"
#include "io/formats.h"

#ifdef FATHOM_FUZZ_MEND
#include <zlib.h>
#endif

namespace {

using namespace fathom::io;

constexpr std::size_t kLimit = std::size_t{16} << 20;

ReadOptions options() {
  ReadOptions options;
  options.format = Format::FATHOM_FUZZ_FORMAT;
  options.memory_limit = kLimit;
  return options;
}

void require(bool holds) {
  if (!holds) std::abort();
}

/// Reads every byte, so that a sanitizer sees what was not written or not there.
unsigned sum_of(const fathom::Array& data) {
  unsigned sum = 0;
  for (std::byte b : std::span(data.data(), data.bytes())) sum += std::to_integer<unsigned>(b);
  return sum;
}

}  // namespace

#ifdef FATHOM_FUZZ_MEND
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

/// Changes bytes as libFuzzer does, then makes the sums of a PNG's chunks right: else nearly all ends at the first sum.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  size = LLVMFuzzerMutate(data, size, most);
  if (seed % 8 == 0) return size;  // wrong sums, too, are worth a try
  constexpr std::size_t kSignature = 8, kName = 4, kSum = 4;
  for (std::size_t at = kSignature; at + kName + 4 + kSum <= size;) {
    const std::size_t length = swap_bytes(load<std::uint32_t>(data + at));
    const std::size_t name = at + 4;
    if (length > size - name - kName - kSum) break;
    const auto sum = swap_bytes(static_cast<std::uint32_t>(crc32(0, data + name, static_cast<uInt>(kName + length))));
    std::memcpy(data + name + kName + length, &sum, kSum);
    at = name + kName + length + kSum;
  }
  return size;
}
#endif

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  try {
    MemorySource source("fuzz", bytes);
    const Image image = read_image(source, options());
    require(image.data.bytes() <= kLimit);
    volatile unsigned sum = sum_of(image.data);
    (void)sum;

    MemorySource again("fuzz", bytes);
    const ImageInfo info = probe_image(again, options());
    require(info.shape == image.data.shape() && info.dtype == image.data.dtype() && info.meaning.spacing() == image.meaning.spacing());
  } catch (const fathom::IoError&) {  // any other exception is a fault of the reader
  }
  return 0;
}
