// A file that appears whole or not at all.
#pragma once

#include <cstdio>
#include <filesystem>

namespace fathom::io {

/// A file written beside its target and renamed onto it by commit(); without commit() nothing is left behind.
///
/// When the process is killed, the target holds the old file or the new one. The temporary file has no name until
/// commit() where the system can do that (O_TMPFILE), so that even SIGKILL leaves nothing behind; a target that did
/// not exist then appears in one step. Replacing an existing target takes two (name the file, rename it): a kill
/// exactly between them leaves the old target, and beside it the complete new file as `.fathom-….tmp`. On file
/// systems without O_TMPFILE the temporary file has that name from the start.
///
/// A new file's permissions follow the umask; a replaced file's are kept. A symbolic link is followed. What is no
/// regular file (devices, FIFOs, "-" and /dev/stdout and /dev/fd/N for descriptors that are open already) is written
/// directly.
class AtomicFile {
 public:
  /// @throws IoError the target's directory cannot be written, or the target is a directory or write-protected
  explicit AtomicFile(std::filesystem::path target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// The path as the caller gave it.
  const std::filesystem::path& target() const { return target_; }
  /// The stream to write to, owned by this object; seekable where the target is a regular file.
  std::FILE* stream() const { return stream_; }
  /// Throws what making a file of this target would throw, and opens no FIFO, whose reader would see that end.
  static void check(const std::filesystem::path& target);
  /// All of commit() that takes time or may fail with the disk: throws IoError if a write failed, else makes the file
  /// durable. commit() does it by itself; of several files that shall appear together each is prepared before.
  void prepare();
  /// Throws IoError if a write failed (disk full), else makes the file durable and puts it in the target's place.
  void commit();

 private:
  void open_direct(int descriptor);
  void open_beside();
  void publish();
  void discard() noexcept;
  [[noreturn]] void fail(const char* what, int error) const;

  std::filesystem::path target_;
  std::filesystem::path resolved_;   // the target behind its symbolic links
  std::filesystem::path temporary_;  // empty while the file has no name
  std::FILE* stream_ = nullptr;
  bool direct_ = false;
};

/// Removes every temporary file that has a name, and lets none be made any more: for a process that ends at once.
void remove_temporary_files() noexcept;

}  // namespace fathom::io
