#include "compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

#include "difference.h"
#include "exit_code.h"
#include "fathom/io/stream.h"
#include "json.h"
#include "options.h"
#include "progress.h"
#include "report.h"
#include "warnings.h"

namespace fathom::cli {

namespace {

constexpr const char* kExamples = R"(Examples:
  fathom compare old.npy new.npy
  fathom compare field.tif field.nii.gz --tolerance 1e-6

Files are equal if their shapes and values are, whatever their types; NaN equals NaN, inf equals inf.
Exit codes: 0 equal, 1 different; 2 and above as for every verb.)";

struct Side {
  io::ImageInfo info;
  Array data;
};

Side read_side(const std::string& path) {
  io::ReadOptions options;
  options.colours = io::Colours::samples;
  Side side{io::probe(path, options), {}};
  side.data = io::read(path, options).data;
  return side;
}

struct Comparison {
  Side a;
  Side b;
  bool same_shape = false;
  Difference difference;

  bool equal() const { return same_shape && difference.count == 0; }
  bool same_type() const { return a.info.dtype == b.info.dtype; }
};

Comparison compare(const CompareArguments& arguments, double tolerance) {
  Progress progress;
  progress.begin("comparing");
  Comparison result{read_side(arguments.a), read_side(arguments.b), false, {}};
  result.same_shape = result.a.data.shape() == result.b.data.shape();
  if (result.same_shape) result.difference = difference(result.a.data.view(), result.b.data.view(), tolerance);
  return result;
}

/// Index along each axis of an element.
std::vector<std::int64_t> position(std::int64_t index, const Shape& shape) {
  std::vector<std::int64_t> result;
  for (std::int64_t stride : dense_strides(shape)) {
    result.push_back(index / stride);
    index %= stride;
  }
  return result;
}

/// "42" for integers however large, else as few digits as name the double.
std::string number_text(Wide value) {
  if (std::abs(value) < 0x1p64L && value == std::trunc(value)) return fmt::format("{:.0f}", value);
  return fmt::format("{}", static_cast<double>(value));
}

std::string types_text(const Comparison& c) {
  if (c.same_type()) return fmt::format("{}, {}", to_string(c.a.data.shape()), fathom::name_of(c.a.info.dtype));
  return fmt::format("{}, {} and {}", to_string(c.a.data.shape()), fathom::name_of(c.a.info.dtype),
                     fathom::name_of(c.b.info.dtype));
}

std::string text_of(const Comparison& c) {
  if (!c.same_shape)
    return fmt::format("different shapes: {} and {}\n", to_string(c.a.data.shape()), to_string(c.b.data.shape()));
  if (c.equal()) return fmt::format("equal: {}\n", types_text(c));
  const Difference& d = c.difference;
  return fmt::format("different: {} of {} elements ({}); largest difference {} at ({}): {} and {}\n", d.count,
                     c.a.data.size(), types_text(c), number_text(d.largest),
                     fmt::join(position(d.at, c.a.data.shape()), ", "), number_text(d.a), number_text(d.b));
}

Json json_of(const CompareArguments& arguments, const Comparison& c, double tolerance) {
  Json json = {{"operation", "compare"},
               {"a", describe(arguments.a, c.a.info)},
               {"b", describe(arguments.b, c.b.info)},
               {"tolerance", tolerance},
               {"equal", c.equal()}};
  if (!c.same_shape) return json;
  const Difference& d = c.difference;
  const auto number = [](Wide value) { return json_number(static_cast<double>(value)); };
  json["different"] = d.count;
  json["largest_difference"] = number(d.largest);
  json["at"] = d.count == 0 ? Json(nullptr) : Json(position(d.at, c.a.data.shape()));
  json["values"] = d.count == 0 ? Json(nullptr) : Json::array({number(d.a), number(d.b)});
  return json;
}

}  // namespace

Work declare_compare(CLI::App* verb) {
  const auto arguments = std::make_shared<CompareArguments>();
  CompareArguments& a = *arguments;
  verb->footer(kExamples);
  verb->add_option("A", a.a, "Image or volume; - for standard input")->required();
  verb->add_option("B", a.b, "Image or volume; - for standard input")->required();
  verb->add_option("--tolerance", a.tolerance, "Largest difference that counts as equal (default 0)");
  verb->add_flag("--json", a.json, "Print one line of JSON");
  return [arguments] { return run_compare(*arguments); };
}

int run_compare(const CompareArguments& arguments) {
  const double tolerance = parse_tolerance(arguments.tolerance);
  if (arguments.a == "-" && arguments.b == "-")
    throw InvalidArgument("only one of the two files can be standard input");
  if (io::same_stream(arguments.a, arguments.b))
    throw InvalidArgument(fmt::format(
        "{} and {} are one pipe, which only one of them can read; give one of them a file", arguments.a, arguments.b));
  const Comparison comparison = compare(arguments, tolerance);
  if (arguments.json) print_line(json_of(arguments, comparison, tolerance));
  else if (!is_quiet()) print_text(text_of(comparison));
  return comparison.equal() ? kDone : kDifferent;
}

}  // namespace fathom::cli
