#include "json.h"

#include <cmath>

#include "report.h"

namespace fathom::cli {

void print_line(const Json& json) {
  // File names need not be UTF-8; JSON must be.
  print_text(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

Json to_json(const Shape& shape) { return std::vector<std::int64_t>(shape.begin(), shape.end()); }

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json json_number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Json describe(const std::string& path, const io::ImageInfo& info) {
  const io::Meaning& meaning = info.meaning;
  return {{"path", path},
          {"format", io::name_of(info.format)},
          {"dtype", fathom::name_of(info.dtype)},
          {"shape", to_json(info.shape)},
          {"spacing", meaning.spacing().empty() ? Json(nullptr) : Json(meaning.spacing())},
          {"unit", text_or_null(meaning.unit())},
          {"axes", text_or_null(meaning.axis_names())},
          {"origin", meaning.place ? Json(meaning.place->origin) : Json(nullptr)},
          {"directions", meaning.place ? Json(meaning.place->directions) : Json(nullptr)},
          {"no_data", text_or_null(meaning.no_data)},
          {"colours", meaning.colours},
          {"georeference", text_or_null(meaning.georeference)},
          {"warnings", info.warnings}};
}

}  // namespace fathom::cli
