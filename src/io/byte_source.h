// Bytes to read: from a file, a pipe, standard input or memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::io {

/// A stream with a small look-ahead. Large reads go straight to their destination.
class ByteSource {
 public:
  explicit ByteSource(std::string name) : name_(std::move(name)) {}
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// What error messages call it.
  const std::string& name() const { return name_; }
  /// Bytes from start to end where that is known; such a source can seek.
  virtual std::optional<std::uint64_t> size() const = 0;

  /// Reads up to `count` bytes; fewer only at the end. @throws IoError
  std::size_t read(void* out, std::size_t count);
  /// @throws IoError the source ends before `count` bytes; `what` names what they are
  void read_exactly(void* out, std::size_t count, std::string_view what);
  /// @throws IoError as read_exactly()
  void skip(std::uint64_t count, std::string_view what);
  /// The next bytes, at most `count` ≤ kLookAhead, without consuming them; fewer only at the end.
  std::span<const std::byte> peek(std::size_t count);
  /// Only for sources of known size. @param offset  from the start
  void seek(std::uint64_t offset);
  std::uint64_t position() const { return position_; }

  /// @throws IoError always: "NAME TEXT"
  [[noreturn]] void fail(const std::string& text) const;

  static constexpr std::size_t kLookAhead = std::size_t{1} << 15;

 protected:
  /// Up to `count` bytes; 0 only at the end.
  virtual std::size_t read_raw(void* out, std::size_t count) = 0;
  virtual void seek_raw(std::uint64_t offset);

 private:
  std::size_t buffered() const { return end_ - begin_; }
  std::size_t take_buffered(std::byte* out, std::size_t count);
  void fill(std::size_t wanted);

  std::string name_;
  std::uint64_t position_ = 0;
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;  // unread part of the buffer
  std::size_t end_ = 0;
};

/// Bytes that somebody else keeps, or (second form) that this object keeps.
class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string name, std::span<const std::byte> bytes) : ByteSource(std::move(name)), bytes_(bytes) {}
  MemorySource(std::string name, std::vector<std::byte> bytes)
      : ByteSource(std::move(name)), owned_(std::move(bytes)), bytes_(owned_) {}
  std::optional<std::uint64_t> size() const override { return bytes_.size(); }

 private:
  std::size_t read_raw(void* out, std::size_t count) override;
  void seek_raw(std::uint64_t offset) override { at_ = static_cast<std::size_t>(offset); }

  std::vector<std::byte> owned_;
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

/// What happens to the bytes of a pipe that were read: it cannot go back by itself.
enum class Reading { consume, keep };

/// Opens a file, a pipe, or standard input for "-".
/// @param mode  keep: the next opening finds the same bytes again; until then a FIFO stays open
/// @throws IoError missing, a directory or a device such as /dev/zero, or not to be read
std::unique_ptr<ByteSource> open_source(const std::filesystem::path& path, Reading mode);

/// All that is left of a source.
/// @throws IoError more than `limit` bytes
std::vector<std::byte> read_rest(ByteSource& source, std::uint64_t limit);

}  // namespace fathom::io
