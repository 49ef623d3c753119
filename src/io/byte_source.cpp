#include "io/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "fathom/core/error.h"
#include "fathom/io/stream.h"
#include "io/sizes.h"

namespace fathom::io {

namespace {

std::string describe(int error) { return std::system_category().message(error); }

std::size_t read_some(const ByteSource& source, int descriptor, void* out, std::size_t count) {
  constexpr std::size_t kMostPerCall = std::size_t{1} << 30;
  for (;;) {
    const ssize_t got = ::read(descriptor, out, std::min(count, kMostPerCall));
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) source.fail("cannot be read: " + describe(errno));
  }
}

/// A descriptor, closed at the end if it is ours.
class Descriptor {
 public:
  Descriptor(int number, bool owned) : number_(number), owned_(owned) {}
  ~Descriptor() {
    if (owned_) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
  bool owned_;
};

/// A regular file, from where it stands, as standard input may.
class FileSource final : public ByteSource {
 public:
  FileSource(std::string name, std::unique_ptr<Descriptor> file, std::int64_t extent, Reading mode)
      : ByteSource(std::move(name)), file_(std::move(file)), mode_(mode) {
    const off_t start = lseek(file_->number(), 0, SEEK_CUR);
    if (start < 0) fail("cannot be read: " + describe(errno));
    start_ = static_cast<std::uint64_t>(start);
    size_ = static_cast<std::uint64_t>(std::max<std::int64_t>(extent, start)) - start_;
  }
  ~FileSource() override {
    if (mode_ == Reading::keep) (void)!lseek(file_->number(), static_cast<off_t>(start_), SEEK_SET);
  }
  std::optional<std::uint64_t> size() const override { return size_; }

 private:
  std::size_t read_raw(void* out, std::size_t count) override {
    return read_some(*this, file_->number(), out, count);
  }
  void seek_raw(std::uint64_t offset) override {
    if (lseek(file_->number(), static_cast<off_t>(start_ + offset), SEEK_SET) < 0)
      fail("cannot be read: " + describe(errno));
  }

  std::unique_ptr<Descriptor> file_;
  Reading mode_;
  std::uint64_t start_ = 0;
  std::uint64_t size_ = 0;
};

/// A pipe, FIFO, socket or terminal, and what was read from it and will be read again.
struct Pipe {
  std::unique_ptr<Descriptor> descriptor;
  std::vector<std::byte> aside;
};

/// Pipes that wait for their next opening. Two names of one pipe are one, and a FIFO that was opened stays so: opened
/// anew it would wait for another writer.
struct KeptPipes {
  using Key = std::pair<dev_t, ino_t>;
  std::mutex mutex;
  std::map<Key, std::unique_ptr<Pipe>> pipes;

  static KeptPipes& instance() {
    static KeptPipes the_instance;
    return the_instance;
  }
  std::unique_ptr<Pipe> take(const Key& key) {
    const std::lock_guard lock(mutex);
    const auto found = pipes.find(key);
    return found == pipes.end() ? nullptr : std::move(found->second);
  }
  void reserve(const Key& key) {
    const std::lock_guard lock(mutex);
    pipes.try_emplace(key);
  }
  /// Needs no memory where a place was reserved. @param pipe  null: it was read and is forgotten
  void put(const Key& key, std::unique_ptr<Pipe> pipe) {
    const std::lock_guard lock(mutex);
    if (pipe) pipes[key] = std::move(pipe);
    else pipes.erase(key);
  }
};

class PipeSource final : public ByteSource {
 public:
  PipeSource(std::string name, KeptPipes::Key key, std::unique_ptr<Pipe> pipe, Reading mode)
      : ByteSource(std::move(name)), key_(std::move(key)), pipe_(std::move(pipe)), mode_(mode) {
    KeptPipes::instance().reserve(key_);
  }
  ~PipeSource() override {
    KeptPipes::instance().put(key_, mode_ == Reading::keep ? std::move(pipe_) : nullptr);
  }
  std::optional<std::uint64_t> size() const override { return std::nullopt; }

