// Elements without a header: the caller says what they are.
#include "io/convert.h"
#include "io/formats.h"

namespace fathom::io {

namespace {

/// The file, if it is as long as it has to be.
std::unique_ptr<ByteSource> open_raw(const std::filesystem::path& path, const RawLayout& layout) {
  auto source = open_source(path, Reading::consume);
  const std::uint64_t bytes = count_bytes(*source, layout.dtype, layout.shape);
  if (source->size() && *source->size() != bytes)
    source->fail("holds " + std::to_string(*source->size()) + " bytes, but " + to_string(layout.shape) + " of " +
                 std::string(name_of(layout.dtype)) + " are " + std::to_string(bytes));
  return source;
}

}  // namespace

void check_raw(const std::filesystem::path& path, const RawLayout& layout) { open_raw(path, layout); }

Array read_raw(const std::filesystem::path& path, const RawLayout& layout, const ReadOptions& options) {
  const auto source = open_raw(path, layout);
  Array array = allocate(*source, layout.dtype, layout.shape, memory_limit(options.memory_limit));
  source->read_exactly(array.data(), array.bytes(), "the elements");
  if (layout.big_endian) swap_all(array.data(), static_cast<std::size_t>(array.size()), size_of(layout.dtype));
  if (layout.dtype == DType::boolean) make_bools(array.data(), array.bytes());
  return array;
}

}  // namespace fathom::io
