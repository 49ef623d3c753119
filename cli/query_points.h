// The files of points that `query` reads: how they are read, and what is said of them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "fathom/io/points.h"
#include "query.h"
#include "report.h"

namespace fathom::cli {

struct Points {
  io::Points sites;
  io::Points queries;
};

/// --columns, --delimiter and --decimal, for both files.
/// @throws InvalidArgument
io::PointOptions parse_point_options(const QueryArguments& arguments);

/// Reads both and warns of what was guessed.
/// @throws IoError a file is not to be read, or has a coordinate that is not finite
/// @throws InvalidArgument one has two coordinates and the other three, or they state different units; a delimiter or
/// decimal mark was given and neither is text
Points read_both(const QueryArguments& arguments, const io::PointOptions& options);

/// Where there was a choice: "trees.csv: x is 'lon', y is 'lat'\n".
std::string columns_text(const std::string& path, const io::Points& points);

nlohmann::ordered_json points_json(const std::string& path, const io::Points& points);

}  // namespace fathom::cli
