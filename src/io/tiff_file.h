// libtiff over our own sources and streams: without global state, without printing, within a memory limit.
#pragma once

#include <tiffio.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

#include "io/byte_source.h"

namespace fathom::io {

/// An open TIFF. libtiff's first message of an operation is kept for the error; exceptions do not cross its frames.
class TiffFile {
 public:
  /// Opens for reading. @throws IoError no TIFF
  /// @param most_bytes  of any one allocation of libtiff
  /// @param with_offsets  of all tiles or strips, 16 bytes each; without them libtiff looks up what it needs
  TiffFile(ByteSource& source, std::uint64_t most_bytes, bool with_offsets = true);
  /// Opens for writing. @param stream  seekable and readable
  TiffFile(std::string name, std::FILE* stream, bool big);
  ~TiffFile() { close(); }
  TiffFile(const TiffFile&) = delete;
  TiffFile& operator=(const TiffFile&) = delete;

  TIFF* get() const { return tiff_; }
  /// Value of a tag, or what the standard says without it.
  template <class T>
  T field(std::uint32_t tag, T otherwise = 0) const {
    T value = otherwise;
    return TIFFGetFieldDefaulted(tiff_, tag, &value) ? value : otherwise;
  }
  /// Forgets messages of what went well.
  void clear_message() { message_[0] = '\0'; }
  /// @throws IoError always: what failed, with libtiff's reason; or what a source or stream threw meanwhile
  [[noreturn]] void fail(const std::string& what) const;
  /// @throws IoError what is still to be written cannot be
  void finish_writing();

 private:
  void close() noexcept;
  void open(const char* mode, std::uint64_t most_bytes);
  void keep(const char* module, const char* format, va_list arguments) noexcept;
  static int on_error(TIFF*, void* self, const char* module, const char* format, va_list arguments);
  static int on_warning(TIFF*, void* self, const char* module, const char* format, va_list arguments);
  static tmsize_t on_read(thandle_t self, void* out, tmsize_t count);
  static tmsize_t on_write(thandle_t self, void* data, tmsize_t count);
  static toff_t on_seek(thandle_t self, toff_t offset, int whence);
  static toff_t on_size(thandle_t self);
  static int on_close(thandle_t) { return 0; }

  std::string name_;
  ByteSource* source_ = nullptr;
  std::FILE* stream_ = nullptr;
  std::uint64_t position_ = 0;  // when reading
  TIFF* tiff_ = nullptr;
  std::exception_ptr caught_;
  std::array<char, 160> message_{};
};

}  // namespace fathom::io
