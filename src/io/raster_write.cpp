// Rasters that are written row after row: NPY and raw files, and what all such files have in common.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "fathom/core/error.h"
#include "fathom/io/stream.h"
#include "io/convert.h"
#include "io/formats.h"
#include "io/row_file.h"
#include "io/rows.h"

namespace fathom::io {

namespace {

std::string reason() { return ": " + std::system_category().message(errno); }

/// NPY, and with an empty start raw elements.
class PlainFile final : public RowFile {
 public:
  PlainFile(Output output, DType dtype, const Shape& shape, const RasterWriteOptions& options)
      : RowFile(std::move(output), dtype, shape, 1), packed_(options.packed) {
    const auto width = static_cast<std::uint64_t>(shape[1]);
    row_bytes_ = packed_ ? (width + 7) / 8 : width * size_of(dtype);
    if (options.raw) return;
    struct Start final : ByteSink {
      explicit Start(std::vector<std::byte>& out) : bytes(out) {}
      void write(const void* data, std::size_t count) override {
        const auto* from = static_cast<const std::byte*>(data);
        bytes.insert(bytes.end(), from, from + count);
      }
      std::vector<std::byte>& bytes;
    } start(start_);
    npy::write_header(start, npy::descr_of(dtype), shape);
  }

 private:
  void put_rows(const AnyConstView& rows) override {
    if (!packed_) return for_each_run(rows, [&](const std::byte* run, std::size_t bytes) { put(run, bytes); });
    std::vector<std::byte> bits(row_bytes_);
    for (std::int64_t y = 0; y < rows.shape()[0]; ++y) {
      pack_bits(rows.data() + y * rows.strides()[0], static_cast<std::size_t>(rows.shape()[1]), bits.data());
      put(bits.data(), bits.size());
    }
  }
  std::uint64_t end_of(std::int64_t rows) const override {
    return start_.size() + static_cast<std::uint64_t>(rows) * row_bytes_;
  }

  bool packed_;
  std::uint64_t row_bytes_ = 0;
};

/// The format that is written; automatic: raw.
Format choose(const std::filesystem::path& path, DType dtype, const Shape& shape, const RasterWriteOptions& options) {
  if (shape[0] < 0 || shape[1] < 0) throw InvalidArgument("a raster cannot have " + to_string(shape) + " pixels");
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(element_count(shape)), size_of(dtype), &bytes) ||
      bytes > INT64_MAX)
    throw InvalidArgument("the bytes of " + to_string(shape) + " pixels cannot be counted");
  if (options.packed && dtype != DType::boolean)
    throw InvalidArgument("8 pixels a byte are bool, not " + std::string(name_of(dtype)) +
                          "; threshold them, or leave it out");
  if (options.raw) {
    if (options.compress) throw InvalidArgument("raw files are not compressed; leave it out, or write .tif");
    return Format::automatic;
  }
  const Format format = check_write(path, dtype, shape, options.meaning, {options.format, options.compress});
  if (format != Format::npy && format != Format::tiff)
    throw InvalidArgument(std::string(title_of(format)) + " cannot be written row after row; write .tif, .npy or raw");
  if (format == Format::npy && options.packed)
    throw InvalidArgument("NPY holds no 8 pixels a byte; write .tif or raw, or leave it out");
  if (format == Format::tiff) check_tiff_sink(shape, options);
  return format;
}

std::unique_ptr<RowFile> make_sink(Output output, DType dtype, const Shape& shape, const RasterWriteOptions& options,
                                   Format format) {
  if (format == Format::tiff) return make_tiff_sink(std::move(output), dtype, shape, options);
  return std::make_unique<PlainFile>(std::move(output), dtype, shape, options);
}

}  // namespace

void RowFile::fail(const std::string& text) const { throw IoError(output_.name + " " + text); }

void RowFile::write(const AnyConstView& rows) {
  if (rows.rank() != 2 || rows.shape()[1] != shape_[1] || rows.dtype() != dtype_)
    throw InvalidArgument("rows of " + to_string(rows.shape()) + " " + std::string(name_of(rows.dtype())) +
                          " do not fit a raster of " + to_string(shape_) + " " + std::string(name_of(dtype_)));
  const std::int64_t count = rows.shape()[0], left = shape_[0] - done_;
  if (count > left || (count != left && count % step_ != 0))
    throw InvalidArgument("the next rows must be a multiple of " + std::to_string(step_) + " or the last " +
                          std::to_string(left) + ", not " + std::to_string(count));
  put_rows(rows);
  done_ += count;
}

