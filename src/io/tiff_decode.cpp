// The elements of a TIFF page. Strips of plain gray samples are decoded straight into the array's rows; everything else
// goes through one decoded tile or strip.
#include <algorithm>
#include <array>
#include <vector>

#include "io/convert.h"
#include "io/tiff_page.h"

namespace fathom::io::tiff {

namespace {

/// 1 bit is a bool, the others spread over 0 … 255; indices of a palette stay as they are.
std::array<std::uint8_t, 16> table_of(const Page& page) {
  std::array<std::uint8_t, 16> table{};
  const int largest = (1 << std::min(page.bits, 4)) - 1;
  const int step = page.bits > 1 && page.photometric != Photometric::palette ? 255 / largest : 1;
  for (int i = 0; i <= largest; ++i) table[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(i * step);
  return table;
}

class Decoder {
 public:
  Decoder(TiffFile& file, const Page& page, const Taking& taking, std::byte* out)
      : file_(file), page_(page), taking_(taking), store_(page, taking), out_(out) {}

  void run() {
    if (is_direct()) return decode_direct();
    block_.resize(static_cast<std::size_t>(page_.scratch_bytes(taking_)));
    for (std::uint32_t y = 0; y < page_.height; y += std::min(page_.block_height, page_.height - y))
      for (std::uint32_t x = 0; x < page_.width; x += std::min(page_.block_width, page_.width - x)) {
        decode_block(x, y);
        store_block(x, y);
      }
  }

 private:
  bool is_direct() const { return !page_.tiled && page_.bits >= 8 && page_.samples == 1 && !page_.half; }
  std::byte* row_of(std::uint32_t x, std::uint32_t y) const {
    const std::size_t each = is_side_by_side() ? static_cast<std::size_t>(taking_.count) : 1;
    return out_ + (std::uint64_t{y} * page_.width + x) * each * size_of(taking_.dtype);
  }
  bool is_side_by_side() const { return page_.photometric == Photometric::colour || page_.alpha; }

  void decode_direct() {
    const std::size_t row_bytes = page_.width * size_of(page_.dtype);
    for (std::uint32_t y = 0; y < page_.height; y += std::min(page_.block_height, page_.height - y)) {
      const std::uint32_t rows = std::min(page_.block_height, page_.height - y);
      decode_strip(y, 0, row_of(0, y), row_bytes * rows);
    }
  }

  /// A strip or tile that is not there has no offset; libtiff would take its bytes from the file's start. And where a
  /// broken stream by deflate holds more than the block, it leaves the end as it was.
  void prepare(std::uint32_t block, std::uint32_t y, std::byte* to, std::size_t bytes) {
    if (TIFFGetStrileOffset(file_.get(), block) == 0) file_.fail("lacks the elements at row " + std::to_string(y));
    if (page_.compressed) std::fill_n(to, bytes, std::byte{0});
  }

  void decode_strip(std::uint32_t y, std::uint16_t plane, std::byte* to, std::size_t bytes) {
    const std::uint32_t strip = TIFFComputeStrip(file_.get(), y, plane);
    const auto wanted = static_cast<tmsize_t>(bytes);
    prepare(strip, y, to, bytes);
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
    prepare(tile, y, to, bytes);
    if (TIFFReadEncodedTile(file_.get(), tile, to, static_cast<tmsize_t>(bytes)) != static_cast<tmsize_t>(bytes))
      file_.fail("is truncated or broken in the tile at row " + std::to_string(y) + ", column " + std::to_string(x));
  }

  void decode_block(std::uint32_t x, std::uint32_t y) {
    const auto bytes = static_cast<std::size_t>(page_.block_bytes);
    const int first = page_.separate ? taking_.first : 0;
    for (int k = 0; k < page_.planes(taking_); ++k)
      decode_plane(x, y, static_cast<std::uint16_t>(first + k), block_.data() + static_cast<std::size_t>(k) * bytes);
  }

  void store_block(std::uint32_t x, std::uint32_t y) const {
    const auto bytes = static_cast<std::size_t>(page_.block_bytes);
    const std::size_t row_bytes = bytes / page_.block_height, plane = std::size_t{page_.width} * page_.height;
    const std::uint32_t rows = std::min(page_.block_height, page_.height - y);
    const auto count = static_cast<std::size_t>(std::min(page_.block_width, page_.width - x));
    const bool side_by_side = is_side_by_side();
    for (std::uint32_t r = 0; r < rows; ++r)
      store_.store(
          block_.data() + r * row_bytes, bytes, 0, count,
          {row_of(x, y + r), side_by_side ? static_cast<std::size_t>(taking_.count) : 1, side_by_side ? 1 : plane});
  }

  TiffFile& file_;
  const Page& page_;
  const Taking& taking_;
  RowStore store_;
  std::byte* out_;
  std::vector<std::byte> block_;
};

void store_halves(const std::byte* row, std::size_t step, std::size_t count, float* to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = half_to_float(load<std::uint16_t>(row + i * step));
}

}  // namespace

RowStore::RowStore(const Page& page, const Taking& taking) : page_(page), taking_(taking) {
  if (page.separate) taking_.first = 0;  // nothing else is decoded
  if (page.bits < 8) table_ = table_of(page);
}

void RowStore::store(const std::byte* row, std::size_t plane, std::size_t first, std::size_t count,
                     const ElementRow& to) const {
  if (page_.bits < 8)
    return unpack_bits(row, first, count, page_.bits, table_, reinterpret_cast<std::uint8_t*>(to.first));
  const std::size_t size = static_cast<std::size_t>(page_.bits) / 8;
  const std::size_t step = page_.separate ? size : size * static_cast<std::size_t>(page_.samples);
  row += first * step;
  if (page_.half) return store_halves(row, step, count, reinterpret_cast<float*>(to.first));
  if (step != size || taking_.kind != Taking::Kind::copy || to.pixel_step != 1)
    return store_pixels(page_.pixel(), taking_, {row, page_.separate ? plane : size, step, count}, to);
  std::copy_n(row, count * size, to.first);
}

void decode_page(TiffFile& file, const Page& page, const Taking& taking, std::byte* out) {
  Decoder(file, page, taking, out).run();
}

}  // namespace fathom::io::tiff
