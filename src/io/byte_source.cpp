#include "io/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <system_error>

#include "fathom/core/error.h"
#include "io/sizes.h"

namespace fathom::io {

namespace {

std::string describe(int error) { return std::system_category().message(error); }

/// An open descriptor. One that can seek starts where it stands, as standard input may.
class DescriptorSource : public ByteSource {
 public:
  DescriptorSource(std::string name, int descriptor, bool owned)
      : ByteSource(std::move(name)), descriptor_(descriptor), owned_(owned) {
    struct stat state {};
    if (fstat(descriptor_, &state) != 0 || !S_ISREG(state.st_mode)) return;
    const off_t start = lseek(descriptor_, 0, SEEK_CUR);
    if (start < 0) return;
    start_ = static_cast<std::uint64_t>(start);
    size_ = static_cast<std::uint64_t>(std::max(state.st_size, start)) - start_;
  }
  ~DescriptorSource() override {
    if (owned_) close(descriptor_);
  }
  std::optional<std::uint64_t> size() const override { return size_; }

 protected:
  std::size_t read_raw(void* out, std::size_t count) override {
    constexpr std::size_t kMostPerCall = std::size_t{1} << 30;
    for (;;) {
      const ssize_t got = ::read(descriptor_, out, std::min(count, kMostPerCall));
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) fail("cannot be read: " + describe(errno));
    }
  }
  void seek_raw(std::uint64_t offset) override {
    if (lseek(descriptor_, static_cast<off_t>(start_ + offset), SEEK_SET) < 0)
      fail("cannot be read: " + describe(errno));
  }
  void rewind() noexcept { (void)!lseek(descriptor_, static_cast<off_t>(start_), SEEK_SET); }

 private:
  int descriptor_;
  bool owned_;
  std::uint64_t start_ = 0;
  std::optional<std::uint64_t> size_;
};

/// Standard input. What a `keep` source took from a pipe is put aside, and the next source begins with it.
class StandardInputSource final : public DescriptorSource {
 public:
  explicit StandardInputSource(StandardInput mode)
      : DescriptorSource("standard input", STDIN_FILENO, false), keep_(mode == StandardInput::keep) {
    std::lock_guard lock(mutex());
    again_.swap(aside());
  }
  ~StandardInputSource() override {
    if (!keep_) return;
    if (size()) {
      rewind();
      return;
    }
    taken_.insert(taken_.end(), again_.begin() + static_cast<std::ptrdiff_t>(used_), again_.end());
    std::lock_guard lock(mutex());
    aside().swap(taken_);
  }

 private:
  std::size_t read_raw(void* out, std::size_t count) override {
    const std::size_t got = used_ < again_.size() ? read_again(out, count) : DescriptorSource::read_raw(out, count);
    const auto* bytes = static_cast<const std::byte*>(out);
    if (keep_ && !size()) taken_.insert(taken_.end(), bytes, bytes + got);
    return got;
  }
  std::size_t read_again(void* out, std::size_t count) {
    const std::size_t got = std::min(count, again_.size() - used_);
    std::memcpy(out, again_.data() + used_, got);
    used_ += got;
    return got;
  }
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  static std::vector<std::byte>& aside() {
    static std::vector<std::byte> bytes;
    return bytes;
  }

  bool keep_;
  std::vector<std::byte> again_;  // put aside by an earlier source
  std::size_t used_ = 0;          // of again_
  std::vector<std::byte> taken_;
};

}  // namespace

void ByteSource::fail(const std::string& text) const { throw IoError(name_ + " " + text); }

void ByteSource::seek_raw(std::uint64_t) { throw InternalError(name_ + " cannot seek"); }

std::size_t ByteSource::take_buffered(std::byte* out, std::size_t count) {
  const std::size_t taken = std::min(count, buffered());
  if (taken > 0) std::memcpy(out, buffer_.data() + begin_, taken);
  begin_ += taken;
  return taken;
}

void ByteSource::fill(std::size_t wanted) {
  if (buffer_.empty()) buffer_.resize(kLookAhead);
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, buffered());
    end_ -= begin_;
    begin_ = 0;
  }
  while (buffered() < wanted) {
    const std::size_t got = read_raw(buffer_.data() + end_, buffer_.size() - end_);
    if (got == 0) return;
    end_ += got;
  }
}

std::size_t ByteSource::read(void* out, std::size_t count) {
  auto* to = static_cast<std::byte*>(out);
  std::size_t done = take_buffered(to, count);
  while (done < count) {
    std::size_t got = 0;
    if (count - done >= kLookAhead) {
      begin_ = end_ = 0;  // what was buffered lies behind
      got = read_raw(to + done, count - done);
    } else {
      fill(1);
      got = take_buffered(to + done, count - done);
    }
    if (got == 0) break;
    done += got;
  }
  position_ += done;
  return done;
}

void ByteSource::read_exactly(void* out, std::size_t count, std::string_view what) {
  const std::size_t got = read(out, count);
  if (got < count)
    fail("is truncated: " + std::string(what) + " ends after " + std::to_string(got) + " of " +
         std::to_string(count) + " bytes");
}

void ByteSource::skip(std::uint64_t count, std::string_view what) {
  if (const auto total = size()) {
    if (count > *total - std::min(position_, *total)) fail("is truncated before " + std::string(what));
    seek(position_ + count);
    return;
  }
  std::vector<std::byte> waste(static_cast<std::size_t>(std::min<std::uint64_t>(count, kLookAhead)));
  while (count > 0) {
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(count, waste.size()));
    if (read(waste.data(), step) < step) fail("is truncated before " + std::string(what));
    count -= step;
  }
}

std::span<const std::byte> ByteSource::peek(std::size_t count) {
  if (buffered() < count) fill(count);
  return {buffer_.data() + begin_, std::min(count, buffered())};
}

void ByteSource::seek(std::uint64_t offset) {
  const std::uint64_t buffer_start = position_ - begin_;  // what the buffer's first byte is in the source
  if (offset >= buffer_start && offset - buffer_start <= end_) {
    begin_ = static_cast<std::size_t>(offset - buffer_start);
  } else {
    seek_raw(offset);
    begin_ = end_ = 0;
  }
  position_ = offset;
}

std::size_t MemorySource::read_raw(void* out, std::size_t count) {
  const std::size_t got = at_ < bytes_.size() ? std::min(count, bytes_.size() - at_) : 0;
  if (got > 0) std::memcpy(out, bytes_.data() + at_, got);
  at_ += got;
  return got;
}

std::unique_ptr<ByteSource> open_source(const std::filesystem::path& path, StandardInput mode) {
  if (path == "-") return std::make_unique<StandardInputSource>(mode);
  const std::string name = path.string();
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw IoError(name + " cannot be read: " + describe(errno));
  auto source = std::make_unique<DescriptorSource>(name, descriptor, true);
  struct stat state {};
  if (fstat(descriptor, &state) == 0 && S_ISDIR(state.st_mode)) source->fail("is a directory; name a file in it");
  return source;
}

std::vector<std::byte> read_rest(ByteSource& source, std::uint64_t limit) {
  std::vector<std::byte> bytes;
  std::size_t used = 0;
  for (;;) {
    if (used > limit) source.fail("is larger than the memory limit of " + format_bytes(limit));
    if (used == bytes.size()) bytes.resize(std::max<std::size_t>(std::size_t{1} << 20, used * 2));
    const std::size_t got = source.read(bytes.data() + used, bytes.size() - used);
    if (got == 0) break;
    used += got;
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace fathom::io
