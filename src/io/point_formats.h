// What each format of points offers to the front in points.cpp.
#pragma once

#include <string_view>

#include "fathom/core/array.h"
#include "io/byte_source.h"
#include "io/sizes.h"

namespace fathom::io {

namespace ply {
/// The vertices' x, y and z, or x and y.
Array read(ByteSource& source, const MemoryLimit& limit);
}  // namespace ply

namespace text {
/// @param first_columns  whether the coordinates are the first of any number of columns
Array read(ByteSource& source, const MemoryLimit& limit, bool first_columns);
}  // namespace text

/// Reads from any source: what read_points() does after opening the file.
Array read_points(ByteSource& source, const MemoryLimit& limit, bool first_columns);

}  // namespace fathom::io
