// Files that are written row after row, and gone on with after a crash.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "fathom/io/raster.h"
#include "io/byte_sink.h"

namespace fathom::io {

/// A stream to write to. A file's position is where the next byte goes.
struct Output {
  std::string name;
  std::FILE* stream = nullptr;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> owned{nullptr, &std::fclose};
};

/// What all such files have in common: a start, then rows of which the place is known. begin() or resume() comes first.
class RowFile : public RasterSink {
 public:
  RowFile(Output output, DType dtype, const Shape& shape, std::int64_t step)
      : dtype_(dtype), shape_(shape), step_(step), output_(std::move(output)), sink_(output_.name, output_.stream) {}

  virtual void begin() { put(start_.data(), start_.size()); }
  /// @throws IoError as resume_raster()
  void resume(std::int64_t rows);
  std::int64_t row_step() const final { return step_; }
  void write(const AnyConstView& rows) final;
  void sync() final;
  void finish() final;

 protected:
  virtual void put_rows(const AnyConstView& rows) = 0;
  /// Bytes of the file with so many rows.
  virtual std::uint64_t end_of(std::int64_t rows) const = 0;
  /// Clears what may differ between two starts of the same raster.
  virtual void forget_places(std::vector<std::byte>&) const {}

  void put(const void* bytes, std::size_t count) { sink_.write(bytes, count); }
  /// Only in files. Bytes beyond the end are zeros. @throws IoError
  void put_at(std::uint64_t offset, const void* bytes, std::size_t count);
  void get_at(std::uint64_t offset, void* bytes, std::size_t count) const;
  /// Where the next byte goes.
  void go_to(std::uint64_t offset);
  void flush();
  /// @throws IoError always: "NAME TEXT"
  [[noreturn]] void fail(const std::string& text) const;

  DType dtype_;
  Shape shape_;
  std::int64_t step_;
  std::int64_t done_ = 0;         ///< rows
  std::vector<std::byte> start_;  ///< what the file begins with

 private:
  Output output_;
  StreamSink sink_;
};

/// @throws InvalidArgument TIFF has no such tiles, or not as many
void check_tiff_sink(const Shape& shape, const RasterWriteOptions& options);
std::unique_ptr<RowFile> make_tiff_sink(Output output, DType dtype, const Shape& shape,
                                        const RasterWriteOptions& options);

}  // namespace fathom::io
