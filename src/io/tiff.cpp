// TIFF and BigTIFF through libtiff: one page is an image, several of the same size are a volume. Reduced images and
// masks are no pages. Resolution tags are not taken for spacing: most writers put a printer's dots there.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <memory>
#include <system_error>
#include <vector>

#include "fathom/core/error.h"
#include "io/convert.h"
#include "io/formats.h"
#include "io/rows.h"
#include "io/tiff_file.h"
#include "io/tiff_page.h"

namespace fathom::io::tiff {

namespace {

struct Volume {
  std::vector<Page> pages;
  Shape shape;
  std::uint64_t scratch = 0;
};

void check_same(const ByteSource& source, const Page& first, const Page& page, std::size_t number) {
  if (page.width == first.width && page.height == first.height && page.dtype == first.dtype) return;
  const auto describe = [](const Page& p) {
    return to_string({std::int64_t{p.height}, std::int64_t{p.width}}) + " " + std::string(name_of(p.dtype));
  };
  source.fail("has pages that make no volume: page 1 is " + describe(first) + ", page " + std::to_string(number) +
              " is " + describe(page) + "; split it into one file per size");
}

/// libtiff takes a file that ends within the link to the next page for one that ends with this page.
void check_link(const TiffFile& file, ByteSource& source, const Page& page) {
  const bool big = TIFFIsBigTIFF(file.get()) != 0;
  const std::size_t width = big ? 8 : 2;  // of the number of entries
  std::uint64_t raw = 0;
  source.seek(page.offset);
  source.read_exactly(&raw, width, "a TIFF directory");
  const bool swapped = TIFFIsByteSwapped(file.get()) != 0;
  std::uint64_t entries = load<std::uint16_t>(&raw);
  if (swapped) entries = swap_bytes(static_cast<std::uint16_t>(entries));
  if (big) entries = swapped ? swap_bytes(raw) : raw;
  source.skip(entries * (big ? 20 : 12), "the end of a TIFF directory");
  source.skip(big ? 8 : 4, "the end of a TIFF directory");
}

/// Visits all directories and keeps those that are pages.
Volume survey(TiffFile& file, ByteSource& source) {
  Volume volume;
  for (std::size_t number = 1;; ++number) {
    const Page page = read_page(file, source);
    check_link(file, source, page);
    if (!page.skipped || number == 1) {  // a file that begins with one has nothing better
      if (!volume.pages.empty()) check_same(source, volume.pages.front(), page, number);
      volume.pages.push_back(page);
      volume.scratch = std::max(volume.scratch, page.scratch_bytes());
    }
    if (TIFFLastDirectory(file.get())) break;
    file.clear_message();
    if (!TIFFReadDirectory(file.get())) file.fail("is truncated or broken behind page " + std::to_string(number));
  }
  const Page& first = volume.pages.front();
  if (volume.pages.size() > 1) volume.shape.push_back(static_cast<std::int64_t>(volume.pages.size()));
  volume.shape.push_back(first.height);
  volume.shape.push_back(first.width);
  return volume;
}

void go_to(TiffFile& file, const Page& page) {
  file.clear_message();
  if (TIFFCurrentDirOffset(file.get()) != page.offset && !TIFFSetSubDirectory(file.get(), page.offset))
    file.fail("has a page that cannot be read again");
}

}  // namespace

ImageInfo probe(ByteSource& source, const MemoryLimit& limit) {
  TiffFile file(source, limit.bytes);
  const Volume volume = survey(file, source);
  count_bytes(source, volume.pages.front().dtype, volume.shape);
  return {Format::tiff, volume.pages.front().dtype, volume.shape, {}};
}

Image read(ByteSource& source, const MemoryLimit& limit) {
  TiffFile file(source, limit.bytes);
  const Volume volume = survey(file, source);
  const Page& first = volume.pages.front();
  Image image{allocate(source, first.dtype, volume.shape, limit, volume.scratch), {}, nullptr};
  const std::size_t page_bytes = image.data.bytes() / volume.pages.size();
  std::byte* to = image.data.data();
  for (const Page& page : volume.pages) {
    go_to(file, page);
    // The tags are read anew: some (JPEG's colour mode) must be set on the directory that is decoded.
    decode_page(file, read_page(file, source), to);
    to += page_bytes;
  }
  return image;
}

// ---- writing ----

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

void set_tags(TiffFile& file, const PageLayout& layout) {
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
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, layout.rows_per_strip);
}

