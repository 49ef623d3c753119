// Images and volumes in files: PNG, TIFF and BigTIFF, NPY, NIfTI.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fathom/core/array.h"
#include "fathom/io/atomic_file.h"

namespace fathom::io {

enum class Format { automatic, png, tiff, npy, nifti };

/// What a file says beyond its elements that another file of the same format wants back (NIfTI: orientation, units).
class Metadata;

struct Image {
  Array data;
  std::vector<double> spacing;  ///< along each axis, order of the shape; empty if the file states none
  std::shared_ptr<const Metadata> metadata;
};

/// What a header says, before any element is read.
struct ImageInfo {
  Format format = Format::automatic;
  DType dtype = DType::uint8;
  Shape shape;
  std::vector<double> spacing;
};

struct ReadOptions {
  Format format = Format::automatic;           ///< automatic: by the file's first bytes
  std::optional<std::size_t> memory_limit;     ///< most bytes for the elements; without it, what the machine has free
};

struct WriteOptions {
  Format format = Format::automatic;           ///< automatic: by the path's ending
};

/// How values became the integers of a PNG: stored = round((value − offset) · scale), clipped to the type.
struct WriteReport {
  Format format = Format::automatic;
  bool scaled = false;
  double offset = 0;
  double scale = 1;
};

/// Reads the header only. `path` "-" is standard input, which is kept for the read() that follows.
/// @throws IoError missing, truncated, absurd, or not an image; the message names the file and what would work
ImageInfo probe(const std::filesystem::path& path, const ReadOptions& options = {});

/// Reads an image or volume in our byte order, row-major. Colour (RGB, palette) comes as luminance, Rec. 601: (19595
/// R + 38470 G + 7471 B + 32768) >> 16 for integers, 0.299 R + 0.587 G + 0.114 B for floats; alpha is ignored. Gray
/// of 1 bit comes as bool, of 2 and 4 bits spread over 0 … 255. The pages of a TIFF make a volume. NIfTI axes come
/// slowest first, so that the last axis is the file's first; trailing axes of extent 1 are dropped, and what
/// scl_slope and scl_inter scale comes as float. float16 comes as float32. Spacing comes from NIfTI only: resolutions
/// in PNG and TIFF say how to print.
/// @throws IoError missing, truncated, absurd, not an image, or larger than the memory limit
Image read(const std::filesystem::path& path, const ReadOptions& options = {});

/// What a file without a header holds: all elements, row-major.
struct RawLayout {
  DType dtype = DType::uint8;
  Shape shape;
  bool big_endian = false;
};

/// Reads such a file; `path` "-" is standard input.
/// @throws IoError missing, of another size than the layout says, or larger than the memory limit
Array read_raw(const std::filesystem::path& path, const RawLayout& layout, const ReadOptions& options = {});

/// Writes beside `path`, then renames, so that the path holds the old file or the new one at any moment. "-" is
/// standard output. A name without a known ending is an error, but "-", devices and FIFOs get NPY. PNG takes 2D
/// arrays: bool (1 bit), uint8 and uint16 as they are, others scaled to 16 bits between the smallest and the largest
/// finite value, +inf to the largest, NaN to 0. TIFF takes 2 and 3 axes (pages), bool as 1 bit, no 64-bit integers;
/// BigTIFF where 4 GiB do not suffice. NIfTI takes 1 to 7 axes, bool as uint8; NIfTI-2 where an extent exceeds 32767;
/// `.nii.gz` is compressed. NPY takes everything.
/// @param metadata  of the image that the data came from: a NIfTI keeps its orientation and units
/// @throws InvalidArgument the format cannot hold such an array; the message names one that can
/// @throws IoError the target cannot be written, or is full; no partial file is left
WriteReport write(const std::filesystem::path& path, const AnyConstView& data, const std::vector<double>& spacing = {},
                  const Metadata* metadata = nullptr, const WriteOptions& options = {});

/// The same into a file that the caller commits, so that several outputs appear together or not at all. The format is
/// by the ending of file.target().
WriteReport write(AtomicFile& file, const AnyConstView& data, const std::vector<double>& spacing = {},
                  const Metadata* metadata = nullptr, const WriteOptions& options = {});

/// Refuses what write() would refuse, from type and shape alone, so that long work does not end in a refusal; else the
/// format that write() would use.
/// @throws InvalidArgument the format cannot hold such an array; the message names one that can
Format check_write(const std::filesystem::path& path, DType dtype, const Shape& shape,
                   const WriteOptions& options = {});

/// The format that the path's ending names; automatic if none.
Format format_from_path(const std::filesystem::path& path);

std::string_view name_of(Format format);

}  // namespace fathom::io
