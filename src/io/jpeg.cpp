// JPEG through libjpeg, of 8 bits a sample, gray or colour: a row at a time, gray straight into the array's rows.
//
// libjpeg reports errors by a call that must not return, and calls back for bytes. As with PNG, callbacks keep what
// they catch, and what runs between setjmp and longjmp owns nothing. What libjpeg warns of – damaged or missing data,
// for which it would make up pixels – is an error here.
#include <cstdio>  // before jpeglib.h, which needs it

#include <jpeglib.h>

#include <array>
#include <csetjmp>
#include <exception>
#include <vector>

#include "io/convert.h"
#include "io/formats.h"
#include "io/samples.h"

namespace fathom::io::jpeg {

namespace {

/// What libjpeg's callbacks know; begins with what libjpeg knows.
struct Errors {
  jpeg_error_mgr manager;
  std::jmp_buf jump;
  std::array<char, JMSG_LENGTH_MAX> message{};
  std::exception_ptr caught;
};

[[noreturn]] void on_error(j_common_ptr info) {
  auto* errors = reinterpret_cast<Errors*>(info->err);
  info->err->format_message(info, errors->message.data());
  std::longjmp(errors->jump, 1);
}

/// Levels below 0 are warnings, others traces.
void on_message(j_common_ptr info, int level) {
  if (level < 0) on_error(info);
}

/// Where libjpeg gets its bytes; begins with what libjpeg knows.
struct Feed {
  jpeg_source_mgr manager;
  ByteSource* source;
  std::array<JOCTET, 1 << 14> bytes;
};

void on_start(j_decompress_ptr) {}

boolean on_fill(j_decompress_ptr info) {
  auto* feed = reinterpret_cast<Feed*>(info->src);
  auto* errors = reinterpret_cast<Errors*>(info->err);
  std::size_t got = 0;
  try {
    got = feed->source->read(feed->bytes.data(), feed->bytes.size());
  } catch (...) {
    errors->caught = std::current_exception();
  }
  if (got == 0) {
    std::snprintf(errors->message.data(), errors->message.size(), "the file is truncated");
    std::longjmp(errors->jump, 1);
  }
  feed->manager.next_input_byte = feed->bytes.data();
  feed->manager.bytes_in_buffer = got;
  return TRUE;
}

void on_skip(j_decompress_ptr info, long count) {
  jpeg_source_mgr& manager = *info->src;
  while (count > static_cast<long>(manager.bytes_in_buffer)) {
    count -= static_cast<long>(manager.bytes_in_buffer);
    on_fill(info);
  }
  if (count <= 0) return;
  manager.next_input_byte += count;
  manager.bytes_in_buffer -= static_cast<std::size_t>(count);
}

void on_end(j_decompress_ptr) {}

class Reader {
 public:
  explicit Reader(ByteSource& source) : source_(source) {
    info_.err = jpeg_std_error(&errors_.manager);
    errors_.manager.error_exit = on_error;
    errors_.manager.emit_message = on_message;
    feed_.source = &source;
    guarded([&] { jpeg_create_decompress(&info_); });
    info_.src = &feed_.manager;
    feed_.manager = {nullptr, 0, on_start, on_fill, on_skip, jpeg_resync_to_restart, on_end};
  }
  ~Reader() { jpeg_destroy_decompress(&info_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  void read_header() {
    guarded([&] { jpeg_read_header(&info_, TRUE); });
    if (info_.data_precision != 8) source_.fail(several_bits());
    switch (info_.jpeg_color_space) {
      case JCS_GRAYSCALE: info_.out_color_space = JCS_GRAYSCALE; break;
      case JCS_YCbCr:
      case JCS_RGB: info_.out_color_space = JCS_RGB; break;
      case JCS_CMYK:
      case JCS_YCCK: source_.fail("holds the colours of a press (CMYK); save it as RGB");
      default:
        source_.fail("holds " + std::to_string(info_.num_components) + " samples a pixel; save it as gray or RGB");
    }
  }

  Shape shape() const { return {std::int64_t{info_.image_height}, std::int64_t{info_.image_width}}; }
  Pixel pixel() const {
    const bool colour = info_.out_color_space == JCS_RGB;
    return {DType::uint8, colour ? 3 : 1, colour, false};
  }

  /// What libjpeg takes beside the array: rows, and all coefficients where they come in several scans.
  std::uint64_t scratch() {
    constexpr std::uint64_t kRows = 64, kCoefficient = 2, kPadding = 32;  // rows of blocks, with neighbours
    const std::uint64_t width = info_.image_width + kPadding, height = info_.image_height + kPadding;
    const std::uint64_t samples = width * static_cast<std::uint64_t>(info_.num_components);
    return samples * kRows + (jpeg_has_multiple_scans(&info_) ? samples * height * kCoefficient : 0);
  }

  /// Millimetres from pixel to pixel, {y, x}, at which the image is to be printed; 0: not stated.
  std::array<double, 2> print_spacing() const {
    constexpr int kPerInch = 1, kPerCentimetre = 2;
    const double unit = info_.density_unit == kPerInch ? 25.4 : info_.density_unit == kPerCentimetre ? 10 : 0;
    if (unit == 0 || info_.X_density == 0 || info_.Y_density == 0) return {};
    return {unit / info_.Y_density, unit / info_.X_density};
  }

  void start() {
    guarded([&] { jpeg_start_decompress(&info_); });
  }
  void read_row(std::byte* row) {
    auto* rows = reinterpret_cast<JSAMPROW>(row);
    guarded([&] { jpeg_read_scanlines(&info_, &rows, 1); });
  }
  void read_end() {
    guarded([&] { jpeg_finish_decompress(&info_); });
  }

 private:
  std::string several_bits() const {
    return "holds " + std::to_string(info_.data_precision) + " bits a sample, and JPEG is read with 8; save it as TIFF";
  }

  /// `body` must own nothing that needs a destructor.
  template <class Body>
  void guarded(Body body) {
    if (run(body)) return;
    if (errors_.caught) std::rethrow_exception(errors_.caught);
    if (info_.data_precision != 0 && info_.data_precision != 8) source_.fail(several_bits());
    source_.fail("is no JPEG that can be read: " + one_line(errors_.message.data()));
  }
  template <class Body>
  bool run(Body body) {
    if (setjmp(errors_.jump) != 0) return false;
    body();
    return true;
  }

  ByteSource& source_;
  Errors errors_{};
  Feed feed_{};
  jpeg_decompress_struct info_{};
};

/// A number of Exif, in its byte order; 0 beyond the end.
unsigned number_at(std::span<const std::byte> exif, std::size_t at, std::size_t size, bool big_endian) {
  unsigned value = 0;
  if (at > exif.size() || exif.size() - at < size) return 0;
  for (std::size_t k = 0; k < size; ++k)
    value = value << 8 | std::to_integer<unsigned>(exif[at + (big_endian ? k : size - 1 - k)]);
  return value;
}

/// The orientation that Exif states, 1 to 8; 1: as it is stored. Source: CIPA DC-008, tag 0x0112 of IFD0.
unsigned orientation_in(std::span<const std::byte> exif) {
  constexpr std::size_t kEntry = 12;
  constexpr unsigned kOrientation = 0x112;
  if (exif.size() < 8) return 1;
  const bool big_endian = exif[0] == std::byte{'M'};
  const std::size_t directory = number_at(exif, 4, 4, big_endian);
  const unsigned count = number_at(exif, directory, 2, big_endian);
  for (std::size_t at = directory + 2; at < directory + 2 + count * kEntry && at < exif.size(); at += kEntry)
    if (number_at(exif, at, 2, big_endian) == kOrientation) return number_at(exif, at + 8, 2, big_endian);
  return 1;
}

/// From the segments at the file's beginning, before libjpeg reads them.
unsigned orientation_of(ByteSource& source) {
  constexpr std::size_t kMarker = 4, kName = 6;  // 0xff, its number, two bytes of length; "Exif", two zeros
  const auto start = source.peek(ByteSource::kLookAhead);
  const auto byte = [&](std::size_t at) { return std::to_integer<unsigned>(start[at]); };
  for (std::size_t at = 2; at + kMarker + kName <= start.size() && byte(at) == 0xff;) {
    const unsigned marker = byte(at + 1);
    const std::size_t length = byte(at + 2) << 8 | byte(at + 3);
    const std::size_t end = std::min(at + 2 + length, start.size());
    if (marker < 0xe0 || marker > 0xef || length < 2) break;  // applications' segments come first
    constexpr std::string_view kExif{"Exif\0\0", kName};
    if (std::string_view(reinterpret_cast<const char*>(start.data()) + at + kMarker, kName) == kExif)
      return at + kMarker + kName < end
                 ? orientation_in(start.subspan(at + kMarker + kName, end - at - kMarker - kName))
                 : 1;
    at = end;
  }
  return 1;
}

/// Header and what it says; the reader then stands before the first row.
class Opened {
 public:
  Opened(ByteSource& source, const ReadContext& context) : reader(source) {
    const unsigned orientation = orientation_of(source);
    reader.read_header();
    taking = taking_of(source, reader.pixel(), context.options);
    info = picture_info(source, Format::jpeg, reader.shape(), reader.pixel(), taking, context.options,
                        reader.print_spacing());
    if (orientation > 1 && orientation <= 8)
      info.warnings.push_back("says that it is to be shown turned or mirrored (Exif orientation " +
                              std::to_string(orientation) + "): it is taken as it is stored");
  }

  Reader reader;
  Taking taking;
  ImageInfo info;
};

}  // namespace

ImageInfo probe(ByteSource& source, const ReadContext& context) { return Opened(source, context).info; }

Image read(ByteSource& source, const ReadContext& context) {
  Opened file(source, context);
  Image image{allocate(source, file.info.dtype, file.info.shape, context.limit, file.reader.scratch()),
              file.info.meaning, file.info.warnings};
  file.reader.start();
  const Pixel pixel = file.reader.pixel();
  const auto width = static_cast<std::size_t>(file.info.shape[1]);
  const auto samples = static_cast<std::size_t>(pixel.samples), count = static_cast<std::size_t>(file.taking.count);
  std::vector<std::byte> row(width * samples);
  for (std::int64_t y = 0; y < file.info.shape[0]; ++y) {
    std::byte* to = image.data.data() + static_cast<std::size_t>(y) * width * count * size_of(file.info.dtype);
    file.reader.read_row(samples == 1 ? to : row.data());
    if (samples > 1) store_pixels(pixel, file.taking, {row.data(), 1, samples, width}, {to, count, 1});
  }
  file.reader.read_end();
  return image;
}

}  // namespace fathom::io::jpeg
