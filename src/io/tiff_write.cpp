// Writing TIFF and BigTIFF through libtiff: a page for each plane, its rows in strips of about 1 MiB, plain or
// deflated.
#include <algorithm>
#include <cerrno>
#include <limits>
#include <memory>
#include <system_error>
#include <vector>

#include "fathom/core/error.h"
#include "io/convert.h"
#include "io/formats.h"
#include "io/tiff_file.h"
#include "io/tiff_meaning.h"

namespace fathom::io::tiff {

namespace {

constexpr std::uint64_t kStripBytes = std::uint64_t{1} << 20;  // large enough for the disk, small enough to seek in

struct PageLayout {
  std::uint32_t width = 0, height = 0, rows_per_strip = 0;
  std::size_t row_bytes = 0;  ///< in the file
  DType dtype = DType::uint8;
};

PageLayout layout_of(const AnyConstView& data) {
  PageLayout layout;
  layout.width = static_cast<std::uint32_t>(data.shape()[data.rank() - 1]);
  layout.height = static_cast<std::uint32_t>(data.shape()[data.rank() - 2]);
  layout.dtype = data.dtype();
  layout.row_bytes = data.dtype() == DType::boolean ? (std::size_t{layout.width} + 7) / 8
                                                    : layout.width * size_of(data.dtype());
  const std::uint64_t rows = std::max<std::uint64_t>(1, kStripBytes / layout.row_bytes);
  layout.rows_per_strip = static_cast<std::uint32_t>(std::min<std::uint64_t>(rows, layout.height));
  return layout;
}

void set_tags(TiffFile& file, const PageLayout& layout, bool compress) {
  const bool floats = layout.dtype == DType::float32 || layout.dtype == DType::float64;
  const bool is_signed = name_of(layout.dtype).starts_with("int");
  const int bits = layout.dtype == DType::boolean ? 1 : static_cast<int>(8 * size_of(layout.dtype));
  TIFF* tiff = file.get();
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, layout.width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, layout.height);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT,
               floats ? SAMPLEFORMAT_IEEEFP : is_signed ? SAMPLEFORMAT_INT : SAMPLEFORMAT_UINT);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, compress ? COMPRESSION_ADOBE_DEFLATE : COMPRESSION_NONE);
  // The predictor of floats is read by few programs.
  if (compress && bits >= 8 && !floats) TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
  TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, layout.rows_per_strip);
}

void copy_row(const std::byte* from, const PageLayout& layout, std::byte* to) {
  if (layout.dtype == DType::boolean) pack_bits(from, layout.width, to);
  else std::copy_n(from, layout.row_bytes, to);
}

/// Tags that libtiff must be told of before they are written.
void declare_tags(TIFF* tiff) {
  static char names[][24] = {"ModelPixelScale", "ModelTiepoint", "ModelTransformation", "GeoKeyDirectory",
                             "GeoDoubleParams", "GeoAsciiParams", "GDALNoData"};
  static const TIFFFieldInfo fields[] = {{33550, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, names[0]},
                                         {33922, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, names[1]},
                                         {34264, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, names[2]},
                                         {34735, -1, -1, TIFF_SHORT, FIELD_CUSTOM, 1, 1, names[3]},
                                         {34736, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, names[4]},
                                         {34737, -1, -1, TIFF_ASCII, FIELD_CUSTOM, 1, 0, names[5]},
                                         {42113, -1, -1, TIFF_ASCII, FIELD_CUSTOM, 1, 0, names[6]}};
  TIFFMergeFieldInfo(tiff, fields, static_cast<std::uint32_t>(std::size(fields)));
}

void set_meaning(TIFF* tiff, const Description& description, const Meaning& meaning) {
  for_each_tag(description, meaning, [tiff](std::uint32_t tag, const auto& value) {
    using T = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<T, std::string>) TIFFSetField(tiff, tag, value.c_str());
    else if constexpr (std::is_arithmetic_v<T>) TIFFSetField(tiff, tag, value);
    else TIFFSetField(tiff, tag, static_cast<int>(value.size()), value.data());
  });
}

/// @param from        first element of the page, whose tags are set
/// @param row_stride  in bytes
void write_page(TiffFile& file, const PageLayout& layout, const std::byte* from, std::ptrdiff_t row_stride) {
  std::vector<std::byte> strip(layout.rows_per_strip * layout.row_bytes);
  for (std::uint32_t y = 0, index = 0; y < layout.height; ++index) {
    const std::uint32_t rows = std::min(layout.rows_per_strip, layout.height - y);
    for (std::uint32_t r = 0; r < rows; ++r)
      copy_row(from + (std::ptrdiff_t{y} + r) * row_stride, layout, strip.data() + r * layout.row_bytes);
    const auto bytes = static_cast<tmsize_t>(rows * layout.row_bytes);
    if (TIFFWriteEncodedStrip(file.get(), index, strip.data(), bytes) != bytes) file.fail("cannot be written");
    y += rows;
  }
  if (!TIFFWriteDirectory(file.get())) file.fail("cannot be written");
}

