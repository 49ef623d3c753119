// Parts of a TIFF page. Where nothing is compressed rows are taken out of the file as they lie there, whatever the size
// of a strip; else a tile or strip is read by us and decoded by libtiff, whose handles serve one thread at a time.
// libtiff is not asked where blocks lie: it would keep 16 bytes for each, 1 GB a handle for 2,000,000² pixels in tiles
// of 256². Two numbers are read from the file for each block instead.
#include "io/tiff_raster.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "fathom/core/error.h"
#include "io/convert.h"
#include "io/tiff_survey.h"

namespace fathom::io {

namespace {

using namespace tiff;

constexpr std::size_t kDecoder = std::size_t{1} << 20;  // libtiff's and its codecs' own, a handle

/// A list of numbers in the file.
struct List {
  std::uint64_t offset = 0, count = 0;
  std::size_t bytes = 0;  ///< of a number
};

/// The entries of a directory as the file has them.
class Directory {
 public:
  Directory(const SharedFile& file, const TiffFile& tiff, std::uint64_t offset)
      : file_(file), swapped_(TIFFIsByteSwapped(tiff.get()) != 0), big_(TIFFIsBigTIFF(tiff.get()) != 0) {
    constexpr std::uint64_t kMost = 65536;
    const std::uint64_t entries = number(offset, big_ ? 8 : 2);
    if (entries > kMost) file.fail("has an absurd header: a directory of " + std::to_string(entries) + " tags");
    const std::uint64_t first = offset + (big_ ? 8 : 2), size = big_ ? 20 : 12;
    for (std::uint64_t k = 0; k < entries; ++k) take(first + k * size);
  }
  List offsets, counts;         ///< of blocks
  std::uint64_t tag_bytes = 0;  ///< of the values of all other tags

  std::uint64_t at(const List& list, std::uint64_t index) const {
    if (index >= list.count)
      file_.fail("lacks the place of block " + std::to_string(index) + ", of " + std::to_string(list.count));
    return number(list.offset + index * list.bytes, list.bytes);
  }

 private:
  std::uint64_t number(std::uint64_t offset, std::size_t bytes) const {
    std::uint64_t raw = 0;
    file_.read_exactly(offset, &raw, bytes, "the tags");
    if (bytes == 2) return swapped_ ? swap_bytes(load<std::uint16_t>(&raw)) : load<std::uint16_t>(&raw);
    if (bytes == 4) return swapped_ ? swap_bytes(load<std::uint32_t>(&raw)) : load<std::uint32_t>(&raw);
    return swapped_ ? swap_bytes(raw) : raw;
  }
  void take(std::uint64_t entry) {
    const std::size_t width = big_ ? 8 : 4;  // of counts and offsets
    const std::uint64_t tag = number(entry, 2), type = number(entry + 2, 2);
    List list{entry + 4 + width, number(entry + 4, width), 0};
    list.bytes = static_cast<std::size_t>(std::max(TIFFDataWidth(static_cast<TIFFDataType>(type)), 1));
    if (list.count > file_.size() / list.bytes)
      file_.fail("has an absurd header: a tag of " + std::to_string(list.count) + " values");
    const bool is_offsets = tag == TIFFTAG_TILEOFFSETS || tag == TIFFTAG_STRIPOFFSETS;
    if (!is_offsets && tag != TIFFTAG_TILEBYTECOUNTS && tag != TIFFTAG_STRIPBYTECOUNTS) {
      tag_bytes += list.count * list.bytes;
      return;
    }
    if (type != TIFF_SHORT && type != TIFF_LONG && type != TIFF_LONG8 && type != TIFF_IFD8)
      file_.fail("has an absurd header: the places of its tiles or strips are no whole numbers");
    if (list.count * list.bytes > width) list.offset = number(list.offset, width);
    if (list.offset > file_.size()) file_.fail("is truncated: the places of its tiles or strips lie behind its end");
    List& known = is_offsets ? offsets : counts;
    if (known.bytes != 0) file_.fail("has an absurd header: it tells twice where its tiles or strips lie");
    known = list;
  }

