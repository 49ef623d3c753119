// Which columns of a file of points are the coordinates: as the caller says, or by their names.
#pragma once

#include <string>
#include <vector>

#include "fathom/io/points.h"
#include "io/byte_source.h"

namespace fathom::io {

struct Column {
  std::string name;     ///< empty: none
  bool numeric = true;  ///< whether it holds numbers
};

struct Coordinates {
  std::vector<std::size_t> places;  ///< 2 or 3, of x, y and z
  std::string unit;                 ///< "m", "°" …; empty: not stated
  std::vector<std::string> warnings;
};

/// Coordinates among the columns of a file: those that options.columns says; else those whose names are known; else,
/// where there are just two or three columns of numbers and no name speaks against it, those. Names of unknown sense
/// are warned of, and so are degrees.
/// @param first  without names: the first three columns of numbers, however many there are
/// @throws IoError it is not certain which they are, or a column that options.columns says is not there; the message
///                 lists the columns
Coordinates find_coordinates(const ByteSource& source, const std::vector<Column>& columns, const PointOptions& options,
                             bool first);

/// Whether the names alone say which columns are coordinates.
bool name_coordinates(const std::vector<Column>& columns, const PointOptions& options);

bool have_names(const std::vector<Column>& columns);

/// What a column goes by: its name, or its number from 1.
std::string label_of(const std::vector<Column>& columns, std::size_t place);

/// Points of these coordinates, without their data.
Points described(const std::vector<Column>& columns, Coordinates found);

}  // namespace fathom::io
