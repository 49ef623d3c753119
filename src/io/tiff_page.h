// One page (directory) of a TIFF: what its tags say, checked, and the decoding of its elements.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "fathom/core/array.h"
#include "io/samples.h"
#include "io/sizes.h"
#include "io/tiff_file.h"

namespace fathom::io::tiff {

/// What the samples of a page mean. Gray whose smallest value is white stays as it is stored, as tifffile, GDAL and
/// ImageJ have it: it holds masks and measurements far more often than ink on paper.
enum class Photometric { gray, inverted, palette, colour };

struct Page {
  std::uint32_t width = 0, height = 0;
  int bits = 1;                 ///< per sample
  int samples = 1;              ///< per pixel
  Photometric photometric = Photometric::gray;
  DType dtype = DType::uint8;   ///< of a sample, once decoded
  bool alpha = false;           ///< the last sample is opacity
  bool half = false;            ///< float16 in the file
  bool separate = false;        ///< one plane per sample
  bool compressed = false;
  bool tiled = false;
  std::uint32_t block_width = 0, block_height = 0;  ///< of a tile or strip
  std::uint64_t block_bytes = 0;                    ///< of a decoded tile or strip, of one plane if separate

  bool skipped = false;         ///< a reduced image or a mask of another page
  std::uint64_t offset = 0;     ///< of the directory

  Pixel pixel() const { return {dtype, samples, photometric == Photometric::colour, alpha}; }
  /// Samples that are decoded for what is taken of a pixel, from taking.first on.
  int planes(const Taking& taking) const {
    return !separate ? 1 : taking.kind == Taking::Kind::copy ? taking.count : 3;
  }
  /// Bytes that decoding takes beside the array.
  std::uint64_t scratch_bytes(const Taking& taking) const {
    return block_bytes * static_cast<std::uint64_t>(planes(taking));
  }
};

/// Reads the tags of the current directory.
/// @throws IoError broken, absurd, or of a kind that is not read
Page read_page(TiffFile& file, const ByteSource& source);

/// How decoded rows of a page, which must live as long, become elements.
class RowStore {
 public:
  RowStore(const Page& page, const Taking& taking);
  /// @param row    in native byte order, of a tile, a strip or its plane
  /// @param plane  bytes from a sample's plane to the next, if they are separate
  /// @param first  pixel of the row to begin with
  void store(const std::byte* row, std::size_t plane, std::size_t first, std::size_t count, const ElementRow& to) const;

 private:
  const Page& page_;
  Taking taking_;  // of the samples that were decoded
  std::array<std::uint8_t, 16> table_{};  // what samples of 1, 2 and 4 bits become
};

/// Decodes the current directory.
/// @param out  height × width elements of taking.dtype, or of each pixel taking.count, which lie side by side if they
///             are colours, else plane by plane
/// @throws IoError truncated or broken
void decode_page(TiffFile& file, const Page& page, const Taking& taking, std::byte* out);

}  // namespace fathom::io::tiff
