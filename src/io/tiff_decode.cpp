// The elements of a TIFF page. Strips of plain gray samples are decoded straight into the array's rows; everything else
// goes through one decoded tile or strip.
#include <algorithm>
#include <array>
#include <vector>

#include "io/convert.h"
#include "io/tiff_page.h"

namespace fathom::io::tiff {

namespace {

using Palette = std::array<std::uint8_t, 256>;

/// Luminance of each index of the current directory's colour map.
Palette read_palette(TiffFile& file, const Page& page) {
  std::uint16_t *red = nullptr, *green = nullptr, *blue = nullptr;
  if (!TIFFGetField(file.get(), TIFFTAG_COLORMAP, &red, &green, &blue) || !red || !green || !blue)
    file.fail("has a palette image without a palette");
  const std::size_t count = std::size_t{1} << page.bits;
  std::uint16_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) largest = std::max({largest, red[i], green[i], blue[i]});
  const int shift = largest < 256 ? 0 : 8;  // 16-bit colours by the standard, 8-bit ones by old writers
  const auto to_byte = [&](std::uint16_t v) { return static_cast<std::uint8_t>(v >> shift); };
  Palette palette{};
  for (std::size_t i = 0; i < count; ++i)
    palette[i] = luminance(to_byte(red[i]), to_byte(green[i]), to_byte(blue[i]));
  return palette;
}

/// A decoded row of a block: where each of up to three samples begins, and how far apart elements are, in samples.
struct SampleRow {
  std::array<const std::byte*, 3> sample{};
  std::size_t step = 1;
  std::size_t count = 0;
};

template <class T>
void store_color(const SampleRow& row, T* to) {
  const std::size_t stride = row.step * sizeof(T);
  for (std::size_t i = 0; i < row.count; ++i)
    to[i] = luminance(load<T>(row.sample[0] + i * stride), load<T>(row.sample[1] + i * stride),
                      load<T>(row.sample[2] + i * stride));
}

/// Copies samples; inverted ones are complemented: the largest becomes the smallest, signed or not.
template <class T>
void store_gray(const SampleRow& row, bool inverted, T* to) {
  const std::size_t stride = row.step * sizeof(T);
  for (std::size_t i = 0; i < row.count; ++i) to[i] = load<T>(row.sample[0] + i * stride);
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    if (inverted)
      for (std::size_t i = 0; i < row.count; ++i) to[i] = static_cast<T>(~to[i]);
}

void store_half(const SampleRow& row, float* to) {
  for (std::size_t i = 0; i < row.count; ++i)
    to[i] = half_to_float(load<std::uint16_t>(row.sample[0] + i * row.step * sizeof(std::uint16_t)));
}

/// Samples of 1, 2 or 4 bits, the highest bits first, each through a table.
void store_bits(const SampleRow& row, int bits, const Palette& table, std::uint8_t* to) {
  const unsigned mask = (1u << bits) - 1;
  const auto per_byte = static_cast<std::size_t>(8 / bits);
  for (std::size_t i = 0; i < row.count; ++i) {
    const auto byte = std::to_integer<unsigned>(row.sample[0][i / per_byte]);
    const unsigned shift = 8 - static_cast<unsigned>(bits) * (static_cast<unsigned>(i % per_byte) + 1);
    to[i] = table[(byte >> shift) & mask];
  }
}

class Decoder {
 public:
  Decoder(TiffFile& file, const Page& page, std::byte* out) : file_(file), page_(page), out_(out) {
    if (page.meaning == Meaning::palette) table_ = read_palette(file, page);
    else if (page.bits < 8) table_ = gray_table(page);
  }

  void run() {
    if (is_direct()) return decode_direct();
    block_.resize(static_cast<std::size_t>(page_.scratch_bytes()));
    for (std::uint32_t y = 0; y < page_.height; y += std::min(page_.block_height, page_.height - y))
      for (std::uint32_t x = 0; x < page_.width; x += std::min(page_.block_width, page_.width - x)) {
        decode_block(x, y);
        store_block(x, y);
      }
  }

