// The tags of a TIFF page and what they promise.
// Source: TIFF 6.0 (Adobe 1992) and its supplements as libtiff knows them.
#include "io/tiff_page.h"

#include <algorithm>
#include <string>

#include "fathom/core/error.h"

namespace fathom::io::tiff {

namespace {

[[noreturn]] void unread(const ByteSource& source, const std::string& what, const std::string& instead) {
  source.fail("holds " + what + "; " + instead);
}

Photometric photometric_of(const TiffFile& file, const ByteSource& source, int samples) {
  const auto photometric = file.field<std::uint16_t>(TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  const auto compression = file.field<std::uint16_t>(TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  switch (photometric) {
    case PHOTOMETRIC_MINISBLACK: return Photometric::gray;
    case PHOTOMETRIC_MINISWHITE: return Photometric::inverted;
    case PHOTOMETRIC_PALETTE: return Photometric::palette;
    case PHOTOMETRIC_RGB:
      if (samples >= 3) return Photometric::colour;
      unread(source, "RGB of " + std::to_string(samples) + " samples", "RGB needs 3");
    case PHOTOMETRIC_YCBCR:
      if (compression == COMPRESSION_JPEG && samples == 3) return Photometric::colour;
      unread(source, "YCbCr colours that are not JPEG-compressed", "convert them to RGB or gray");
    default: break;
  }
  unread(source, "colours of the kind " + std::to_string(photometric) + " (CMYK, CIELab or the like)",
         "gray, palette, RGB and JPEG's YCbCr are read; convert it");
}

/// Samples beyond the colour may be opacity. Gray may have any number of samples, which are channels.
void check_samples(const TiffFile& file, const ByteSource& source, Page& page) {
  const int used = page.photometric == Photometric::colour ? 3 : 1;
  if (page.samples == used) return;
  std::uint16_t count = 0;
  const std::uint16_t* kinds = nullptr;
  const bool known = TIFFGetFieldDefaulted(file.get(), TIFFTAG_EXTRASAMPLES, &count, &kinds) && count > 0 && kinds;
  const bool alpha = known && (kinds[0] == EXTRASAMPLE_ASSOCALPHA || kinds[0] == EXTRASAMPLE_UNASSALPHA);
  // Old writers leave the kind of RGB's fourth sample open.
  page.alpha = page.samples == used + 1 && (alpha || used == 3);
  if (page.alpha || (used == 1 && page.photometric != Photometric::palette)) return;
  unread(source, std::to_string(page.samples) + " samples per element",
         "gray of any number of channels, RGB and one alpha are read; store other channels as pages");
}

/// libtiff knows the number of every compression, but this build of it need not have its code.
void check_compression(const TiffFile& file, const ByteSource& source) {
  struct Codec {
    int number;
    const char* name;
  };
  constexpr Codec kKnown[] = {{33003, "JPEG 2000"}, {33004, "JPEG 2000"}, {33005, "JPEG 2000"}, {34712, "JPEG 2000"},
                              {22610, "JPEG XR"},   {34934, "JPEG XR"},   {50002, "JPEG XL"},   {52546, "JPEG XL"},
                              {50000, "zstd"},      {50001, "WebP"},      {34925, "LZMA"},      {34887, "LERC"},
                              {6, "old-style JPEG"}, {34661, "JBIG"}};
  const int number = file.field<std::uint16_t>(TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  if (TIFFIsCODECConfigured(static_cast<std::uint16_t>(number))) return;
  std::string name = "compression " + std::to_string(number);
  for (const Codec& codec : kKnown)
    if (codec.number == number) name = std::string(codec.name) + " compression";
  unread(source, "elements in " + name, "save it with deflate, LZW or none");
}

DType integer_of(int bits, bool is_signed) {
  switch (bits) {
    case 1: return DType::boolean;
    case 16: return is_signed ? DType::int16 : DType::uint16;
    case 32: return is_signed ? DType::int32 : DType::uint32;
    case 64: return is_signed ? DType::int64 : DType::uint64;
    default: return is_signed ? DType::int8 : DType::uint8;
  }
}

void choose_dtype(const TiffFile& file, const ByteSource& source, Page& page) {
  const auto format = file.field<std::uint16_t>(TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  const int bits = page.bits;
  const bool plain_integer = bits == 1 || bits == 2 || bits == 4 || bits == 8 || bits == 16 || bits == 32 || bits == 64;
  const std::string name = std::to_string(bits) + "-bit ";
  const std::string instead = "1, 2, 4, 8, 16, 32 and 64-bit integers and 16, 32 and 64-bit floats are read";
  if (format == SAMPLEFORMAT_IEEEFP) {
    if (bits != 16 && bits != 32 && bits != 64) unread(source, name + "floats", instead);
    page.half = bits == 16;
    page.dtype = bits == 64 ? DType::float64 : DType::float32;
  } else if (format == SAMPLEFORMAT_UINT || format == SAMPLEFORMAT_INT || format == SAMPLEFORMAT_VOID) {
    const bool is_signed = format == SAMPLEFORMAT_INT;
    if (!plain_integer || (is_signed && bits < 8)) unread(source, name + "integers", instead);
    page.dtype = integer_of(bits, is_signed);
  } else {
    unread(source, "complex numbers", instead);
  }
}

/// Refuses combinations that mean nothing or that nobody writes.
void check_meaning(const ByteSource& source, const Page& page) {
  const bool floats = page.dtype == DType::float32 || page.dtype == DType::float64;
  const std::string bits = std::to_string(page.bits) + "-bit ";
  if (page.photometric == Photometric::palette && (page.bits > 8 || floats || page.dtype == DType::int8))
    unread(source, "a palette of " + bits + "indices", "palettes of 1 to 8 bits are read");
  if (page.photometric == Photometric::colour && (page.bits < 8 || page.bits == 64) && !floats)
    unread(source, bits + "colours", "8, 16 and 32-bit colours are read");
  if (page.bits < 8 && page.samples > 1) unread(source, bits + "elements with several samples", "use 8 bits");
  if (page.half && page.samples > 1) unread(source, "several samples of 16-bit floats", "use 32-bit floats");
}

void read_blocks(TiffFile& file, const ByteSource& source, Page& page) {
  TIFF* tiff = file.get();
  page.tiled = TIFFIsTiled(tiff) != 0;
  if (page.tiled) {
    page.block_width = file.field<std::uint32_t>(TIFFTAG_TILEWIDTH);
    page.block_height = file.field<std::uint32_t>(TIFFTAG_TILELENGTH);
  } else {
    page.block_width = page.width;
    page.block_height = std::min(file.field<std::uint32_t>(TIFFTAG_ROWSPERSTRIP, UINT32_MAX), page.height);
  }
  const tmsize_t bytes = page.tiled ? TIFFTileSize(tiff) : TIFFStripSize(tiff);
  if (page.block_width == 0 || page.block_height == 0 || bytes <= 0)
    file.fail("has an absurd header: its tiles or strips have no size");
  page.block_bytes = static_cast<std::uint64_t>(bytes);

  // What libtiff will decode must be what the tags above promise, or rows would be taken from the wrong places.
  const std::uint64_t samples = page.separate ? 1 : static_cast<std::uint64_t>(page.samples);
  const std::uint64_t row_bits = std::uint64_t{page.block_width} * samples * static_cast<std::uint64_t>(page.bits);
  if (page.block_bytes != (row_bits + 7) / 8 * page.block_height)
    source.fail("has an absurd header: its tiles or strips have another size than its elements");
}

/// Tiles may reach beyond a small page, but not so far that decoding them is the greatest part of the work.
void check_tiles(const ByteSource& source, const Page& page) {
  constexpr std::uint64_t kHarmless = std::uint64_t{64} << 20;
  const std::uint64_t elements = std::uint64_t{page.width} * page.height;
  const std::uint64_t tile = std::uint64_t{page.block_width} * page.block_height;
  if (page.tiled && page.block_bytes > kHarmless && tile / 4 > elements)
    source.fail("has an absurd header: tiles of " + format_bytes(page.block_bytes) + " for " +
                to_string({std::int64_t{page.height}, std::int64_t{page.width}}) + " elements");
}

/// Elements that are not compressed must be there.
void check_uncompressed(const ByteSource& source, const Page& page) {
  if (page.compressed) return;
  const std::uint64_t row = (std::uint64_t{page.width} * static_cast<std::uint64_t>(page.bits * page.samples) + 7) / 8;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(row, page.height, &bytes)) bytes = UINT64_MAX;
  check_holds(source, 0, bytes);
}

}  // namespace

Page read_page(TiffFile& file, const ByteSource& source) {
  Page page;
  page.offset = TIFFCurrentDirOffset(file.get());
  const auto kind = file.field<std::uint32_t>(TIFFTAG_SUBFILETYPE);
  page.skipped = (kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) != 0;
  page.width = file.field<std::uint32_t>(TIFFTAG_IMAGEWIDTH);
  page.height = file.field<std::uint32_t>(TIFFTAG_IMAGELENGTH);
  if (page.width == 0 || page.height == 0) file.fail("has an absurd header: a page without elements");
  if (file.field<std::uint32_t>(TIFFTAG_IMAGEDEPTH, 1) > 1 || file.field<std::uint32_t>(TIFFTAG_TILEDEPTH, 1) > 1)
    unread(source, "a page with depth", "store a volume as pages");
  page.bits = file.field<std::uint16_t>(TIFFTAG_BITSPERSAMPLE, 1);
  page.samples = file.field<std::uint16_t>(TIFFTAG_SAMPLESPERPIXEL, 1);
  page.separate =
      page.samples > 1 && file.field<std::uint16_t>(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE;
  page.photometric = photometric_of(file, source, page.samples);
  check_samples(file, source, page);
  choose_dtype(file, source, page);
  check_meaning(source, page);
  if (page.photometric == Photometric::palette) page.dtype = DType::uint8;
  check_compression(file, source);
  page.compressed = file.field<std::uint16_t>(TIFFTAG_COMPRESSION, COMPRESSION_NONE) != COMPRESSION_NONE;
  if (file.field<std::uint16_t>(TIFFTAG_COMPRESSION, COMPRESSION_NONE) == COMPRESSION_JPEG &&
      page.photometric == Photometric::colour && !page.separate)
    TIFFSetField(file.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);  // libjpeg turns YCbCr into RGB
  read_blocks(file, source, page);
  check_tiles(source, page);
  check_uncompressed(source, page);
  return page;
}

}  // namespace fathom::io::tiff
