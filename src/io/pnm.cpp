// PNM: bitmaps (PBM), gray (PGM) and colours (PPM), as text or bytes. Source: the manual pages pbm(5), pgm(5), ppm(5).
#include <bit>
#include <vector>

#include "io/convert.h"
#include "io/formats.h"
#include "io/samples.h"
#include "io/text_volume.h"

namespace fathom::io::pnm {

namespace {

struct Header {
  bool bits = false;  ///< a bit a pixel, 1 of black
  bool text = false;
  std::int64_t width = 0, height = 0;
  std::int64_t most = 1;  ///< largest value
  Pixel pixel;

  std::uint64_t row_bytes() const {
    const auto pixels = static_cast<std::uint64_t>(width);
    return bits ? (pixels + 7) / 8 : pixels * static_cast<std::uint64_t>(pixel.samples) * size_of(pixel.stored);
  }
};

char next_char(ByteSource& source, std::string_view what) {
  char c = 0;
  source.read_exactly(&c, 1, what);
  return c;
}

/// Skips blanks, and comments to the end of their line; takes the blank behind the number, too.
std::int64_t read_number(ByteSource& source, std::string_view what, std::int64_t most) {
  char c = next_char(source, what);
  for (; is_blank(c) || c == '#'; c = next_char(source, what))
    if (c == '#')
      while (c != '\n' && c != '\r') c = next_char(source, what);
  std::int64_t value = 0;
  int digits = 0;
  constexpr int kMostDigits = 12;
  for (; c >= '0' && c <= '9' && digits < kMostDigits; ++digits) {
    value = 10 * value + (c - '0');
    if (source.peek(1).empty()) c = ' ';  // the last number of a file of text
    else c = next_char(source, what);
  }
  if (digits == 0 || !is_blank(c) || value > most)
    source.fail("has a broken PNM file: " + std::string(what) + " is no number of 0 to " + std::to_string(most));
  return value;
}

Header read_header(ByteSource& source) {
  char magic[2];
  source.read_exactly(magic, 2, "the PNM header");
  const int kind = magic[1] - '0';
  if (magic[0] != 'P' || kind < 1 || kind > 6) source.fail("is no PNM file");
  Header header;
  header.text = kind <= 3;
  header.bits = kind % 3 == 1;
  constexpr std::int64_t kMostExtent = INT32_MAX, kMostValue = 65535;
  header.width = read_number(source, "the width", kMostExtent);
  header.height = read_number(source, "the height", kMostExtent);
  if (!header.bits) header.most = read_number(source, "the largest value", kMostValue);
  if (header.width == 0 || header.height == 0 || header.most == 0) source.fail("has an absurd PNM header: a size of 0");
  const bool colour = kind % 3 == 0;
  header.pixel = {header.bits         ? DType::boolean
                  : header.most > 255 ? DType::uint16
                                      : DType::uint8,
                  colour ? 3 : 1, colour, false};
  return header;
}

class Opened {
 public:
  Opened(ByteSource& source, const ReadContext& context) : header(read_header(source)) {
    taking = taking_of(source, header.pixel, context.options);
    info = picture_info(source, Format::pnm, {header.height, header.width}, header.pixel, taking, context.options, {});
    const auto values = static_cast<std::uint64_t>(header.width * header.height);  // below 2⁶²
    std::uint64_t least = header.bits ? values : values * 2 - 1;  // of text: a digit and a blank, of bits a digit
    if (!header.text && __builtin_mul_overflow(header.row_bytes(), static_cast<std::uint64_t>(header.height), &least))
      source.fail("has an absurd PNM header: " + to_string(info.shape) + " elements cannot be counted");
    check_holds(source, source.position(), least);
  }

  Header header;
  Taking taking;
  ImageInfo info;
};

void read_text_row(ByteSource& source, const Header& header, std::vector<std::byte>& row) {
  const std::size_t size = size_of(header.pixel.stored);
  for (std::size_t at = 0; at < row.size(); at += size) {
    if (header.bits) {  // digits may stand side by side
      char c = next_char(source, "the PNM image");
      while (is_blank(c)) c = next_char(source, "the PNM image");
      if (c != '0' && c != '1') source.fail("has a broken PNM file: a pixel is neither 0 nor 1");
      row[at] = std::byte{c == '0'};
    } else {
      const auto value = static_cast<std::uint16_t>(read_number(source, "a value", header.most));
      if (size == 1) row[at] = static_cast<std::byte>(value);
      else std::memcpy(row.data() + at, &value, size);
    }
  }
}

/// @param packed  room for a row of bits
void read_binary_row(ByteSource& source, const Header& header, std::vector<std::byte>& packed,
                     std::vector<std::byte>& row) {
  if (header.bits) {
    source.read_exactly(packed.data(), packed.size(), "the PNM image");
    for (std::size_t x = 0; x < row.size(); ++x) row[x] = ~(packed[x / 8] >> (7 - x % 8)) & std::byte{1};
    return;
  }
  source.read_exactly(row.data(), row.size(), "the PNM image");
  const std::size_t size = size_of(header.pixel.stored);
  if (std::endian::native == std::endian::little) swap_all(row.data(), row.size() / size, size);
  for (std::size_t at = 0; at < row.size(); at += size)
    if ((size == 1 ? std::to_integer<int>(row[at]) : load<std::uint16_t>(row.data() + at)) > header.most)
      source.fail("has a broken PNM file: a value is above its largest, " + std::to_string(header.most));
}

/// What follows the image is ignored unless it is another one.
void check_end(ByteSource& source) {
  auto next = source.peek(1);
  while (!next.empty() && is_blank(static_cast<char>(next[0]))) {
    source.skip(1, "the end");
    next = source.peek(1);
  }
  next = source.peek(2);
  if (next.size() == 2 && next[0] == std::byte{'P'} && next[1] >= std::byte{'1'} && next[1] <= std::byte{'6'})
    source.fail("holds several images; split them (pamsplit), or save them as TIFF");
}

}  // namespace

ImageInfo probe(ByteSource& source, const ReadContext& context) { return Opened(source, context).info; }

Image read(ByteSource& source, const ReadContext& context) {
  const Opened file(source, context);
  const Header& header = file.header;
  const auto width = static_cast<std::size_t>(header.width), samples = static_cast<std::size_t>(header.pixel.samples);
  const std::size_t size = size_of(header.pixel.stored), count = static_cast<std::size_t>(file.taking.count);
  Image image{allocate(source, file.info.dtype, file.info.shape, context.limit, width * (samples * size + 1)),
              file.info.meaning, file.info.warnings};
  std::vector<std::byte> row(width * samples * size), packed(header.bits ? header.row_bytes() : 0);
  for (std::int64_t y = 0; y < header.height; ++y) {
    if (header.text) read_text_row(source, header, row);
    else read_binary_row(source, header, packed, row);
    std::byte* to = image.data.data() + static_cast<std::size_t>(y) * width * count * size_of(file.info.dtype);
    store_pixels(header.pixel, file.taking, {row.data(), size, samples * size, width}, {to, count, 1});
  }
  check_end(source);
  return image;
}

}  // namespace fathom::io::pnm
