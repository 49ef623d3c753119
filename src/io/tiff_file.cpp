#include "io/tiff_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <limits>
#include <new>
#include <system_error>

#include "fathom/core/error.h"
#include "io/sizes.h"

namespace fathom::io {

TiffFile::TiffFile(ByteSource& source, std::uint64_t most_bytes, bool with_offsets)
    : name_(source.name()), source_(&source) {
  // No chopping of large strips, which would be read in small pieces; no mapping.
  open(with_offsets ? "rcm" : "rcmO", most_bytes);
}

TiffFile::TiffFile(std::string name, std::FILE* stream, bool big) : name_(std::move(name)), stream_(stream) {
  open(big ? "w8" : "w", 0);
}

void TiffFile::open(const char* mode, std::uint64_t most_bytes) {
  TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
  if (!options) throw std::bad_alloc();
  constexpr std::uint64_t kMost = std::numeric_limits<tmsize_t>::max();
  if (most_bytes > 0) TIFFOpenOptionsSetMaxSingleMemAlloc(options, static_cast<tmsize_t>(std::min(most_bytes, kMost)));
  TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, this);
  TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, this);
  tiff_ = TIFFClientOpenExt(name_.c_str(), mode, this, on_read, on_write, on_seek, on_close, on_size, nullptr, nullptr,
                            options);
  TIFFOpenOptionsFree(options);
  if (!tiff_) fail(source_ ? "is no TIFF that can be read" : "cannot be written");
}

void TiffFile::close() noexcept {
  if (tiff_) TIFFClose(tiff_);
  tiff_ = nullptr;
}

void TiffFile::finish_writing() {
  const bool flushed = TIFFFlush(tiff_) == 1;
  close();
  if (!flushed || caught_ || message_[0] != '\0') fail("cannot be written");
}

void TiffFile::fail(const std::string& what) const {
  if (caught_) std::rethrow_exception(caught_);
  throw IoError(name_ + " " + what + (message_[0] != '\0' ? ": " + one_line(message_.data()) : ""));
}

void TiffFile::keep(const char* module, const char* format, va_list arguments) noexcept {
  if (message_[0] != '\0') return;  // the first is the cause
  (void)module;                     // often the file's name, which the message has already
  std::vsnprintf(message_.data(), message_.size(), format, arguments);
}

int TiffFile::on_error(TIFF*, void* self, const char* module, const char* format, va_list arguments) {
  static_cast<TiffFile*>(self)->keep(module, format, arguments);
  return 1;  // handled: libtiff calls nobody else
}

int TiffFile::on_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

tmsize_t TiffFile::on_read(thandle_t self, void* out, tmsize_t count) {
  auto* file = static_cast<TiffFile*>(self);
  if (count < 0) return -1;
  if (file->stream_) return static_cast<tmsize_t>(std::fread(out, 1, static_cast<std::size_t>(count), file->stream_));
  try {
    file->source_->seek(file->position_);
    const std::size_t got = file->source_->read(out, static_cast<std::size_t>(count));
    file->position_ += got;
    return static_cast<tmsize_t>(got);
  } catch (...) {
    file->caught_ = std::current_exception();
    return -1;
  }
}

tmsize_t TiffFile::on_write(thandle_t self, void* data, tmsize_t count) {
  auto* file = static_cast<TiffFile*>(self);
  if (!file->stream_ || count < 0) return -1;
  const auto wanted = static_cast<std::size_t>(count);
  const std::size_t written = std::fwrite(data, 1, wanted, file->stream_);
  if (written == wanted) return count;
  if (!file->caught_)
    file->caught_ = std::make_exception_ptr(
        IoError(file->name_ + " cannot be written: " + std::system_category().message(errno)));
  return -1;
}

toff_t TiffFile::on_seek(thandle_t self, toff_t offset, int whence) {
  auto* file = static_cast<TiffFile*>(self);
  if (file->stream_) {
    if (offset > static_cast<toff_t>(INT64_MAX) || fseeko(file->stream_, static_cast<off_t>(offset), whence) != 0)
      return static_cast<toff_t>(-1);
    return static_cast<toff_t>(ftello(file->stream_));
  }
  if (whence == SEEK_CUR) offset += file->position_;
  if (whence == SEEK_END) offset += on_size(self);
  return file->position_ = offset;
}

toff_t TiffFile::on_size(thandle_t self) {
  auto* file = static_cast<TiffFile*>(self);
  if (file->source_) return file->source_->size().value_or(0);
  const off_t here = ftello(file->stream_);
  if (here < 0 || fseeko(file->stream_, 0, SEEK_END) != 0) return 0;
  const off_t size = ftello(file->stream_);
  if (fseeko(file->stream_, here, SEEK_SET) != 0 || size < 0) return 0;
  return static_cast<toff_t>(size);
}

}  // namespace fathom::io
