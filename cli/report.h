// What the command says about its work: lines for people; json.h: one line of JSON for programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan.h"
#include "statistics.h"

namespace fathom::cli {

/// Prints to standard output. @throws IoError it is closed or full
void print_text(std::string_view text);
/// Prints to standard error. Where that is closed or full the text is lost, and nothing else.
void print_aside(std::string_view text);
/// What reports call an output.
std::string shown(const std::string& path);
/// Prints what was done, unless --quiet was given: to standard output, or to standard error if one of the outputs, by
/// whatever name, is standard output; not at all if they are one.
void print_report(std::string_view text, const std::vector<std::string>& outputs);
/// A text in which control characters stand as \x1b and the like: a terminal would obey them.
std::string printable(std::string_view text);
/// Prints "fathom: TEXT" there, printable and in one line, whatever the text holds: file names may contain line breaks.
void print_message(std::string text);

/// What takes a bar off a terminal's line.
inline constexpr const char* kEraseLine = "\r\033[K";

struct Seconds {
  double read = 0;
  double compute = 0;
  double write = 0;
  double total = 0;
};

/// Everything that is known when `distance` is done.
struct DistanceOutcome {
  std::int64_t sites = 0;
  std::optional<std::int64_t> labels;
  std::optional<ValueRange> range;          ///< of the field, if there is one
  std::vector<io::WriteReport> written;     ///< per planned output
  grid::DistanceReport report;
  std::optional<published::DistanceReport> algorithm;  ///< with --algorithm, in place of `report`
  Seconds seconds;
};

void print_json(const Plan& plan, const DistanceOutcome& outcome);

/// What --plan says: what would be read, computed and written, and the memory that takes.
void print_plan_json(const Plan& plan);
std::string plan_text(const Plan& plan);

/// One line per file, and one if elements have no site.
std::string to_text(const Plan& plan, const DistanceOutcome& outcome);

}  // namespace fathom::cli