void RowFile::flush() {
  if (std::fflush(output_.stream) != 0) fail("cannot be written" + reason());
}

void RowFile::sync() {
  flush();
  while (fsync(fileno(output_.stream)) != 0) {
    if (errno == EINVAL || errno == ENOTSUP || errno == EROFS) return;  // pipes and the like
    if (errno != EINTR) fail("cannot be written" + reason());
  }
}

void RowFile::finish() {
  if (done_ != shape_[0])
    throw InvalidArgument(output_.name + " has " + std::to_string(done_) + " of " + std::to_string(shape_[0]) +
                          " rows");
  if (output_.owned) sync();
  else flush();
}

void RowFile::put_at(std::uint64_t offset, const void* bytes, std::size_t count) {
  flush();
  const auto* from = static_cast<const std::byte*>(bytes);
  while (count > 0) {
    const ssize_t put = pwrite(fileno(output_.stream), from, count, static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) fail("cannot be written" + reason());
    from += put;
    offset += static_cast<std::uint64_t>(put);
    count -= static_cast<std::size_t>(put);
  }
}

void RowFile::get_at(std::uint64_t offset, void* bytes, std::size_t count) const {
  if (pread(fileno(output_.stream), bytes, count, static_cast<off_t>(offset)) != static_cast<ssize_t>(count))
    fail("ends before its rows; begin anew");
}

void RowFile::go_to(std::uint64_t offset) {
  if (fseeko(output_.stream, static_cast<off_t>(offset), SEEK_SET) != 0) fail("cannot be written" + reason());
}

void RowFile::resume(std::int64_t rows) {
  std::vector<std::byte> found(start_.size()), wanted = start_;
  get_at(0, found.data(), found.size());
  forget_places(found);
  forget_places(wanted);
  if (found != wanted) fail("begins otherwise than this raster does; begin anew");
  const std::uint64_t end = end_of(rows);
  struct stat state {};
  if (fstat(fileno(output_.stream), &state) != 0 || static_cast<std::uint64_t>(state.st_size) < end)
    fail("has not the " + std::to_string(rows) + " rows behind which to go on; begin anew");
  if (ftruncate(fileno(output_.stream), static_cast<off_t>(end)) != 0) fail("cannot be cut" + reason());
  go_to(end);
  done_ = rows;
}

std::unique_ptr<RasterSink> create_raster(AtomicFile& file, DType dtype, std::int64_t height, std::int64_t width,
                                          const RasterWriteOptions& options) {
  const Shape shape{height, width};
  const Format format = choose(file.target(), dtype, shape, options);
  Output output{file.target() == "-" ? "standard output" : file.target().string(), file.stream()};
  if (options.compress && !is_random_access(output.stream))
    throw InvalidArgument(output.name +
                          " takes no deflated TIFF row after row, which goes back to say where tiles lie; write to a "
                          "file, or leave compression out");
  auto sink = make_sink(std::move(output), dtype, shape, options, format);
  sink->begin();
  return sink;
}

std::unique_ptr<RasterSink> resume_raster(const std::filesystem::path& path, DType dtype, std::int64_t height,
                                          std::int64_t width, const RasterWriteOptions& options, std::int64_t rows) {
  const Shape shape{height, width};
  const Format format = choose(path, dtype, shape, options);
  if (is_nameless(path)) throw InvalidArgument(path.string() + " keeps nothing to go on with; name a file");
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC | (rows == 0 ? O_CREAT | O_TRUNC : 0), 0666);
  std::FILE* const stream = descriptor < 0 ? nullptr : fdopen(descriptor, "r+b");
  if (!stream) throw IoError(path.string() + " cannot be written" + reason());
  Output output{path.string(), stream};
  output.owned.reset(stream);
  auto sink = make_sink(std::move(output), dtype, shape, options, format);
  if (rows < 0 || rows > height || (rows < height && rows % sink->row_step() != 0))
    throw InvalidArgument("a raster of " + std::to_string(height) + " rows goes on behind a multiple of " +
                          std::to_string(sink->row_step()) + " rows, not behind " + std::to_string(rows));
  if (rows > 0) sink->resume(rows);
  else sink->begin();
  return sink;
}

}  // namespace fathom::io