/// BigTIFF where offsets might not fit into 32 bits: elements, and room for the directories.
bool needs_big(const AnyConstView& data, const PageLayout& layout, std::uint64_t pages) {
  constexpr std::uint64_t kDirectory = 512, kPerStrip = 16;
  const std::uint64_t strips = layout.height / layout.rows_per_strip + 1;
  const std::uint64_t elements = static_cast<std::uint64_t>(element_count(data.shape())) * size_of(data.dtype());
  return elements + pages * (kDirectory + kPerStrip * strips) >= std::numeric_limits<std::uint32_t>::max();
}

/// The first element of each plane, in row-major order.
std::vector<const std::byte*> planes_of(const AnyConstView& data) {
  const int axes = data.rank() - 2;
  const auto size = static_cast<std::int64_t>(size_of(data.dtype()));
  std::vector<const std::byte*> planes{data.data()};
  for (int axis = 0; axis < axes; ++axis) {
    std::vector<const std::byte*> next;
    for (const std::byte* plane : planes)
      for (std::int64_t k = 0; k < data.shape()[axis]; ++k) next.push_back(plane + k * data.strides()[axis] * size);
    planes.swap(next);
  }
  return planes;
}

/// Everything that is written, and how.
struct Job {
  const AnyConstView& data;
  const Meaning& meaning;
  bool compress;
};

void write_pages(const std::string& name, std::FILE* stream, const Job& job) {
  const AnyConstView& data = job.data;
  const PageLayout layout = layout_of(data);
  const std::ptrdiff_t row_stride =
      data.strides()[data.rank() - 2] * static_cast<std::ptrdiff_t>(size_of(data.dtype()));
  const std::vector<const std::byte*> planes = planes_of(data);
  const Description description = describe(data.dtype(), data.shape(), job.meaning);
  TiffFile file(name, stream, needs_big(data, layout, planes.size()));
  declare_tags(file.get());
  for (std::size_t k = 0; k < planes.size(); ++k) {
    set_tags(file, layout, job.compress);
    if (k == 0) set_meaning(file.get(), description, job.meaning);
    write_page(file, layout, planes[k], row_stride);
  }
  file.finish_writing();
}

/// For pipes, devices and the like: written to a temporary file first.
void write_through_file(const std::string& name, std::FILE* stream, const Job& job) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> temporary(std::tmpfile(), &std::fclose);
  if (!temporary) throw IoError("no temporary file can be made for " + name + "; write to a file");
  write_pages("the temporary file for " + name, temporary.get(), job);
  if (std::fflush(temporary.get()) != 0)
    throw IoError("the temporary file for " + name + " cannot be written: " + std::system_category().message(errno));
  std::rewind(temporary.get());
  StreamSink sink(name, stream);
  std::vector<std::byte> chunk(std::size_t{1} << 20);
  while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), temporary.get()))
    sink.write(chunk.data(), got);
}

}  // namespace

void check(DType dtype, const Shape& shape, const Meaning& meaning) {
  if (dtype == DType::int64 || dtype == DType::uint64)
    throw InvalidArgument("TIFF with 64-bit integers is read by few programs and not written; write .npy");
  if (shape.rank() < 2)
    throw InvalidArgument("TIFF holds images and volumes of 2 or 3 axes, not of " + std::to_string(shape.rank()) +
                          "; write .npy");
  const std::int64_t most = std::numeric_limits<std::int32_t>::max();
  for (std::int64_t extent : shape)
    if (extent < 1 || extent > most)
      throw InvalidArgument("TIFF cannot hold " + to_string(shape) + " elements: each extent must be 1 to " +
                            std::to_string(most) + "; write .npy");
  describe(dtype, shape, meaning);
}

WriteReport write(Target& target, const AnyConstView& data, const Meaning& meaning) {
  const Job job{data, meaning, target.compress};
  // libtiff goes back in what it wrote, and reads it to chain the pages.
  if (is_random_access(target.stream)) write_pages(target.name, target.stream, job);
  else write_through_file(target.name, target.stream, job);
  return {};
}

}  // namespace fathom::io::tiff
