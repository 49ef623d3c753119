// Images and volumes in files: NPY, TIFF and BigTIFF, NIfTI, PNG, NRRD, MetaImage; JPEG and PNM to read, VTI to write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fathom/core/array.h"
#include "fathom/io/atomic_file.h"
#include "fathom/io/meaning.h"

namespace fathom::io {

enum class Format { automatic, png, tiff, npy, nifti, nrrd, mha, vti, jpeg, pnm };

/// What becomes of pixels that hold colours.
enum class Colours {
  luminance,  ///< a gray value, Rec. 601
  packed,     ///< an integer, (red · 2ⁿ + green) · 2ⁿ + blue, n bits each: 0 where all are 0, and one for each colour.
              ///< Wider colours than 16 bits, and floats: bool, false where all are 0
  samples,    ///< all samples, opacity too, as a last axis 's'
};

struct Image {
  Array data;
  Meaning meaning;
  std::vector<std::string> warnings;  ///< what the file says and is not in the rest, a line each
};

/// What a header says, before any element is read.
struct ImageInfo {
  Format format = Format::automatic;
  DType dtype = DType::uint8;
  Shape shape;
  Meaning meaning;
  std::vector<std::string> warnings;
  bool half = false;           ///< the file holds float16, which comes as float32
  bool channel_taken = false;  ///< the options' channel is a sample of each pixel, and the elements are it alone
};

struct ReadOptions {
  Format format = Format::automatic;           ///< automatic: by the file's first bytes
  std::optional<std::size_t> memory_limit;     ///< most bytes for the elements; without it, what the machine has free
  Colours colours = Colours::luminance;
  std::string channel = {};                    ///< sample of a pixel to take alone: "red", "alpha", "2"; empty: none
  bool tones = false;                          ///< luminance is what is wanted: no warning that colours are left out
  bool axes_known = false;                     ///< whoever reads says what the axes are: no warnings of guesses
  bool print_resolution = false;               ///< take the resolution of prints, of PNG, JPEG and TIFF, for spacing
};

struct WriteOptions {
  Format format = Format::automatic;           ///< automatic: by the path's ending
  bool compress = false;                       ///< without loss, by deflate, where the format has the choice
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

/// Reads an image or volume in our byte order, row-major, with what the file says of it. Gray of 1 bit comes as bool,
/// of 2 and 4 bits spread over 0 … 255, float16 as float32. Palette images come as their indices, uint8; RGB as
/// `options.colours` says, luminance being (19595 R + 38470 G + 7471 B + 32768) >> 16 for integers, 0.299 R + 0.587 G +
/// 0.114 B for floats. The pages of a TIFF make a volume, or what ImageJ, OME or tifffile say of them; bands of a
/// GeoTIFF are channels; gray whose smallest value is white (MINISWHITE) comes as it is stored. NIfTI axes come slowest
/// first, so that the last axis is the file's first; trailing axes of extent 1 are dropped, and what scl_slope and
/// scl_inter scale comes as float. NRRD and MetaImage (.nrrd, .nhdr, .mha, .mhd): axes likewise; what is no axis of
/// space is a channel, or time; elements may lie in a file of their own, raw or by deflate. PNM: values as they are,
/// whatever the largest may be; of one bit true where it is white, as in PNG. gzip around any of them is undone.
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

/// Refuses what read_raw() would refuse before it reads. @throws IoError as there
void check_raw(const std::filesystem::path& path, const RawLayout& layout);

/// Writes beside `path`, then renames, so that the path holds the old file or the new one at any moment. "-" is
/// standard output. A name without a known ending is an error, but "-", devices and FIFOs get NPY. PNG takes 2D
/// arrays: bool (1 bit), uint8 and uint16 as they are, others scaled to 16 bits between the smallest and the largest
/// finite value, +inf to the largest, NaN to 0. TIFF takes 2 and 3 axes, and up to 5 of named ones (t, z, c, y, x),
/// bool as 1 bit, no 64-bit integers; spacing and names go into ImageJ's description, or OME's where that cannot hold
/// them; BigTIFF where 4 GiB do not suffice. NIfTI takes 1 to 7 axes, bool as uint8; NIfTI-2 where an extent exceeds
/// 32767; `.nii.gz` is compressed. NRRD takes 1 to 8 axes, bool as uint8; MetaImage the same, channels last, spacing in
/// µm, mm or cm, the place in LPS; VTI 1 to 3 axes of space, the place without a word of its frame. NPY takes
/// everything, and holds elements alone: see losses().
/// @param meaning  what to say of the array; spacing alone will do
/// @throws InvalidArgument the format cannot hold such an array; the message names one that can
/// @throws IoError the target cannot be written, or is full; no partial file is left
WriteReport write(const std::filesystem::path& path, const AnyConstView& data, const Meaning& meaning = {},
                  const WriteOptions& options = {});

/// The same into a file that the caller commits, so that several outputs appear together or not at all. The format is
/// by the ending of file.target().
WriteReport write(AtomicFile& file, const AnyConstView& data, const Meaning& meaning = {},
                  const WriteOptions& options = {});

/// Refuses what write() would refuse, from type, shape and meaning alone, so that long work does not end in a refusal;
/// else the format that write() would use.
/// @throws InvalidArgument the format cannot hold such an array; the message names one that can
Format check_write(const std::filesystem::path& path, DType dtype, const Shape& shape, const Meaning& meaning = {},
                   const WriteOptions& options = {});

/// What of the meaning a file of the format would not hold, in words: "spacing and unit (1.5, 0.2, 0.2 µm)"; empty:
/// nothing.
std::string losses(Format format, const Meaning& meaning);

/// The meaning of a part of the array, whose first element has the indices `begin`, one per axis.
Meaning cropped(const Meaning& meaning, const std::vector<std::int64_t>& begin);

/// The format that the path's ending names; automatic if none.
Format format_from_path(const std::filesystem::path& path);

/// "png", "tiff", … as options have it.
std::string_view name_of(Format format);

/// "PNG", "TIFF", … as sentences have it.
std::string_view title_of(Format format);

/// The formats that are read, or written, in the order of the documentation.
std::vector<Format> formats(bool written);

}  // namespace fathom::io
