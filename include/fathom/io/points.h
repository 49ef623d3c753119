// Points and tables in files: NPY, CSV, PLY, XYZ.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fathom/core/array.h"
#include "fathom/io/atomic_file.h"

namespace fathom::io {

/// Points of a file as [n, 2] or [n, 3]: int32, float32 or float64. The first bytes tell the format; "-" is standard
/// input. NPY: an array of that shape; other integers come as int32. PLY: the vertices' x, y and z, text or binary.
/// Else text, CSV or XYZ: numbers separated by commas, semicolons or white space, one point in each line; "#" begins a
/// comment; a first line of names is a header. Columns x, y and z by the header, or the only two or three there are;
/// files that end in .xyz have theirs first. Text comes as int32 where all numbers are such integers, else float64.
/// @throws IoError missing, broken, no points, or larger than the machine's free memory
Array read_points(const std::filesystem::path& path);

enum class TableFormat { automatic, npy, csv, ply };

/// A named column: values [n] or [n, k], dense.
struct TableColumn {
  std::string name;
  AnyConstView values;
};

/// The format that write_table() would use, by the path's ending where `format` does not say; "-", devices and
/// FIFOs get NPY.
/// @throws InvalidArgument no such ending; PLY for more than one value per row
TableFormat check_table(const std::filesystem::path& path, std::int64_t values_per_row, TableFormat format);

/// Rows of all columns together. NPY: a structured array [n] or [n, k], one field per column. CSV: a header, one line
/// per row; with several values per row name_1, name_2, … PLY: vertices with the columns as properties, 64-bit integers
/// as int.
/// @param points  the rows' points for PLY, [n, 2] or [n, 3]
/// @throws InvalidArgument an integer that PLY does not hold
/// @throws IoError the file is full or broken
void write_table(AtomicFile& file, const std::vector<TableColumn>& columns, const AnyConstView& points,
                 TableFormat format);

std::string_view name_of(TableFormat format);

}  // namespace fathom::io
