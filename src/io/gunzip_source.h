// What comes out of a gzip stream, or a zlib stream, which MetaImage has.
#pragma once

#include <memory>

#include "io/byte_source.h"

namespace fathom::io {

/// Whether a source begins as a gzip stream does.
inline bool is_gzip(ByteSource& source) {
  const auto start = source.peek(2);
  return start.size() == 2 && start[0] == std::byte{0x1f} && start[1] == std::byte{0x8b};
}

/// Inflates another source, one member after the other. Sums are checked where a member ends.
class GunzipSource final : public ByteSource {
 public:
  /// @param compressed  outlives this object
  explicit GunzipSource(ByteSource& compressed);
  ~GunzipSource() override;
  std::optional<std::uint64_t> size() const override { return std::nullopt; }
  /// Reads to the end, so that the sum is checked; stops where much more follows than what was wanted.
  void finish();

 private:
  std::size_t read_raw(void* out, std::size_t count) override;
  bool refill();
  bool begin_next_member();

  struct Stream;
  ByteSource& compressed_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace fathom::io