  const SharedFile& file_;
  bool swapped_, big_;
};

/// What one thread decodes with, and the block that it decoded last.
struct Handle {
  Handle(const SharedFile& shared, const Page& wanted, std::uint64_t most_bytes)
      : source(shared), file(source, most_bytes, false) {
    go_to(file, wanted);
    read_page(file, source);  // some tags (JPEG's colour mode) must be set on the directory that is decoded
  }
  SharedSource source;
  TiffFile file;
  std::vector<std::byte> stored, decoded;
  std::int64_t block = -1;
};

class TiffRaster final : public RasterSource {
 public:
  TiffRaster(std::unique_ptr<SharedFile> file, const Survey& survey, const TiffFile& tiff, const MemoryLimit& limit)
      : file_(std::move(file)),
        page_(survey.pages[survey.stack.in_one_block ? 0 : survey.stack.pages.front()]),
        taking_(survey.taking),
        directory_(*file_, tiff, page_.offset),
        store_(page_, taking_),
        swapped_(TIFFIsByteSwapped(tiff.get()) != 0),
        limit_(limit.bytes) {
    across_ = (std::int64_t{page_.width} + page_.block_width - 1) / page_.block_width;
    down_ = (std::int64_t{page_.height} + page_.block_height - 1) / page_.block_height;
    direct_ = !page_.compressed &&
              tiff.field<std::uint16_t>(TIFFTAG_FILLORDER, FILLORDER_MSB2LSB) == FILLORDER_MSB2LSB &&
              page_.planes(taking_) == 1;
    if (bytes_of_read() > limit.bytes)
      file_->fail(std::string("is compressed in ") + (page_.tiled ? "tiles" : "strips") + " of which each takes " +
                  format_bytes(bytes_of_read()) + " to decode; " +
                  (limit.from_caller ? "the memory limit is " : "this machine has free ") + format_bytes(limit.bytes) +
                  "; save it in tiles of 256 x 256");
  }
  DType dtype() const override { return taking_.dtype; }
  std::int64_t height() const override { return page_.height; }
  std::int64_t width() const override { return page_.width; }
  Shape piece() const override {
    if (direct_ && !page_.tiled) return {1, width()};
    return {std::int64_t{page_.block_height}, std::int64_t{page_.block_width}};
  }
  std::size_t kept_bytes() const override { return sizeof *this + file_->name().size(); }
  std::size_t bytes_of_read() const override {
    if (direct_) return rows_scratch(pixel_bits());
    return static_cast<std::size_t>(page_.scratch_bytes(taking_) + most_stored() + directory_.tag_bytes * 2) + kDecoder;
  }
  std::string fingerprint() const override { return file_->fingerprint(); }

  void read(const Rectangle& part, const AnyView& out) const override {
    check_part(*this, part, out);
    if (part.empty()) return;
    file_->check_unchanged();
    std::unique_ptr<Handle> handle = direct_ ? nullptr : take_handle();
    const std::int64_t high = page_.block_height, wide = page_.block_width;
    for (std::int64_t y = part.y0 / high; y * high < part.y1; ++y)
      for (std::int64_t x = part.x0 / wide; x * wide < part.x1; ++x) {
        const Rectangle block{y * high, x * wide, (y + 1) * high, (x + 1) * wide};
        const Rectangle wanted = intersection(block, part).moved(-block.y0, -block.x0);
        std::byte* const to = element_at(out, block.y0 - part.y0, block.x0 - part.x0);
        const Target target{to, out.strides()[0] * static_cast<std::int64_t>(size_of(out.dtype()))};
        if (direct_) {
          copy(y * across_ + x, wanted, target);
        } else {
          decode(*handle, y * across_ + x);
          store(*handle, wanted, target);
        }
      }
    if (handle) give_back(std::move(handle));  // not after an error: who knows what it left
  }

 private:
  /// Where a block's first pixel goes, or would go if it were wanted.
  struct Target {
    std::byte* first;
    std::int64_t row_bytes;
    ElementRow at(std::int64_t y, std::int64_t x, DType dtype) const {
      return {first + y * row_bytes + x * static_cast<std::int64_t>(size_of(dtype)), 1, 1};
    }
  };

  int pixel_bits() const { return page_.bits * (page_.separate ? 1 : page_.samples); }
  std::size_t row_bytes() const { return static_cast<std::size_t>(page_.block_bytes / page_.block_height); }
  /// Bytes of a compressed block that are read: fax codes may take six times what they stand for.
  std::uint64_t most_stored() const { return page_.block_bytes * (page_.bits == 1 ? 8 : 2) + (std::uint64_t{1} << 16); }

  std::string place_of(std::int64_t block) const {
    return (page_.tiled ? " in the tile at row " : " in the strip at row ") +
           std::to_string(block / across_ * page_.block_height) + ", column " +
           std::to_string(block % across_ * page_.block_width);
  }
  /// The number of a block in the file's lists, of the k-th plane that is taken.
  std::uint64_t number_of(std::int64_t block, int k) const {
    return static_cast<std::uint64_t>(block + (page_.separate ? taking_.first + k : 0) * across_ * down_);
  }
  std::uint64_t offset_of(std::int64_t block, int k) const {
    const std::uint64_t offset = directory_.at(directory_.offsets, number_of(block, k));
    if (offset == 0) file_->fail("lacks the elements" + place_of(block));
    if (offset > file_->size()) file_->fail("is truncated: there is nothing" + place_of(block));
    return offset;
  }

