// What each file format offers to the front in image.cpp. One namespace and one source file per format.
#pragma once

#include <optional>
#include <string>

#include "fathom/io/image.h"
#include "io/byte_sink.h"
#include "io/byte_source.h"
#include "io/sizes.h"

namespace fathom::io {

namespace npy {
ImageInfo probe(ByteSource& source);
Image read(ByteSource& source, const MemoryLimit& limit);
void write(ByteSink& sink, const AnyConstView& data);
/// The type's name in quotes, as a header has it.
std::string descr_of(DType dtype);
/// @param descr  an element type in quotes, or a list of fields
void write_header(ByteSink& sink, const std::string& descr, const Shape& shape);
}  // namespace npy

namespace png {
ImageInfo probe(ByteSource& source);
Image read(ByteSource& source, const MemoryLimit& limit);
/// @throws InvalidArgument not a 2D image that PNG can hold
void check(DType dtype, const Shape& shape);
WriteReport write(ByteSink& sink, const AnyConstView& data);
}  // namespace png

namespace tiff {
ImageInfo probe(ByteSource& source, const MemoryLimit& limit);
Image read(ByteSource& source, const MemoryLimit& limit);
void check(DType dtype, const Shape& shape);
void write(const std::string& name, std::FILE* stream, const AnyConstView& data);
}  // namespace tiff

namespace nifti {
ImageInfo probe(ByteSource& source);
Image read(ByteSource& source, const MemoryLimit& limit);
void check(DType dtype, const Shape& shape);
void write(ByteSink& sink, const AnyConstView& data, const std::vector<double>& spacing, const Metadata* metadata);
}  // namespace nifti

/// Reads from any source: what read() does after opening the file.
Image read_image(ByteSource& source, const ReadOptions& options);
ImageInfo probe_image(ByteSource& source, const ReadOptions& options);

}  // namespace fathom::io
