#include "io/gunzip_source.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>

#include "io/sizes.h"

namespace fathom::io {

struct GunzipSource::Stream {
  z_stream zlib{};
  std::array<Bytef, 1 << 16> in;
  bool ended = false;
};

GunzipSource::GunzipSource(ByteSource& compressed)
    : ByteSource(compressed.name()), compressed_(compressed), stream_(std::make_unique<Stream>()) {
  constexpr int kByItsHeader = 32 + MAX_WBITS;
  if (inflateInit2(&stream_->zlib, kByItsHeader) != Z_OK) throw std::bad_alloc();
}

GunzipSource::~GunzipSource() { inflateEnd(&stream_->zlib); }

void GunzipSource::finish() {
  std::vector<std::byte> rest(std::size_t{1} << 20);
  read(rest.data(), rest.size());
}

/// False at the end of the compressed bytes.
bool GunzipSource::refill() {
  z_stream& zlib = stream_->zlib;
  if (zlib.avail_in > 0) return true;
  zlib.next_in = stream_->in.data();
  zlib.avail_in = static_cast<uInt>(compressed_.read(stream_->in.data(), stream_->in.size()));
  return zlib.avail_in > 0;
}

/// Members may follow one another; zeros or anything else behind the last one is padding.
bool GunzipSource::begin_next_member() {
  constexpr Bytef kFirstByte = 0x1f;
  return refill() && *stream_->zlib.next_in == kFirstByte && inflateReset(&stream_->zlib) == Z_OK;
}

std::size_t GunzipSource::read_raw(void* out, std::size_t count) {
  z_stream& zlib = stream_->zlib;
  const auto wanted = static_cast<uInt>(std::min(count, std::size_t{1} << 30));
  zlib.next_out = static_cast<Bytef*>(out);
  zlib.avail_out = wanted;
  while (zlib.avail_out == wanted && !stream_->ended) {
    if (!refill()) fail("is truncated: its gzip stream does not end");
    const int state = inflate(&zlib, Z_NO_FLUSH);
    if (state == Z_STREAM_END) stream_->ended = !begin_next_member();
    else if (state == Z_MEM_ERROR) throw std::bad_alloc();
    else if (state != Z_OK && state != Z_BUF_ERROR)
      fail("has a broken gzip stream: " + one_line(zlib.msg ? zlib.msg : "it needs a dictionary"));
  }
  return wanted - zlib.avail_out;
}

}  // namespace fathom::io