 private:
  std::size_t read_raw(void* out, std::size_t count) override {
    std::vector<std::byte>& aside = pipe_->aside;
    if (used_ < aside.size()) {
      const std::size_t got = std::min(count, aside.size() - used_);
      std::memcpy(out, aside.data() + used_, got);
      used_ += got;
      return got;
    }
    const std::size_t got = read_some(*this, pipe_->descriptor->number(), out, count);
    if (mode_ == Reading::keep) {
      const auto* bytes = static_cast<const std::byte*>(out);
      aside.insert(aside.end(), bytes, bytes + got);
      used_ += got;
    }
    return got;
  }

  KeptPipes::Key key_;
  std::unique_ptr<Pipe> pipe_;
  Reading mode_;
  std::size_t used_ = 0;  // of what is put aside
};

/// A folder that calls itself an array or a group of arrays.
bool is_zarr(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const char* name : {".zarray", ".zgroup", "zarr.json"})
    if (std::filesystem::exists(folder / name, ignored)) return true;
  return false;
}

std::unique_ptr<Descriptor> open_descriptor(const std::filesystem::path& path, const std::string& name) {
  const int number = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (number < 0) throw IoError(name + " cannot be read: " + describe(errno));
  return std::make_unique<Descriptor>(number, true);
}

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
    fail("is truncated: " + std::to_string(got) + " of " + std::to_string(count) + " bytes of " + std::string(what) +
         " are there");
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

std::unique_ptr<ByteSource> open_source(const std::filesystem::path& path, Reading mode) {
  const bool standard = path == "-";
  const std::string name = standard ? "standard input" : path.string();
  const auto given = standard ? std::optional(STDIN_FILENO) : descriptor_of(path);
  struct stat state {};
  if ((given ? fstat(*given, &state) : stat(path.c_str(), &state)) != 0)
    throw IoError(name + " cannot be read: " + describe(errno));
  if (S_ISDIR(state.st_mode))
    throw IoError(name + (is_zarr(path) ? " is a Zarr folder, which is not read; save the array with numpy.save"
                                        : " is a directory; name a file in it"));
  if (S_ISSOCK(state.st_mode) && !given) throw IoError(name + " is a socket; name a file or a pipe");
  const auto opened = [&] {
    return given ? std::make_unique<Descriptor>(*given, false) : open_descriptor(path, name);
  };
  if (S_ISREG(state.st_mode))  // by a name such as /dev/stdin a file begins anew, as with any other program
    return std::make_unique<FileSource>(name, standard ? opened() : open_descriptor(path, name), state.st_size, mode);
  const KeptPipes::Key key(state.st_dev, state.st_ino);
  auto pipe = KeptPipes::instance().take(key);
  if (!pipe) pipe = std::make_unique<Pipe>(Pipe{opened(), {}});
  const bool endless = S_ISCHR(state.st_mode) && isatty(pipe->descriptor->number()) == 0;
  auto source = std::make_unique<PipeSource>(name, key, std::move(pipe), mode);
  if (endless && !source->peek(1).empty()) source->fail("is a device that never ends; name a file or a pipe");
  return source;
}

std::vector<std::byte> read_rest(ByteSource& source, std::uint64_t limit) {
  const std::uint64_t size = source.size().value_or(0), left = size - std::min(source.position(), size);
  std::vector<std::byte> bytes;
  std::size_t used = 0;
  for (;;) {
    if (std::max<std::uint64_t>(used, left) > limit)
      source.fail("is larger than the memory limit of " + format_bytes(limit));
    if (bytes.empty()) bytes.resize(source.size() ? static_cast<std::size_t>(left) + 1 : std::size_t{1} << 20);
    else if (used == bytes.size()) bytes.resize(used * 2);
    const std::size_t got = source.read(bytes.data() + used, bytes.size() - used);
    if (got == 0) break;
    used += got;
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace fathom::io
