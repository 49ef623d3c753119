// Rasters that are read a part at a time: NPY and raw files by rows, what cannot be read in parts whole. TIFF has a
// file of its own.
#include "fathom/io/raster.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text.h"
#include "fathom/core/error.h"
#include "fathom/io/stream.h"
#include "io/convert.h"
#include "io/gunzip_source.h"
#include "io/npy_header.h"
#include "io/shared_file.h"
#include "io/signature.h"
#include "io/sizes.h"
#include "io/tiff_raster.h"

namespace fathom::io {

namespace {

constexpr std::size_t kSmallParts = std::size_t{1} << 10;  // of a source: names, numbers

/// How the elements of a file without compression are stored.
struct Elements {
  DType dtype = DType::uint8;
  bool half = false;
  bool swapped = false;
  bool packed = false;

  int bits() const { return packed ? 1 : 8 * (half ? 2 : static_cast<int>(size_of(dtype))); }
  /// @param from  in the file's bytes, which are changed @param first  element of it, where 8 are a byte
  void store(std::byte* from, std::size_t first, std::size_t count, std::byte* to) const {
    constexpr std::array<std::uint8_t, 16> kBool{0, 1};
    if (packed) return unpack_bits(from, first, count, 1, kBool, reinterpret_cast<std::uint8_t*>(to));
    if (swapped) swap_all(from, count, half ? 2 : size_of(dtype));
    if (half) {
      for (std::size_t i = 0; i < count; ++i)
        reinterpret_cast<float*>(to)[i] = half_to_float(load<std::uint16_t>(from + 2 * i));
      return;
    }
    std::copy_n(from, count * size_of(dtype), to);
    if (dtype == DType::boolean) make_bools(to, count);
  }
};

/// NPY and raw files.
class RowsSource final : public RasterSource {
 public:
  RowsSource(std::unique_ptr<SharedFile> file, const Shape& shape, const Elements& elements, std::uint64_t offset)
      : file_(std::move(file)), shape_(shape), elements_(elements) {
    rows_.offset = offset;
    rows_.pixel_bits = elements.bits();
    rows_.row_bytes = (static_cast<std::uint64_t>(shape[1]) * static_cast<std::uint64_t>(rows_.pixel_bits) + 7) / 8;
  }
  DType dtype() const override { return elements_.dtype; }
  std::int64_t height() const override { return shape_[0]; }
  std::int64_t width() const override { return shape_[1]; }
  void read(const Rectangle& part, const AnyView& out) const override {
    check_part(*this, part, out);
    file_->check_unchanged();
    visit_rows(*file_, rows_, part, [&](std::int64_t y, std::int64_t x, std::size_t count, std::byte* bytes) {
      elements_.store(bytes, static_cast<std::size_t>(x % 8), count, element_at(out, y - part.y0, x - part.x0));
    });
  }
  Shape piece() const override { return {1, width()}; }
  std::size_t kept_bytes() const override { return kSmallParts; }
  std::size_t bytes_of_read() const override { return rows_scratch(rows_.pixel_bits); }
  std::string fingerprint() const override { return file_->fingerprint(); }

 private:
  std::unique_ptr<SharedFile> file_;
  Shape shape_;
  Elements elements_;
  StoredRows rows_;
};

/// Pixels that are in memory.
class MemoryRaster final : public RasterSource {
 public:
  MemoryRaster(Array data, std::string fingerprint) : data_(std::move(data)), fingerprint_(std::move(fingerprint)) {
    if (fingerprint_.empty())
      fingerprint_ = "sum " + std::to_string(crc32_z(0, reinterpret_cast<const Bytef*>(data_.data()), data_.bytes()));
  }
  DType dtype() const override { return data_.dtype(); }
  std::int64_t height() const override { return data_.shape()[0]; }
  std::int64_t width() const override { return data_.shape()[1]; }
  void read(const Rectangle& part, const AnyView& out) const override {
    check_part(*this, part, out);
    const std::size_t size = size_of(dtype());
    for (std::int64_t y = part.y0; y < part.y1; ++y)
      std::copy_n(data_.data() + static_cast<std::size_t>(y * width() + part.x0) * size,
                  static_cast<std::size_t>(part.width()) * size, element_at(out, y - part.y0, 0));
  }
  Shape piece() const override { return {1, width()}; }
  std::size_t kept_bytes() const override { return data_.bytes() + kSmallParts; }
  std::size_t bytes_of_read() const override { return 0; }
  std::string fingerprint() const override { return fingerprint_; }

