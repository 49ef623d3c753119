// How a text of points is laid out, by its first lines.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/point_columns.h"
#include "io/text_records.h"

namespace fathom::io::text {

struct Layout {
  char delimiter = ',';
  char decimal = '.';
  bool decimal_sure = true;    ///< false: the comma might divide thousands
  std::size_t skip_bytes = 0;  ///< before the first point
  std::int64_t skip_lines = 0;
  std::size_t fields = 0;                 ///< of each point
  std::int64_t line_of_fields = 0;        ///< the line that says how many
  std::optional<std::int64_t> announced;  ///< points, by a first line
  bool molecule = false;                  ///< after them the file ends
  std::vector<Column> columns;
  Coordinates coordinates;
};

/// @param sample  the start of the text, without a byte-order mark; the records in it decide
/// @param whole   whether that is all
/// @param first   whether the coordinates are the first of any number of columns, where there are no names
/// @throws IoError no points, or it is not certain which columns are coordinates
Layout find_layout(const ByteSource& source, std::string_view sample, bool whole, const PointOptions& options,
                   bool first);

}  // namespace fathom::io::text