  void copy(std::int64_t block, const Rectangle& wanted, const Target& target) const {
    const StoredRows rows{offset_of(block, 0), row_bytes(), pixel_bits()};
    const std::int64_t per_byte = std::max(8 / page_.bits, 1);
    const std::size_t samples = static_cast<std::size_t>(pixel_bits() / page_.bits);
    visit_rows(*file_, rows, wanted, [&](std::int64_t y, std::int64_t x, std::size_t count, std::byte* bytes) {
      if (swapped_ && page_.bits > 8) swap_all(bytes, count * samples, static_cast<std::size_t>(page_.bits) / 8);
      store_.store(bytes, 0, static_cast<std::size_t>(x % per_byte), count, target.at(y, x, dtype()));
    });
  }

  void decode(Handle& handle, std::int64_t block) const {
    if (handle.block == block) return;
    handle.block = -1;
    handle.file.clear_message();
    handle.decoded.assign(static_cast<std::size_t>(page_.scratch_bytes(taking_)), std::byte{0});
    const std::int64_t rows = page_.tiled
                                  ? page_.block_height
                                  : std::min<std::int64_t>(page_.block_height, height() - block * page_.block_height);
    for (int k = 0; k < page_.planes(taking_); ++k) {
      const std::uint64_t number = number_of(block, k), offset = offset_of(block, k);
      handle.stored.resize(static_cast<std::size_t>(std::min(directory_.at(directory_.counts, number), most_stored())));
      file_->read_exactly(offset, handle.stored.data(), handle.stored.size(), "the elements" + place_of(block));
      if (!TIFFReadFromUserBuffer(handle.file.get(), static_cast<std::uint32_t>(number), handle.stored.data(),
                                  static_cast<tmsize_t>(handle.stored.size()),
                                  handle.decoded.data() + static_cast<std::size_t>(k) * page_.block_bytes,
                                  rows * static_cast<tmsize_t>(row_bytes())))
        handle.file.fail("is truncated or broken" + place_of(block));
    }
    handle.block = block;
  }

  void store(const Handle& handle, const Rectangle& wanted, const Target& target) const {
    for (std::int64_t y = wanted.y0; y < wanted.y1; ++y)
      store_.store(handle.decoded.data() + static_cast<std::size_t>(y) * row_bytes(),
                   static_cast<std::size_t>(page_.block_bytes), static_cast<std::size_t>(wanted.x0),
                   static_cast<std::size_t>(wanted.width()), target.at(y, wanted.x0, dtype()));
  }

  std::unique_ptr<Handle> take_handle() const {
    {
      const std::lock_guard lock(mutex_);
      if (!handles_.empty()) {
        auto handle = std::move(handles_.back());
        handles_.pop_back();
        return handle;
      }
    }
    return std::make_unique<Handle>(*file_, page_, limit_);
  }
  void give_back(std::unique_ptr<Handle> handle) const {
    const std::lock_guard lock(mutex_);
    handles_.push_back(std::move(handle));
  }

  std::unique_ptr<SharedFile> file_;
  Page page_;
  Taking taking_;
  Directory directory_;
  RowStore store_;
  bool swapped_ = false, direct_ = false;
  std::uint64_t limit_;
  std::int64_t across_ = 0, down_ = 0;  // blocks
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Handle>> handles_;
};

}  // namespace

RasterFile open_tiff_raster(std::unique_ptr<SharedFile> file, const ReadOptions& options) {
  SharedSource source(*file);
  const ReadContext context{options, memory_limit(options.memory_limit)};
  TiffFile tiff(source, context.limit.bytes, false);
  Survey survey = survey_of(tiff, source, context);
  if (survey.taking.count > 1)
    source.fail("holds " + std::to_string(survey.taking.count) +
                " values a pixel, and a raster one; name one of them as the channel");
  const std::int64_t planes = element_count(survey.stack.extents);
  if (planes > 1)
    survey.info.warnings.push_back("holds " + std::to_string(planes) + " pages, of which the first is read");
  auto& axes = survey.info.meaning.axes;
  axes.erase(axes.begin(), axes.end() - 2);
  go_to(tiff, survey.pages[survey.stack.in_one_block ? 0 : survey.stack.pages.front()]);
  auto raster = std::make_shared<TiffRaster>(std::move(file), survey, tiff, context.limit);
  return {std::move(raster), std::move(survey.info.meaning), std::move(survey.info.warnings)};
}

}  // namespace fathom::io
