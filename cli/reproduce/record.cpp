#include "reproduce/record.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <utility>

#include "fathom/core/error.h"
#include "interrupt.h"
#include "warnings.h"

namespace fathom::cli {

namespace {

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

std::optional<double> optional_number(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

Json to_json(const Outcome& outcome) {
  Json rows = Json::array(), figures = Json::array();
  for (const Row& row : outcome.rows)
    rows.push_back({{"table", row.table},
                    {"row", row.row},
                    {"column", row.column},
                    {"unit", row.unit},
                    {"paper", number_or_null(row.paper)},
                    {"published", number_or_null(row.published)},
                    {"fathom", number_or_null(row.fathom)},
                    {"copy", number_or_null(row.copy)},
                    {"note", row.note}});
  for (const Figure& figure : outcome.figures) {
    Json curves = Json::array();
    for (const Curve& curve : figure.curves) curves.push_back({{"name", curve.name}, {"points", curve.points}});
    figures.push_back({{"name", figure.name},
                       {"x", figure.x},
                       {"y", figure.y},
                       {"curves", std::move(curves)},
                       {"log_x", figure.log_x},
                       {"log_y", figure.log_y},
                       {"note", figure.note}});
  }
  return {{"rows", std::move(rows)}, {"figures", std::move(figures)}, {"left_out", outcome.left_out}};
}

Outcome outcome_of(const Json& json) {
  Outcome outcome;
  for (const Json& row : json.at("rows"))
    outcome.rows.push_back({row.at("table"), row.at("row"), row.at("column"), row.at("unit"),
                            optional_number(row.at("paper")), optional_number(row.at("published")),
                            optional_number(row.at("fathom")), optional_number(row.at("copy")), row.at("note")});
  for (const Json& figure : json.at("figures")) {
    std::vector<Curve> curves;
    for (const Json& curve : figure.at("curves")) curves.push_back({curve.at("name"), curve.at("points")});
    outcome.figures.push_back({figure.at("name"), figure.at("x"), figure.at("y"), std::move(curves), figure.at("log_x"),
                               figure.at("log_y"), figure.at("note")});
  }
  outcome.left_out = json.at("left_out");
  return outcome;
}

std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::localtime(std::time(nullptr))); }

/// "version 0.1.0, not 0.2.0"; empty where they say the same.
std::string difference(const Json& there, const Json& here) {
  std::string text;
  const auto shown = [](const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); };
  for (const auto& [key, value] : here.items())
    if (there.value(key, Json()) != value)
      text +=
          fmt::format("{}{} {}, not {}", text.empty() ? "" : "; ", key, shown(there.value(key, Json())), shown(value));
  return text;
}

}  // namespace

void put_in_place(PendingFiles& files) {
  files.commit();  // which holds signals
  hold_signals("what was measured is kept, and the same command goes on from there");
  release_signals();
  release_signals();
}

Record::Record(std::string path, Json about) : path_(std::move(path)) {
  const Json empty = {{"about", about}, {"studies", Json::object()}};
  std::ifstream file(path_);
  json_ = !file ? empty : Json::parse(file, nullptr, false);
  if (!json_.is_object() || !json_.contains("about") || !json_.contains("studies"))
    throw IoError(fmt::format("{} holds no measurements; remove it, or give another directory by -o", path_));
  const std::string other = difference(json_["about"], about);
  if (other.empty()) return;
  warn(fmt::format("{} holds measurements of {}; they are made anew", path_, other));
  json_ = empty;
}

std::optional<Outcome> Record::find(const std::string& study, const std::string& step) const {
  const Json steps = json_["studies"].value(study, Json::object()).value("steps", Json::object());
  const auto at = steps.find(step);
  if (at == steps.end()) return std::nullopt;
  try {
    return outcome_of(*at);
  } catch (const Json::exception&) {
    throw IoError(fmt::format("{} is broken at {}, {}; measure with --anew", path_, study, step));
  }
}

void Record::add(const std::string& study, const std::string& step, const Outcome& outcome) {
  json_["studies"][study]["date"] = today();
  json_["studies"][study]["steps"][step] = to_json(outcome);
  PendingFiles files;
  const std::string text = json_.dump(1) + "\n";
  std::fwrite(text.data(), 1, text.size(), files.add(path_).stream());
  put_in_place(files);
}

std::string Record::date_of(const std::string& study) const { return json_["studies"][study]["date"]; }

}  // namespace fathom::cli
