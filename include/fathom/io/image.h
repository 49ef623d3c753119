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

/// Reads an image or volume. Gray, palette and RGB(A) come as luminance; a multi-page TIFF is a volume; NIfTI axes come
/// slowest first, so that the last axis is the file's first. NPY in Fortran order or foreign endianness comes in ours.
/// @throws IoError missing, truncated, absurd, not an image, or larger than the memory limit
Image read(const std::filesystem::path& path, const ReadOptions& options = {});

/// Writes beside `path`, then renames, so that the path holds the old file or the new one at any moment. "-" is standard
/// output. PNG takes 2D arrays: bool and uint8 and uint16 as they are, others scaled to 16 bits.
/// @throws InvalidArgument the format cannot hold such an array; the message names one that can
/// @throws IoError the target cannot be written, or is full; no partial file is left
WriteReport write(const std::filesystem::path& path, const AnyConstView& data, const std::vector<double>& spacing = {},
                  const Metadata* metadata = nullptr, const WriteOptions& options = {});

/// The same into a file that the caller commits, so that several outputs appear together or not at all. The format is by
/// the ending of file.target().
WriteReport write(AtomicFile& file, const AnyConstView& data, const std::vector<double>& spacing = {},
                  const Metadata* metadata = nullptr, const WriteOptions& options = {});

/// Refuses what write() would refuse, from type and shape alone, so that long work does not end in a refusal; else the
/// format that write() would use.
/// @throws InvalidArgument the format cannot hold such an array; the message names one that can
Format check_write(const std::filesystem::path& path, DType dtype, const Shape& shape, const WriteOptions& options = {});

/// The format that the path's ending names; automatic if none.
Format format_from_path(const std::filesystem::path& path);

std::string_view name_of(Format format);

}  // namespace fathom::io
