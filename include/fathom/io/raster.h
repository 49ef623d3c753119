// Rasters in files that are read and written a part at a time: larger than memory, 64-bit throughout.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fathom/core/raster.h"
#include "fathom/io/image.h"

namespace fathom::io {

struct RasterFile {
  std::shared_ptr<const RasterSource> source;
  Meaning meaning;                    ///< of its axes y and x
  std::vector<std::string> warnings;  ///< as ImageInfo has them; also that a TIFF has more pages than the first
};

/// Opens a raster, whose pixels are those that read() gives, of two axes and one value a pixel. TIFF, BigTIFF (tiles
/// and strips) and NPY are read where they are needed, by pread, of a TIFF the first page. All else is read whole,
/// within options.memory_limit: PNG, JPEG, PNM and the like, gzip, pipes, and NPY in Fortran order. Of a TIFF that is
/// compressed a tile or strip is the least that can be decoded: bytes_of_read() says what that takes, which the source
/// keeps for each thread that read at the same time; of others it is 128 KiB.
/// @throws IoError as read(); more than two axes; several values a pixel (options.channel takes one)
RasterFile open_raster(const std::filesystem::path& path, const ReadOptions& options = {});

/// The size of pixels, where they are stated and are squares of some length; else 1.
struct SquarePixel {
  double size = 1;
  std::string unit;
  std::string reason;  ///< why what is stated is of no use, as in "its pixels are in degrees"; else empty
};
SquarePixel square_pixel(const Meaning& meaning);
/// What is written of such pixels: of those of size 1 without a unit nothing.
Meaning meaning_of(const SquarePixel& pixel);

/// Opens a file without a header. @param layout  of two axes
/// @param packed  bool in 8 pixels a byte, the first one highest, rows filled up to whole bytes
/// @throws IoError missing, or of another size than the layout says @throws InvalidArgument not two axes
std::shared_ptr<const RasterSource> open_raw_raster(const std::filesystem::path& path, const RawLayout& layout,
                                                    bool packed = false);

struct RasterWriteOptions {
  Format format = Format::automatic;  ///< npy or tiff; automatic: by the path's ending, NPY where it is nameless
  bool raw = false;                   ///< elements alone, in this machine's byte order, whatever the format
  bool packed = false;                ///< raw bool: 8 pixels a byte as above. TIFF holds bool so, NPY never
  bool compress = false;              ///< TIFF: by deflate, into a file, not a pipe
  std::int64_t tile = 256;            ///< TIFF: height and width, a multiple of 16; also row_step()
  Meaning meaning = {};               ///< NPY and raw hold none of it
};

/// A raster to write row after row. TIFF is tiled, BigTIFF where 4 GiB do not suffice. Where its tiles lie stands
/// before them, so that it takes memory for one tile, with deflate for two and 16 bytes a tile across, and without
/// deflate goes into pipes, too.
/// @param file  which the caller commits after finish(), and which must live as long
/// @throws InvalidArgument the format cannot hold it, the message names what would @throws IoError as its write()
std::unique_ptr<RasterSink> create_raster(AtomicFile& file, DType dtype, std::int64_t height, std::int64_t width,
                                          const RasterWriteOptions& options = {});

/// The same into a file of that very name, which outlives a kill: give it a name that looks unfinished, rename it after
/// finish(). With `rows` > 0 goes on behind that many rows, a multiple of row_step() or all, which were written with
/// the same type, size and options; what follows them is cut off. Rows that were written before a sync() are there
/// after a power cut.
/// @throws IoError the file is another, or has not as many rows
std::unique_ptr<RasterSink> resume_raster(const std::filesystem::path& path, DType dtype, std::int64_t height,
                                          std::int64_t width, const RasterWriteOptions& options, std::int64_t rows);

}  // namespace fathom::io