void copy_row(const std::byte* from, const PageLayout& layout, std::byte* to) {
  if (layout.dtype != DType::boolean) {
    std::copy_n(from, layout.row_bytes, to);
    return;
  }
  std::fill_n(to, layout.row_bytes, std::byte{0});
  for (std::size_t x = 0; x < layout.width; ++x)
    to[x / 8] |= (from[x] & std::byte{1}) << (7 - x % 8);
}

/// @param from        first element of the page
/// @param row_stride  in bytes
void write_page(TiffFile& file, const PageLayout& layout, const std::byte* from, std::ptrdiff_t row_stride) {
  set_tags(file, layout);
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

void write_pages(const std::string& name, std::FILE* stream, const AnyConstView& data) {
  const PageLayout layout = layout_of(data);
  const std::int64_t pages = data.rank() == 3 ? data.shape()[0] : 1;
  const auto size = static_cast<std::ptrdiff_t>(size_of(data.dtype()));
  const std::ptrdiff_t row_stride = data.strides()[data.rank() - 2] * size;
  const std::ptrdiff_t page_stride = data.rank() == 3 ? data.strides()[0] * size : 0;
  TiffFile file(name, stream, needs_big(data, layout, static_cast<std::uint64_t>(pages)));
  for (std::int64_t page = 0; page < pages; ++page)
    write_page(file, layout, data.data() + page * page_stride, row_stride);
  file.finish_writing();
}

/// libtiff goes back in what it wrote, and reads it to chain the pages.
bool is_random_access(std::FILE* stream) {
  struct stat state {};
  const int descriptor = fileno(stream);
  return fstat(descriptor, &state) == 0 && S_ISREG(state.st_mode) && lseek(descriptor, 0, SEEK_CUR) == 0 &&
         (fcntl(descriptor, F_GETFL) & O_ACCMODE) == O_RDWR;
}

/// For pipes, devices and the like: written to a temporary file first.
void write_through_file(const std::string& name, std::FILE* stream, const AnyConstView& data) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> temporary(std::tmpfile(), &std::fclose);
  if (!temporary) throw IoError("no temporary file can be made for " + name + "; write to a file");
  write_pages("the temporary file for " + name, temporary.get(), data);
  if (std::fflush(temporary.get()) != 0)
    throw IoError("the temporary file for " + name + " cannot be written: " + std::system_category().message(errno));
  std::rewind(temporary.get());
  StreamSink sink(name, stream);
  std::vector<std::byte> chunk(std::size_t{1} << 20);
  while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), temporary.get()))
    sink.write(chunk.data(), got);
}

}  // namespace

void check(DType dtype, const Shape& shape) {
  if (dtype == DType::int64 || dtype == DType::uint64)
    throw InvalidArgument("TIFF with 64-bit integers is read by few programs and not written; write .npy");
  if (shape.rank() != 2 && shape.rank() != 3)
    throw InvalidArgument("TIFF holds images and volumes of 2 or 3 axes, not of " + std::to_string(shape.rank()) +
                          "; write .npy");
  const std::int64_t most = std::numeric_limits<std::int32_t>::max();
  for (std::int64_t extent : shape)
    if (extent < 1 || extent > most)
      throw InvalidArgument("TIFF cannot hold " + to_string(shape) + " elements: each extent must be 1 to " +
                            std::to_string(most) + "; write .npy");
}

void write(const std::string& name, std::FILE* stream, const AnyConstView& data) {
  if (is_random_access(stream)) write_pages(name, stream, data);
  else write_through_file(name, stream, data);
}

}  // namespace fathom::io::tiff