 private:
  /// Gray values of samples below 8 bits: 1 bit is a bool, the others spread over 0 … 255.
  static Palette gray_table(const Page& page) {
    Palette table{};
    const int largest = (1 << page.bits) - 1;
    for (int i = 0; i <= largest; ++i) {
      const int value = page.meaning == Meaning::inverted ? largest - i : i;
      table[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(page.bits == 1 ? value : value * (255 / largest));
    }
    return table;
  }

  bool is_direct() const {
    return !page_.tiled && page_.meaning == Meaning::gray && page_.bits >= 8 && page_.samples == 1 && !page_.half;
  }
  std::byte* row_of(std::uint32_t x, std::uint32_t y) const {
    return out_ + (std::uint64_t{y} * page_.width + x) * size_of(page_.dtype);
  }

  void decode_direct() {
    const std::size_t row_bytes = page_.width * size_of(page_.dtype);
    for (std::uint32_t y = 0; y < page_.height; y += std::min(page_.block_height, page_.height - y)) {
      const std::uint32_t rows = std::min(page_.block_height, page_.height - y);
      decode_strip(y, 0, row_of(0, y), row_bytes * rows);
    }
  }

  /// A strip or tile that is not there has no offset; libtiff would take its bytes from the file's start.
  void check_present(std::uint32_t block, std::uint32_t y) {
    if (TIFFGetStrileOffset(file_.get(), block) == 0) file_.fail("lacks the elements at row " + std::to_string(y));
  }

  void decode_strip(std::uint32_t y, std::uint16_t plane, std::byte* to, std::size_t bytes) {
    const std::uint32_t strip = TIFFComputeStrip(file_.get(), y, plane);
    const auto wanted = static_cast<tmsize_t>(bytes);
    check_present(strip, y);
    if (TIFFReadEncodedStrip(file_.get(), strip, to, wanted) != wanted)
      file_.fail("is truncated or broken at row " + std::to_string(y));
  }

  void decode_plane(std::uint32_t x, std::uint32_t y, std::uint16_t plane, std::byte* to) {
    const auto bytes = static_cast<std::size_t>(page_.block_bytes);
    if (!page_.tiled) {
      const std::uint32_t rows = std::min(page_.block_height, page_.height - y);
      return decode_strip(y, plane, to, bytes / page_.block_height * rows);
    }
    const std::uint32_t tile = TIFFComputeTile(file_.get(), x, y, 0, plane);
    check_present(tile, y);
    if (TIFFReadEncodedTile(file_.get(), tile, to, static_cast<tmsize_t>(bytes)) != static_cast<tmsize_t>(bytes))
      file_.fail("is truncated or broken in the tile at row " + std::to_string(y) + ", column " + std::to_string(x));
  }

  void decode_block(std::uint32_t x, std::uint32_t y) {
    const auto bytes = static_cast<std::size_t>(page_.block_bytes);
    const std::size_t planes = block_.size() / bytes;
    for (std::size_t plane = 0; plane < planes; ++plane)
      decode_plane(x, y, static_cast<std::uint16_t>(plane), block_.data() + plane * bytes);
  }

  void store_block(std::uint32_t x, std::uint32_t y) const {
    const auto bytes = static_cast<std::size_t>(page_.block_bytes);
    const std::size_t row_bytes = bytes / page_.block_height;
    const std::uint32_t rows = std::min(page_.block_height, page_.height - y);
    SampleRow row;
    row.count = std::min(page_.block_width, page_.width - x);
    row.step = page_.separate ? 1 : static_cast<std::size_t>(page_.samples);
    const std::size_t next_sample = page_.separate ? bytes : static_cast<std::size_t>(page_.bits / 8);
    const std::size_t used = page_.meaning == Meaning::color ? 3 : 1;
    for (std::uint32_t r = 0; r < rows; ++r) {
      for (std::size_t s = 0; s < used; ++s) row.sample[s] = block_.data() + r * row_bytes + s * next_sample;
      store_row(row, row_of(x, y + r));
    }
  }

  void store_row(const SampleRow& row, std::byte* to) const {
    auto* bytes = reinterpret_cast<std::uint8_t*>(to);
    if (page_.bits < 8) return store_bits(row, page_.bits, table_, bytes);
    if (page_.half) return store_half(row, reinterpret_cast<float*>(to));
    if (page_.meaning == Meaning::palette) {
      for (std::size_t i = 0; i < row.count; ++i)
        bytes[i] = table_[std::to_integer<std::size_t>(row.sample[0][i * row.step])];
      return;
    }
    visit_dtype(page_.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (sizeof(T) <= 4 || std::is_floating_point_v<T>)
        if (page_.meaning == Meaning::color) return store_color(row, reinterpret_cast<T*>(to));
      store_gray(row, page_.meaning == Meaning::inverted, reinterpret_cast<T*>(to));
    });
  }

  TiffFile& file_;
  const Page& page_;
  std::byte* out_;
  Palette table_{};
  std::vector<std::byte> block_;
};

}  // namespace

void decode_page(TiffFile& file, const Page& page, std::byte* out) { Decoder(file, page, out).run(); }

}  // namespace fathom::io::tiff
