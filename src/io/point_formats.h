// What each format of points offers to the front in points.cpp.
#pragma once

#include <span>
#include <string>

#include "fathom/io/points.h"
#include "io/byte_source.h"
#include "io/sizes.h"

namespace fathom::io {

namespace ply {
/// The vertices.
Points read(ByteSource& source, const MemoryLimit& limit, const PointOptions& options);
}  // namespace ply

namespace npy {
/// The rows of [n, k], or of a structured array [n].
Points read_points(ByteSource& source, const MemoryLimit& limit, const PointOptions& options);
}  // namespace npy

namespace text {
/// @param first  whether the coordinates are the first of any number of columns without names
Points read(ByteSource& source, const MemoryLimit& limit, const PointOptions& options, bool first);
}  // namespace text

/// What a file is that holds points in a format that is not read here, or other things, and the way out: "a LAS or LAZ
/// point cloud; …". Empty if it is not known.
/// @param start  its first bytes, at least 544 of them where there are as many
std::string foreign_points(std::span<const std::byte> start);

/// Reads from any source: what read_points() does after opening the file.
Points read_points(ByteSource& source, const MemoryLimit& limit, const PointOptions& options, bool first);

}  // namespace fathom::io
