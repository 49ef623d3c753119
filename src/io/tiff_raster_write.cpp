// Tiled TIFF and BigTIFF that grow row of tiles by row of tiles, in constant memory. The directory comes first, then
// two lists of where tiles lie and how long they are, then the tiles. Not compressed, all of that is known beforehand,
// so that nothing is ever gone back to; with deflate each row of tiles fills in its part of the lists. libtiff would
// keep both lists until the end, and write the directory last.
// Source: TIFF 6.0 (Adobe 1992); BigTIFF as libtiff has it.
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <span>

#include "fathom/core/error.h"
#include "io/convert.h"
#include "io/formats.h"
#include "io/row_file.h"
#include "io/tiff_meaning.h"

namespace fathom::io {

namespace {

using namespace tiff;

/// A tag and its values.
struct Entry {
  std::uint32_t tag;
  TIFFDataType type;
  std::uint64_t count;
  std::vector<std::byte> values;  ///< none: a list that follows the directory
};

template <class T>
Entry entry_of(std::uint32_t tag, TIFFDataType type, std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  return {tag, type, values.size(), std::vector<std::byte>(bytes.begin(), bytes.end())};
}
Entry entry_of(std::uint32_t tag, int value) {
  const auto number = static_cast<std::uint16_t>(value);
  return entry_of(tag, TIFF_SHORT, std::span<const std::uint16_t>(&number, 1));
}
Entry entry_of(std::uint32_t tag, std::int64_t value) {
  const auto number = static_cast<std::uint32_t>(value);
  return entry_of(tag, TIFF_LONG, std::span<const std::uint32_t>(&number, 1));
}
Entry entry_of(std::uint32_t tag, const std::string& text) {
  return entry_of(tag, TIFF_ASCII, std::span<const char>(text.c_str(), text.size() + 1));
}
Entry entry_of(std::uint32_t tag, const std::vector<double>& values) {
  return entry_of(tag, TIFF_DOUBLE, std::span<const double>(values));
}
Entry entry_of(std::uint32_t tag, const std::vector<std::uint16_t>& values) {
  return entry_of(tag, TIFF_SHORT, std::span<const std::uint16_t>(values));
}
/// A fraction of 32-bit numbers, as precise as they allow.
Entry entry_of(std::uint32_t tag, double value) {
  const int shift = std::clamp(31 - std::ilogb(std::max(value, 1.0)), 0, 31);
  const std::uint32_t parts[] = {static_cast<std::uint32_t>(std::min(std::ldexp(value, shift), 4294967295.0)),
                                 1u << shift};
  Entry entry = entry_of(tag, TIFF_RATIONAL, std::span<const std::uint32_t>(parts));
  entry.count = 1;
  return entry;
}

/// Bytes to write.
class Chunk {
 public:
  std::vector<std::byte> bytes;
  /// A number of so many bytes.
  void add(std::uint64_t value, std::size_t width) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    static_assert(std::endian::native == std::endian::little, "the narrow end of a number comes first");
    bytes.insert(bytes.end(), from, from + width);
  }
};

class TiffSink final : public RowFile {
 public:
  TiffSink(Output output, DType dtype, const Shape& shape, const RasterWriteOptions& options)
      : RowFile(std::move(output), dtype, shape, options.tile), compress_(options.compress) {
    across_ = (shape[1] + step_ - 1) / step_;
    tiles_ = across_ * ((shape[0] + step_ - 1) / step_);
    line_ = static_cast<std::size_t>(dtype == DType::boolean ? step_ / 8
                                                             : step_ * static_cast<std::int64_t>(size_of(dtype)));
    tile_.resize(line_ * static_cast<std::size_t>(step_));
    if (compress_) packed_.resize(compressBound(static_cast<uLong>(tile_.size())));
    constexpr std::uint64_t kRoom = std::uint64_t{1} << 24;  // for the directory
    big_ = static_cast<std::uint64_t>(tiles_) * (tile_.size() + 8) + kRoom > std::numeric_limits<std::uint32_t>::max();
    lay_out(entries(options.meaning));
  }

  void begin() override {
    RowFile::begin();
    if (compress_) return go_to(data_);  // what is skipped is filled in later
    Chunk chunk;
    const auto put_chunk = [&] {
      put(chunk.bytes.data(), chunk.bytes.size());
      chunk.bytes.clear();
    };
    const auto put_list = [&](auto value_of) {
      for (std::int64_t k = 0; k < tiles_; ++k) {
        chunk.add(value_of(static_cast<std::uint64_t>(k)), width());
        if (chunk.bytes.size() >= std::size_t{1} << 16) put_chunk();
      }
    };
    if (tiles_ > 1) put_list([&](std::uint64_t k) { return data_ + k * tile_.size(); });
    if (tiles_ > 1) put_list([&](std::uint64_t) { return tile_.size(); });
    chunk.bytes.resize(chunk.bytes.size() + data_ - end_of_lists());
    put_chunk();
  }