 private:
  Array data_;
  std::string fingerprint_;  // of the file; of what came through a pipe a sum
};

RasterFile open_whole(const std::filesystem::path& path, const ReadOptions& options) {
  const bool is_file = !is_nameless(path);
  std::string fingerprint = is_file ? SharedFile(path).fingerprint() : "";
  Image image = read(path, options);
  if (image.data.shape().rank() != 2)
    throw IoError((path == "-" ? "standard input" : path.string()) + " holds an array of " +
                  to_string(image.data.shape()) +
                  "; a raster has two axes and one value a pixel: save one image of it");
  return {std::make_shared<MemoryRaster>(std::move(image.data), std::move(fingerprint)), std::move(image.meaning),
          std::move(image.warnings)};
}

/// null: in Fortran order, whose rows are not in one place.
std::shared_ptr<const RasterSource> open_npy(std::unique_ptr<SharedFile> file) {
  SharedSource source(*file);
  const npy::Header header = npy::read_header(source);
  if (header.shape.rank() != 2) source.fail("holds an array of " + to_string(header.shape) + "; a raster has two axes");
  const std::uint64_t bytes = count_bytes(source, header.dtype, header.shape);
  check_holds(source, source.position(), bytes / size_of(header.dtype) * header.file_element_size());
  if (header.fortran && header.shape[0] > 1 && header.shape[1] > 1) return nullptr;
  const Elements elements{header.dtype, header.half, header.swapped};
  const std::uint64_t offset = source.position();
  return std::make_shared<RowsSource>(std::move(file), header.shape, elements, offset);
}

}  // namespace

SquarePixel square_pixel(const Meaning& meaning) {
  const std::vector<double> spacing = meaning.spacing();
  if (spacing.size() != 2) return {};
  constexpr double kSame = 1e-6;
  if (meaning.georeference.find("degree") != std::string::npos) return {1, "", "its pixels are in degrees"};
  if (std::abs(spacing[0] - spacing[1]) > kSame * spacing[0])
    return {1, "", "its pixels are " + text(spacing[0]) + " × " + text(spacing[1]) + ", not square"};
  return {spacing[0], meaning.unit(), ""};
}

Meaning meaning_of(const SquarePixel& pixel) {
  if (pixel.size == 1 && pixel.unit.empty()) return {};
  Meaning meaning{pixel.size, pixel.size};
  meaning.axes[0].name = 'y';
  meaning.axes[1].name = 'x';
  for (Axis& axis : meaning.axes) axis.unit = pixel.unit;
  return meaning;
}

RasterFile open_raster(const std::filesystem::path& path, const ReadOptions& options) {
  if (is_nameless(path)) return open_whole(path, options);
  const auto source = open_source(path, Reading::consume);
  const Format found = options.format != Format::automatic ? options.format : format_of(source->peek(kSignatureBytes));
  if (is_gzip(*source) || (found != Format::npy && found != Format::tiff)) return open_whole(path, options);
  auto file = std::make_unique<SharedFile>(path);
  if (found == Format::tiff) return open_tiff_raster(std::move(file), options);
  auto rows = open_npy(std::move(file));
  return rows ? RasterFile{std::move(rows), {}, {}} : open_whole(path, options);
}

std::shared_ptr<const RasterSource> open_raw_raster(const std::filesystem::path& path, const RawLayout& layout,
                                                    bool packed) {
  if (layout.shape.rank() != 2) throw InvalidArgument("a raster has two axes, not " + to_string(layout.shape));
  if (packed && layout.dtype != DType::boolean)
    throw InvalidArgument("8 pixels a byte are bool, not " + std::string(name_of(layout.dtype)));
  auto file = std::make_unique<SharedFile>(path);
  const SharedSource source(*file);
  std::uint64_t bytes = count_bytes(source, layout.dtype, layout.shape);
  if (packed)
    bytes = static_cast<std::uint64_t>(layout.shape[0]) * ((static_cast<std::uint64_t>(layout.shape[1]) + 7) / 8);
  if (file->size() != bytes)
    file->fail("holds " + std::to_string(file->size()) + " bytes, but " + to_string(layout.shape) + " of " +
               (packed ? "packed " : "") + std::string(name_of(layout.dtype)) + " are " + std::to_string(bytes));
  const Elements elements{layout.dtype, false, layout.big_endian, packed};
  return std::make_shared<RowsSource>(std::move(file), layout.shape, elements, 0);
}

}  // namespace fathom::io
