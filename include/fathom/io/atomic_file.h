// A file that appears whole or not at all.
#pragma once

#include <cstdio>
#include <filesystem>

namespace fathom::io {

/// A file written beside its target and renamed onto it by commit(); without commit() nothing is left behind. While the
/// process lives or when it is killed, the target holds the old file or the new one. The temporary file has no name until
/// commit() where the system can do that (O_TMPFILE), so that even SIGKILL leaves nothing behind.
class AtomicFile {
 public:
  /// @throws IoError the target's directory cannot be written, or the target is a directory
  explicit AtomicFile(std::filesystem::path target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::filesystem::path& target() const { return target_; }
  /// The stream to write to, owned by this object; seekable.
  std::FILE* stream() const { return stream_; }
  /// Throws IoError if a write failed (disk full), else makes the file durable and puts it in the target's place.
  void commit();

 private:
  void discard() noexcept;

  std::filesystem::path target_;
  std::filesystem::path temporary_;  // empty while the file has no name
  std::FILE* stream_ = nullptr;
};

}  // namespace fathom::io
