// The table of formats: what each can do, one row each. A new format is a source file, a row in formats.cpp and a value
// of Format.
#pragma once

#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fathom/io/image.h"
#include "io/byte_sink.h"
#include "io/byte_source.h"
#include "io/sizes.h"

namespace fathom::io {

/// What reading is to do, and within which memory.
struct ReadContext {
  const ReadOptions& options;
  MemoryLimit limit;
  std::optional<std::filesystem::path> directory = {};  ///< where the file lies; a pipe lies nowhere
};

/// Where a file goes. libtiff wants the stream itself; everybody else writes to the sink, which compresses for .gz.
struct Target {
  std::string name;
  std::FILE* stream;
  ByteSink& sink;
  bool compress;
};

/// What a file of a format keeps of a Meaning; what is not named here is lost.
enum Holds : unsigned {
  kElementsAlone = 0,
  kSpacing = 1,
  kUnit = 2,
  kAxes = 4,    ///< which axes are channels or time
  kPlace = 8,
  kNoData = 16,
  kGeoreference = 32,
};

struct FormatRow {
  Format format;
  std::string_view name;                                ///< as options have it
  std::string_view title;                               ///< as sentences have it
  std::span<const std::string_view> endings = {};       ///< of names to write, with the dot; the usual one first
  bool compresses = false;                              ///< as WriteOptions::compress asks for
  bool needs_seek = false;                              ///< reading goes back and forth: pipes go into memory first
  unsigned holds = kElementsAlone;
  ImageInfo (*probe)(ByteSource&, const ReadContext&) = nullptr;
  Image (*read)(ByteSource&, const ReadContext&) = nullptr;                       ///< null: is not read
  void (*check)(DType, const Shape&, const Meaning&) = nullptr;
  WriteReport (*write)(Target&, const AnyConstView&, const Meaning&) = nullptr;   ///< null: is not written
};

std::span<const FormatRow> format_table();
const FormatRow& row_of(Format format);
/// "PNG, TIFF, NPY and NIfTI".
std::string titles(bool written);

namespace npy {
ImageInfo probe(ByteSource& source, const ReadContext& context);
Image read(ByteSource& source, const ReadContext& context);
void check(DType dtype, const Shape& shape, const Meaning& meaning);
WriteReport write(Target& target, const AnyConstView& data, const Meaning& meaning);
/// The type's name in quotes, as a header has it.
std::string descr_of(DType dtype);
/// @param descr  an element type in quotes, or a list of fields
void write_header(ByteSink& sink, const std::string& descr, const Shape& shape);
}  // namespace npy

namespace png {
ImageInfo probe(ByteSource& source, const ReadContext& context);
Image read(ByteSource& source, const ReadContext& context);
void check(DType dtype, const Shape& shape, const Meaning& meaning);
WriteReport write(Target& target, const AnyConstView& data, const Meaning& meaning);
}  // namespace png

namespace tiff {
ImageInfo probe(ByteSource& source, const ReadContext& context);
Image read(ByteSource& source, const ReadContext& context);
void check(DType dtype, const Shape& shape, const Meaning& meaning);
WriteReport write(Target& target, const AnyConstView& data, const Meaning& meaning);
}  // namespace tiff

namespace nifti {
ImageInfo probe(ByteSource& source, const ReadContext& context);
Image read(ByteSource& source, const ReadContext& context);
void check(DType dtype, const Shape& shape, const Meaning& meaning);
WriteReport write(Target& target, const AnyConstView& data, const Meaning& meaning);
}  // namespace nifti

namespace nrrd {
ImageInfo probe(ByteSource& source, const ReadContext& context);
Image read(ByteSource& source, const ReadContext& context);
void check(DType dtype, const Shape& shape, const Meaning& meaning);
WriteReport write(Target& target, const AnyConstView& data, const Meaning& meaning);
}  // namespace nrrd

namespace mha {
/// Whether a header can state it.
bool holds_unit(std::string_view unit);
ImageInfo probe(ByteSource& source, const ReadContext& context);
Image read(ByteSource& source, const ReadContext& context);
void check(DType dtype, const Shape& shape, const Meaning& meaning);
WriteReport write(Target& target, const AnyConstView& data, const Meaning& meaning);
}  // namespace mha

namespace vti {
void check(DType dtype, const Shape& shape, const Meaning& meaning);
WriteReport write(Target& target, const AnyConstView& data, const Meaning& meaning);
}  // namespace vti

namespace jpeg {
ImageInfo probe(ByteSource& source, const ReadContext& context);
Image read(ByteSource& source, const ReadContext& context);
}  // namespace jpeg

namespace pnm {
ImageInfo probe(ByteSource& source, const ReadContext& context);
Image read(ByteSource& source, const ReadContext& context);
}  // namespace pnm

/// Reads from any source: what read() does after opening the file.
/// @param directory  where the file lies, for headers that name another file; none: it is no file
Image read_image(ByteSource& source, const ReadOptions& options,
                 const std::optional<std::filesystem::path>& directory = {});
ImageInfo probe_image(ByteSource& source, const ReadOptions& options,
                      const std::optional<std::filesystem::path>& directory = {});

}  // namespace fathom::io
