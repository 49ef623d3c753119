// Files that appear whole or not at all: written without a name (O_TMPFILE) or beside the target, made durable,
// renamed.
//
// Why rename and not linkat alone: linkat cannot replace a file. Why not write in place: a reader, or a kill, would
// meet half a file; and the input may be the target.
#include "fathom/io/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "fathom/core/error.h"
#include "fathom/io/stream.h"

namespace fathom::io {

namespace {

namespace fs = std::filesystem;

std::string describe(int error) { return std::system_category().message(error); }

/// Follows symbolic links, also one whose own target does not exist yet.
fs::path follow_links(fs::path path) {
  constexpr int kMostLinks = 40;  // as Linux
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(fs::symlink_status(path, error)); ++i) {
    const fs::path next = fs::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / next;  // an absolute `next` replaces all
  }
  return path;
}

fs::path directory_of(const fs::path& path) {
  const fs::path parent = path.parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

fs::path random_name_in(const fs::path& directory) {
  std::random_device random;
  const std::uint64_t number = (std::uint64_t{random()} << 32) | random();
  char text[32];
  std::snprintf(text, sizeof text, ".fathom-%016llx.tmp", static_cast<unsigned long long>(number));
  return directory / text;
}

/// The temporary files that have names. Never destroyed: a signal may ask for them while the process ends.
struct Temporaries {
  std::mutex mutex;
  std::set<fs::path> names;
};
Temporaries& temporaries() {
  static auto* const instance = new Temporaries;
  return *instance;
}

void forget_temporary(const fs::path& name) {
  const std::lock_guard lock(temporaries().mutex);
  temporaries().names.erase(name);
}

/// Tries names until `make` succeeds or fails for another reason than a name in use. Returns the name, or sets errno.
template <class Make>
std::optional<fs::path> with_free_name(const fs::path& directory, Make make) {
  const std::lock_guard lock(temporaries().mutex);
  for (int i = 0; i < 100; ++i) {
    fs::path name = random_name_in(directory);
    if (make(name.c_str()) >= 0) return *temporaries().names.insert(std::move(name)).first;
    if (errno != EEXIST) break;
  }
  return std::nullopt;
}

std::string proc_path(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

/// A file without a name, or −1 where the system cannot do that.
int open_nameless(const fs::path& directory) {
#ifdef O_TMPFILE
  if (access("/proc/self/fd", X_OK) != 0) return -1;  // without /proc it could not get a name later
  return open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
#else
  (void)directory;
  return -1;
#endif
}

/// Gives the new file the owner and permissions of the file that it replaces, as far as this process may.
void inherit(int descriptor, const struct stat& old) {
  struct stat fresh {};
  if (fstat(descriptor, &fresh) == 0 && (fresh.st_uid != old.st_uid || fresh.st_gid != old.st_gid))
    if (fchown(descriptor, old.st_uid, old.st_gid) != 0) errno = 0;  // another's file becomes ours, as with any editor
  if (fchmod(descriptor, old.st_mode & 0777) != 0) errno = 0;
}

/// fsync, where the file system knows it. Large files go to the disk in pieces before: nothing, not even SIGKILL, ends
/// a process while it waits for a disk, and of a slow disk that may be minutes. Returns 0 or errno.
int make_durable(int descriptor) {
#ifdef SYNC_FILE_RANGE_WRITE
  constexpr off_t kPiece = off_t{1} << 22;
  constexpr unsigned kWritten = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  struct stat state {};
  const off_t size = fstat(descriptor, &state) == 0 ? state.st_size : 0;
  for (off_t at = 0; at < size; at += kPiece)
    if (sync_file_range(descriptor, at, kPiece, kWritten) != 0) break;  // fsync will say what is wrong
#endif
  while (fsync(descriptor) != 0) {
    if (errno == EINTR) continue;
    return errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : errno;
  }
  return 0;
}

void make_directory_durable(const fs::path& directory) {
  const int descriptor = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;  // the data is safe; only the name might be lost with the power
  make_durable(descriptor);
  close(descriptor);
}

}  // namespace

AtomicFile::AtomicFile(fs::path target) : target_(std::move(target)) {
  if (target_.empty()) throw InvalidArgument("the output file has no name; name one, or - for standard output");
  if (const auto descriptor = target_ == "-" ? std::optional(STDOUT_FILENO) : descriptor_of(target_)) {
    open_direct(fcntl(*descriptor, F_DUPFD_CLOEXEC, 0));
    return;
  }
  resolved_ = follow_links(target_);
  struct stat old {};
  if (stat(resolved_.c_str(), &old) != 0) {
    if (errno != ENOENT) fail("cannot be written", errno);
    if (resolved_.filename().empty()) fail("is no file name", ENOENT);
    open_beside();
    return;
  }
  if (S_ISDIR(old.st_mode)) fail("is a directory; name a file in it", 0);
  if (!S_ISREG(old.st_mode)) {
    open_direct(open(resolved_.c_str(), O_WRONLY | O_CLOEXEC));
    return;
  }
  if (faccessat(AT_FDCWD, resolved_.c_str(), W_OK, AT_EACCESS) != 0) fail("cannot be written", errno);
  open_beside();
  inherit(fileno(stream_), old);
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::open_direct(int descriptor) {
  direct_ = true;
  if (descriptor < 0) fail("cannot be written", errno);
  stream_ = fdopen(descriptor, "wb");
  if (stream_) return;
  const int error = errno;
  close(descriptor);
  fail("cannot be written", error);
}

void AtomicFile::open_beside() {
  const fs::path directory = directory_of(resolved_);
  int descriptor = open_nameless(directory);
  if (descriptor < 0) {
    const auto name = with_free_name(directory, [&](const char* path) {
      return descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
    });
    if (!name) fail("cannot be written: its directory takes no new file", errno);
    temporary_ = *name;
  }
  stream_ = fdopen(descriptor, "w+b");
  if (stream_) return;
  const int error = errno;
  close(descriptor);
  discard();
  fail("cannot be written", error);
}

void AtomicFile::check(const fs::path& target) {
  struct stat state {};
  if (stat(target.c_str(), &state) == 0 && S_ISFIFO(state.st_mode) && access(target.c_str(), W_OK) == 0) return;
  const AtomicFile probe(target);
}

void AtomicFile::prepare() {
  if (!stream_) throw InternalError("a file was committed twice");
  // An earlier write failed unseen; errno is its reason unless something else failed since.
  if (ferror(stream_)) fail("cannot be written", errno != 0 ? errno : EIO);
  if (fflush(stream_) != 0) fail("cannot be written", errno);
  if (direct_) return;
  if (const int error = make_durable(fileno(stream_))) fail("cannot be written", error);
}

void AtomicFile::commit() {
  prepare();
  if (!direct_) publish();
  std::FILE* stream = std::exchange(stream_, nullptr);
  if (fclose(stream) != 0) fail("cannot be written", errno);
}

void AtomicFile::publish() {
  const fs::path directory = directory_of(resolved_);
  if (temporary_.empty()) {
    const std::string nameless = proc_path(fileno(stream_));
    const auto link_as = [&](const char* path) {
      return linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, path, AT_SYMLINK_FOLLOW);
    };
    if (link_as(resolved_.c_str()) == 0) {
      make_directory_durable(directory);
      return;
    }
    if (errno != EEXIST) fail("cannot be put in place", errno);
    const auto name = with_free_name(directory, link_as);
    if (!name) fail("cannot be put in place", errno);
    temporary_ = *name;
  }
  if (rename(temporary_.c_str(), resolved_.c_str()) != 0) fail("cannot be put in place", errno);
  forget_temporary(std::exchange(temporary_, fs::path()));
  make_directory_durable(directory);
}

void AtomicFile::discard() noexcept {
  if (stream_) fclose(stream_);
  stream_ = nullptr;
  if (temporary_.empty()) return;
  unlink(temporary_.c_str());
  forget_temporary(std::exchange(temporary_, fs::path()));
}

void AtomicFile::fail(const char* what, int error) const {
  const std::string name = target_ == "-" ? "standard output" : target_.string();
  throw IoError(name + " " + what + (error != 0 ? ": " + describe(error) : ""));
}

void remove_temporary_files() noexcept {
  temporaries().mutex.lock();  // for good: nobody makes a new one
  for (const fs::path& name : temporaries().names) unlink(name.c_str());
}

}  // namespace fathom::io
