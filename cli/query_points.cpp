#include "query_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "input.h"
#include "json.h"
#include "statistics.h"
#include "warnings.h"

namespace fathom::cli {

namespace {

std::vector<std::string> parse_columns(const std::string& text) {
  std::vector<std::string> columns;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    columns.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  const bool empty = std::any_of(columns.begin(), columns.end(), [](const std::string& name) { return name.empty(); });
  if (empty || columns.size() < 2 || columns.size() > 3)
    throw InvalidArgument(
        fmt::format("--columns takes two or three names or numbers, such as lon,lat or 2,3,4, not '{}'", text));
  return columns;
}

char parse_delimiter(const std::string& text) {
  if (text == "tab" || text == "\\t") return '\t';
  if (text == "space") return ' ';
  const auto means_something = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("\"#+-.\r\n").find(c) != std::string_view::npos;
  };
  if (text.size() != 1 || means_something(text[0]))
    throw InvalidArgument(fmt::format("--delimiter takes a mark such as ',' or ';', tab or space, not '{}'", text));
  return text[0];
}

char parse_decimal(const std::string& text) {
  if (text != "." && text != ",") throw InvalidArgument(fmt::format("--decimal takes '.' or ',', not '{}'", text));
  return text[0];
}

io::Points read_finite(const std::string& path, const io::PointOptions& options, const char* noun) {
  io::Points points = io::read_points(path, options);
  const std::int64_t bad = first_not_finite(points.data.view());
  if (bad < points.data.size())
    throw IoError(fmt::format("{}: {} {} has a coordinate that is not finite; leave such points out", path, noun,
                              bad / points.data.shape()[1]));
  return points;
}

}  // namespace

io::PointOptions parse_point_options(const QueryArguments& arguments) {
  io::PointOptions options;
  if (!arguments.columns.empty()) options.columns = parse_columns(arguments.columns);
  if (!arguments.delimiter.empty()) options.delimiter = parse_delimiter(arguments.delimiter);
  if (!arguments.decimal.empty()) options.decimal = parse_decimal(arguments.decimal);
  if (options.decimal == ',' && options.delimiter == ',')
    throw InvalidArgument("',' cannot be both --decimal and --delimiter");
  return options;
}

Points read_both(const QueryArguments& arguments, const io::PointOptions& options) {
  Points points{read_finite(arguments.sites, options, "site"), read_finite(arguments.queries, options, "query")};
  const io::Points &sites = points.sites, &queries = points.queries;
  if (sites.data.shape()[1] != queries.data.shape()[1])
    throw InvalidArgument(fmt::format("{} has points with {} coordinates, {} with {}", arguments.sites,
                                      sites.data.shape()[1], arguments.queries, queries.data.shape()[1]));
  if (!sites.unit.empty() && !queries.unit.empty() && sites.unit != queries.unit)
    throw InvalidArgument(fmt::format("{} is in {}, {} in {}; bring them to one unit", arguments.sites, sites.unit,
                                      arguments.queries, queries.unit));
  if (sites.columns != queries.columns &&
      std::is_permutation(sites.columns.begin(), sites.columns.end(), queries.columns.begin()))
    throw InvalidArgument(fmt::format("{} has the columns {}, {} has {}; say which are x and y with --columns {}",
                                      arguments.sites, fmt::join(sites.columns, ", "), arguments.queries,
                                      fmt::join(queries.columns, ", "), fmt::join(sites.columns, ",")));
  if (!sites.is_text && !queries.is_text && (options.delimiter != 0 || options.decimal != 0))
    throw InvalidArgument(fmt::format("{} is for text, and neither {} nor {} is text; leave it out",
                                      options.delimiter != 0 ? "--delimiter" : "--decimal",
                                      input_name(arguments.sites), input_name(arguments.queries)));
  for (const io::Points* file : {&sites, &queries})
    for (const std::string& warning : file->warnings) warn(warning);
  return points;
}

std::string columns_text(const std::string& path, const io::Points& points) {
  if (!points.chosen) return {};
  std::string text = input_name(path) + ":";
  for (std::size_t axis = 0; axis < points.columns.size(); ++axis)
    text += fmt::format("{} {} is '{}'", axis == 0 ? "" : ",", "xyz"[axis], points.columns[axis]);
  return text + "\n";
}

Json points_json(const std::string& path, const io::Points& points) {
  return {{"path", path},
          {"dtype", fathom::name_of(points.data.dtype())},
          {"count", points.data.shape()[0]},
          {"axes", points.data.shape()[1]},
          {"columns", points.columns},
          {"unit", text_or_null(points.unit)}};
}

}  // namespace fathom::cli
