// The line of JSON about the work, for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "fathom/core/shape.h"
#include "fathom/io/image.h"

namespace fathom::cli {

using Json = nlohmann::ordered_json;

/// Prints to standard output. @throws IoError it is closed or full
void print_line(const Json& json);

/// What the header of a file says: format, type, shape, and its meaning.
Json describe(const std::string& path, const io::ImageInfo& info);

/// A number, or "inf", "-inf", "nan", which JSON numbers lack.
Json json_number(double value);

Json to_json(const Shape& shape);

/// null for an empty text.
Json text_or_null(const std::string& text);

/// Adds where and how the library did the work.
/// @param report  of any of its calls
template <class Report>
void add_execution(const Report& report, Json& json) {
  json["backend"] = fathom::name_of(report.backend);
  json["device"] = text_or_null(report.device);
  json["instruction_set"] = fathom::name_of(report.instruction_set);
  json["threads"] = report.threads;
  json["scratch_bytes"] = report.scratch_bytes;
}

}  // namespace fathom::cli
