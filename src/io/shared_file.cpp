#include "io/shared_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "fathom/core/error.h"

namespace fathom::io {

SharedFile::SharedFile(const std::filesystem::path& path) : name_(path.string()) {
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat state {};
  const bool known = descriptor_ >= 0 && fstat(descriptor_, &state) == 0;
  const int error = errno;
  if (known && S_ISREG(state.st_mode)) {
    size_ = static_cast<std::uint64_t>(state.st_size);
    changed_ = state.st_mtim;
    return;
  }
  if (descriptor_ >= 0) close(descriptor_);
  fail(known ? "is no file whose parts can be read; name a file"
             : "cannot be read: " + std::system_category().message(error));
}

SharedFile::~SharedFile() { close(descriptor_); }

void SharedFile::fail(const std::string& text) const { throw IoError(name_ + " " + text); }

std::string SharedFile::fingerprint() const {
  return std::to_string(size_) + " bytes, changed " + std::to_string(changed_.tv_sec) + "." +
         std::to_string(1000000000 + changed_.tv_nsec).substr(1);
}

void SharedFile::check_unchanged() const {
  struct stat state {};
  if (fstat(descriptor_, &state) != 0) fail("cannot be read: " + std::system_category().message(errno));
  if (static_cast<std::uint64_t>(state.st_size) != size_ || state.st_mtim.tv_sec != changed_.tv_sec ||
      state.st_mtim.tv_nsec != changed_.tv_nsec)
    fail("was changed while it was read; begin again when it is complete");
}

std::size_t SharedFile::read(std::uint64_t offset, void* out, std::size_t count) const {
  constexpr std::size_t kMostPerCall = std::size_t{1} << 30;
  std::size_t done = 0;
  while (done < count && offset + done < size_) {
    const ssize_t got = pread(descriptor_, static_cast<std::byte*>(out) + done, std::min(count - done, kMostPerCall),
                              static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot be read: " + std::system_category().message(errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void SharedFile::read_exactly(std::uint64_t offset, void* out, std::size_t count, std::string_view what) const {
  if (read(offset, out, count) == count) return;
  check_unchanged();
  fail("is truncated: " + std::string(what) + " at byte " + std::to_string(offset) + " end behind the file's " +
       std::to_string(size_));
}

void check_part(const RasterSource& source, const Rectangle& part, const AnyView& out) {
  if (!Rectangle{0, 0, source.height(), source.width()}.contains(part))
    throw InvalidArgument("rows " + std::to_string(part.y0) + " to " + std::to_string(part.y1) + " and columns " +
                          std::to_string(part.x0) + " to " + std::to_string(part.x1) + " lie outside the raster of " +
                          to_string({source.height(), source.width()}));
  if (out.dtype() != source.dtype() || !(out.shape() == part.shape()))
    throw InvalidArgument("a part of " + to_string(part.shape()) + " " + std::string(name_of(source.dtype())) +
                          " is read into " + to_string(out.shape()) + " " + std::string(name_of(out.dtype())));
}

}  // namespace fathom::io