 private:
  std::size_t width() const { return big_ ? 8 : 4; }  // of counts and offsets
  std::uint64_t end_of_lists() const {
    return tiles_ > 1 ? counts_ + static_cast<std::uint64_t>(tiles_) * width() : start_.size();
  }

  std::vector<Entry> entries(const Meaning& meaning) const {
    const bool floats = dtype_ == DType::float32 || dtype_ == DType::float64;
    const bool is_signed = name_of(dtype_).starts_with("int");
    const int bits = dtype_ == DType::boolean ? 1 : static_cast<int>(8 * size_of(dtype_));
    const TIFFDataType place = big_ ? TIFF_LONG8 : TIFF_LONG;
    const auto tiles = static_cast<std::uint64_t>(tiles_);
    std::vector<Entry> all = {entry_of(TIFFTAG_IMAGEWIDTH, shape_[1]),
                              entry_of(TIFFTAG_IMAGELENGTH, shape_[0]),
                              entry_of(TIFFTAG_BITSPERSAMPLE, bits),
                              entry_of(TIFFTAG_COMPRESSION, compress_ ? COMPRESSION_ADOBE_DEFLATE : COMPRESSION_NONE),
                              entry_of(TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK),
                              entry_of(TIFFTAG_SAMPLESPERPIXEL, 1),
                              entry_of(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG),
                              entry_of(TIFFTAG_SAMPLEFORMAT, floats      ? SAMPLEFORMAT_IEEEFP
                                                             : is_signed ? SAMPLEFORMAT_INT
                                                                         : SAMPLEFORMAT_UINT),
                              entry_of(TIFFTAG_TILEWIDTH, step_),
                              entry_of(TIFFTAG_TILELENGTH, step_),
                              Entry{TIFFTAG_TILEOFFSETS, place, tiles, {}},
                              Entry{TIFFTAG_TILEBYTECOUNTS, place, tiles, {}}};
    for_each_tag(describe(dtype_, shape_, meaning), meaning,
                 [&](std::uint32_t tag, const auto& value) { all.push_back(entry_of(tag, value)); });
    std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.tag < b.tag; });
    return all;
  }

  /// Header, directory and values; where the lists and the tiles begin.
  void lay_out(std::vector<Entry> all) {
    const std::size_t head = big_ ? 16 : 8, entry_bytes = big_ ? 20 : 12, number = big_ ? 8 : 2;
    const std::size_t directory_end = head + number + all.size() * entry_bytes + width();
    std::uint64_t end = directory_end;
    const auto place = [&](std::uint64_t bytes) {
      const std::uint64_t at = end;
      end += (bytes + 7) / 8 * 8;
      return at;
    };
    end = (end + 7) / 8 * 8;
    Chunk chunk, values;
    values.bytes.resize(end - directory_end);
    chunk.add(big_ ? 0x002b4949 : 0x002a4949, 4);
    if (big_) chunk.add(8, 4);  // bytes of an offset
    chunk.add(head, width());
    chunk.add(all.size(), number);
    for (const Entry& entry : all) {
      chunk.add(entry.tag, 2);
      chunk.add(static_cast<std::uint64_t>(entry.type), 2);
      chunk.add(entry.count, width());
      std::uint64_t& list = entry.tag == TIFFTAG_TILEOFFSETS ? offsets_ : counts_;
      if (entry.values.empty()) list = chunk.bytes.size();  // of one tile; else moved below
      if (entry.values.size() <= width()) {
        chunk.bytes.insert(chunk.bytes.end(), entry.values.begin(), entry.values.end());
        chunk.bytes.resize(chunk.bytes.size() + width() - entry.values.size());
        continue;
      }
      chunk.add(place(entry.values.size()), width());
      values.bytes.insert(values.bytes.end(), entry.values.begin(), entry.values.end());
      values.bytes.resize(end - directory_end);
    }
    chunk.add(0, width());  // no more directories
    start_ = std::move(chunk.bytes);
    start_.insert(start_.end(), values.bytes.begin(), values.bytes.end());
    if (tiles_ > 1) {
      const std::uint64_t list_bytes = static_cast<std::uint64_t>(tiles_) * width();
      set(offsets_, end);
      set(counts_, end + list_bytes);
      offsets_ = end;
      counts_ = end + list_bytes;
    }
    data_ = (end_of_lists() + 15) / 16 * 16;
    if (tiles_ > 1 || compress_) return;
    set(offsets_, data_);
    set(counts_, tile_.size());
  }
  /// A number in the start.
  void set(std::uint64_t at, std::uint64_t value) { std::memcpy(start_.data() + at, &value, width()); }

  void forget_places(std::vector<std::byte>& start) const override {
    if (tiles_ > 1) return;
    for (std::uint64_t at : {offsets_, counts_}) std::memset(start.data() + at, 0, width());
  }

  void put_rows(const AnyConstView& rows) override {
    for (std::int64_t y = 0; y < rows.shape()[0]; y += step_) {
      Chunk offsets, counts;
      const std::int64_t first = (done_ + y) / step_ * across_;
      std::uint64_t at = compress_ ? end_of(done_ + y) : 0;
      for (std::int64_t k = 0; k < across_; ++k) {
        fill_tile(rows, y, k * step_);
        const std::span<const std::byte> bytes = compress_ ? deflated() : tile_;
        put(bytes.data(), bytes.size());
        if (!compress_) continue;
        offsets.add(at, width());
        counts.add(bytes.size(), width());
        at += bytes.size();
      }
      if (!compress_) continue;
      put_at(offsets_ + static_cast<std::uint64_t>(first) * width(), offsets.bytes.data(), offsets.bytes.size());
      put_at(counts_ + static_cast<std::uint64_t>(first) * width(), counts.bytes.data(), counts.bytes.size());
    }
  }

  /// The tile whose first pixel is (y, x) of the rows, filled up with zeros.
  void fill_tile(const AnyConstView& rows, std::int64_t y, std::int64_t x) {
    const std::int64_t high = std::min(step_, rows.shape()[0] - y), wide = std::min(step_, shape_[1] - x);
    const auto size = static_cast<std::int64_t>(size_of(dtype_));
    if (high < step_ || wide < step_) std::fill(tile_.begin(), tile_.end(), std::byte{0});
    for (std::int64_t r = 0; r < high; ++r) {
      const std::byte* const from = rows.data() + ((y + r) * rows.strides()[0] + x) * size;
      std::byte* const to = tile_.data() + static_cast<std::size_t>(r) * line_;
      if (dtype_ == DType::boolean) pack_bits(from, static_cast<std::size_t>(wide), to);
      else std::copy_n(from, wide * size, to);
    }
  }

  std::span<const std::byte> deflated() {
    uLongf size = packed_.size();
    if (compress2(reinterpret_cast<Bytef*>(packed_.data()), &size, reinterpret_cast<const Bytef*>(tile_.data()),
                  tile_.size(), Z_BEST_SPEED) != Z_OK)
      throw std::bad_alloc();  // the room suffices: nothing else can fail
    return {packed_.data(), size};
  }

  std::uint64_t end_of(std::int64_t rows) const override {
    const std::int64_t before = (rows + step_ - 1) / step_ * across_;
    if (!compress_ || before == 0) return data_ + static_cast<std::uint64_t>(before) * tile_.size();
    std::uint64_t offset = 0, count = 0;
    get_at(offsets_ + static_cast<std::uint64_t>(before - 1) * width(), &offset, width());
    get_at(counts_ + static_cast<std::uint64_t>(before - 1) * width(), &count, width());
    if (offset < data_ || offset > INT64_MAX || count == 0 || count > packed_.size())
      fail("has not the " + std::to_string(rows) + " rows behind which to go on; begin anew");
    return offset + count;
  }

  bool compress_ = false, big_ = false;
  std::int64_t across_ = 0, tiles_ = 0;
  std::size_t line_ = 0;                               // bytes of a tile's row
  std::vector<std::byte> tile_, packed_;               // one tile, and deflated
  std::uint64_t offsets_ = 0, counts_ = 0, data_ = 0;  // where the lists and the tiles begin
};

}  // namespace

void check_tiff_sink(const Shape& shape, const RasterWriteOptions& options) {
  constexpr std::int64_t kMost = 8192;  // whose tiles stay below libtiff's 2 GiB
  if (options.tile < 16 || options.tile > kMost || options.tile % 16 != 0)
    throw InvalidArgument("TIFF's tiles are 16 to " + std::to_string(kMost) +
                          " pixels high and wide, a multiple of 16, not " + std::to_string(options.tile));
  const std::int64_t down = (shape[0] + options.tile - 1) / options.tile;
  const std::int64_t across = (shape[1] + options.tile - 1) / options.tile;
  if (down * across > std::numeric_limits<std::int32_t>::max())
    throw InvalidArgument("TIFF cannot hold " + std::to_string(down * across) + " tiles; make them larger than " +
                          std::to_string(options.tile));
}

std::unique_ptr<RowFile> make_tiff_sink(Output output, DType dtype, const Shape& shape,
                                        const RasterWriteOptions& options) {
  return std::make_unique<TiffSink>(std::move(output), dtype, shape, options);
}

}  // namespace fathom::io
