#include "io/byte_sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <system_error>

#include "fathom/core/error.h"

namespace fathom::io {

void StreamSink::write(const void* data, std::size_t count) {
  if (count == 0 || std::fwrite(data, 1, count, stream_) == count) return;
  throw IoError(name_ + " cannot be written: " + std::system_category().message(errno));
}

bool is_random_access(std::FILE* stream) {
  struct stat state {};
  const int descriptor = fileno(stream);
  return fstat(descriptor, &state) == 0 && S_ISREG(state.st_mode) && lseek(descriptor, 0, SEEK_CUR) == 0 &&
         (fcntl(descriptor, F_GETFL) & O_ACCMODE) == O_RDWR;
}

struct GzipSink::Stream {
  z_stream zlib{};
  std::array<Bytef, 1 << 16> out;
};

GzipSink::GzipSink(ByteSink& target) : target_(target), stream_(std::make_unique<Stream>()) {
  constexpr int kGzip = 16 + MAX_WBITS;
  // Fields of floats hardly shrink with more effort, and the fastest level is already the slowest part of writing.
  if (deflateInit2(&stream_->zlib, Z_BEST_SPEED, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
}

GzipSink::~GzipSink() { deflateEnd(&stream_->zlib); }

void GzipSink::pump(int flush) {
  z_stream& zlib = stream_->zlib;
  do {
    zlib.next_out = stream_->out.data();
    zlib.avail_out = static_cast<uInt>(stream_->out.size());
    deflate(&zlib, flush);
    target_.write(stream_->out.data(), stream_->out.size() - zlib.avail_out);
  } while (zlib.avail_out == 0);
}

void GzipSink::write(const void* data, std::size_t count) {
  const auto* bytes = static_cast<const Bytef*>(data);
  while (count > 0) {
    const std::size_t step = std::min(count, std::size_t{1} << 30);
    stream_->zlib.next_in = const_cast<Bytef*>(bytes);  // zlib reads only; its field lacks the const
    stream_->zlib.avail_in = static_cast<uInt>(step);
    pump(Z_NO_FLUSH);
    bytes += step;
    count -= step;
  }
}

void GzipSink::finish() {
  stream_->zlib.avail_in = 0;
  pump(Z_FINISH);
}

}  // namespace fathom::io
