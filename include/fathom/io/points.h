// Points and tables in files: NPY, CSV, PLY, XYZ.
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

namespace fathom::io {

/// What a file of points does not say itself.
struct PointOptions {
  std::vector<std::string> columns;  ///< of x, y and, perhaps, z: names, or numbers from 1; empty: by their names
  char delimiter = 0;                ///< of text, ' ' being any blanks and tabs; 0: by the first lines
  char decimal = 0;                  ///< of text, '.' or ','; 0: by the first lines
};

struct Points {
  Array data;                         ///< [n, 2] or [n, 3]: int32, float32 or float64
  std::vector<std::string> columns;   ///< what the coordinates are called in the file; without names, numbers from 1
  bool chosen = false;                ///< whether the file has other columns, or these in another order
  bool is_text = false;               ///< so that a delimiter and a decimal mark have a meaning
  std::string unit;                   ///< that the names state, such as "m", "°"; empty: none
  std::vector<std::string> warnings;  ///< what was guessed or left out, a line each
};

/// Points of a file; its first bytes tell the format, and "-" is standard input. NPY: [n, 2] or [n, 3], or with
/// options.columns [n, k], or a structured array; integers come as int32, or as float64 where they do not fit. PLY: the
/// vertices' x, y and z. Else text: CSV with any delimiter and RFC 4180's quotes, words between blanks, PTS, molecules
/// as XYZ, what CloudCompare writes. '#', '%' and "//" begin a comment; names stand in a first line, or in a comment
/// before the first point. Files that end in .xyz or .pts have their coordinates first, where there are no names. Text
/// comes as int32 where all numbers are such integers, else float64. gzip is undone.
/// @throws InvalidArgument options that contradict each other
/// @throws IoError missing, broken, no points, larger than the machine's free memory, integers that float64 merges, or
///                 not certain in what is what
Points read_points(const std::filesystem::path& path, const PointOptions& options = {});

/// Rows of three whole numbers, one row behind the other, from files as above: their first three columns.
/// @throws IoError as read_points(); a number that is not whole, with the number of its row
std::vector<std::int64_t> read_whole_triples(const std::filesystem::path& path);

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
