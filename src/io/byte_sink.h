// Bytes to write: into a stream, plain or through gzip.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>

namespace fathom::io {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  /// @throws IoError the target is full or broken
  virtual void write(const void* data, std::size_t count) = 0;
  /// Ends the stream; call once, after the last write. @throws IoError as write()
  virtual void finish() {}
};

/// Writes to a stream that somebody else owns.
class StreamSink final : public ByteSink {
 public:
  /// @param name  what error messages call the target
  StreamSink(std::string name, std::FILE* stream) : name_(std::move(name)), stream_(stream) {}
  void write(const void* data, std::size_t count) override;

 private:
  std::string name_;
  std::FILE* stream_;
};

/// Whether a stream goes to a file that begins with what is written, and can be read.
bool is_random_access(std::FILE* stream);

/// Compresses into another sink.
class GzipSink final : public ByteSink {
 public:
  explicit GzipSink(ByteSink& target);
  ~GzipSink() override;
  void write(const void* data, std::size_t count) override;
  void finish() override;

 private:
  struct Stream;
  void pump(int flush);

  ByteSink& target_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace fathom::io
