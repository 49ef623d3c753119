#include "info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "exit_code.h"
#include "fathom/io/mesh.h"
#include "json.h"
#include "mesh_info.h"
#include "options.h"
#include "progress.h"
#include "report.h"
#include "statistics.h"

namespace fathom::cli {

namespace {

constexpr const char* kExamples = R"(Examples:
  fathom info land.png
  fathom info brain.nii.gz --sites '>=128' --json
  fathom info part.stl --check-intersections)";

struct Contents {
  Input input;
  ValueRange range;
  std::int64_t elements = 0;
  std::int64_t sites = 0;
  std::optional<std::int64_t> labels;
};

Contents contents_of(const InputArguments& arguments, grid::Sites& sites) {
  Progress progress;
  progress.begin("reading");
  Contents contents;
  InputArguments given = arguments;
  if (given.stack) given.slices = stack_of({given.path});
  contents.input = probe_input(given, colours_for(sites));
  sites.value = compared_in(contents.input.info, sites.value);
  const Arranged elements = read_elements(contents.input);
  warn_of(contents.input);
  contents.range = value_range(elements.view);
  contents.elements = element_count(elements.view.shape());
  contents.sites = grid::count_sites(elements.view, sites);
  if (sites.rule == grid::Sites::Rule::labels) contents.labels = count_labels(elements.view);
  return contents;
}

/// "1.5, 0.2, 0.2 µm", of the axes of space.
std::string spacing_text(const Input& input) {
  const std::vector<double> spacing = input.spacing();
  if (spacing.empty()) return "not stated";
  const std::string unit = input.info.meaning.unit();
  return fmt::format("{}{}{}", fmt::join(spacing, ", "), unit.empty() ? "" : " ", unit);
}

/// "DAPI, 1, RFP": of channels without a name their number.
std::string labels_text(const io::Axis& axis) {
  std::string text;
  for (std::size_t k = 0; k < axis.labels.size(); ++k)
    text += fmt::format("{}{}", k > 0 ? ", " : "", axis.labels[k].empty() ? std::to_string(k) : axis.labels[k]);
  return text;
}

/// What not every file says, a line each.
std::string meaning_text(const Input& input) {
  const io::Meaning& meaning = input.info.meaning;
  std::string text;
  if (meaning.has_batch()) {
    text += fmt::format("axes     {}\n", meaning.axis_names());
    for (const io::Axis& axis : meaning.axes)
      if (!axis.labels.empty()) text += fmt::format("channels {}\n", labels_text(axis));
  }
  if (meaning.place) text += fmt::format("origin   {}\n", fmt::join(meaning.place->origin, ", "));
  if (!meaning.georeference.empty()) text += fmt::format("georef   {}\n", meaning.georeference);
  if (!meaning.no_data.empty()) text += fmt::format("no data  {}\n", meaning.no_data);
  if (!meaning.palette.empty())
    text += fmt::format("palette  {} colours; elements are indices\n", meaning.palette.size());
  if (meaning.colours > 0)
    text += fmt::format("colours  red, green, blue{}; elements are {}\n", meaning.alpha ? ", alpha" : "",
                        !input.options.channel.empty()                    ? "one channel"
                        : input.options.colours == io::Colours::luminance ? "luminance"
                                                                          : "whole colours");
  return text;
}

std::string values_text(const Contents& contents) {
  const ValueRange& range = contents.range;
  std::string text = contents.elements == 0 ? "none"
                     : range.has_finite()   ? fmt::format("{} to {}", range.lowest, range.highest)
                                            : "none finite";
  if (range.infinite > 0) text += fmt::format(", {} infinite", range.infinite);
  if (range.nan > 0) text += fmt::format(", {} NaN", range.nan);
  return text;
}

std::string sites_text(const Contents& contents, const grid::Sites& sites) {
  if (contents.labels)
    return fmt::format("{} labels, and {} of {} elements without (label 0)", *contents.labels, contents.sites,
                       contents.elements);
  return fmt::format("{} of {} elements ({} elements)", contents.sites, contents.elements, to_text(sites));
}

std::string text_of(const InfoArguments& arguments, const Contents& contents, const grid::Sites& sites) {
  const io::ImageInfo& info = contents.input.info;
  return fmt::format("file     {}\nformat   {}\nshape    {}\ntype     {}\nspacing  {}\n{}values   {}\nsites    {}\n",
                     input_name(arguments.input.path), io::name_of(info.format), to_string(info.shape),
                     fathom::name_of(info.dtype), spacing_text(contents.input), meaning_text(contents.input),
                     values_text(contents), sites_text(contents, sites));
}

Json json_of(const Contents& contents, const grid::Sites& sites) {
  const bool finite = contents.range.has_finite();
  Json counted = {{"rule", to_text(sites)}, {"count", contents.sites}};
  if (contents.labels) counted["labels"] = *contents.labels;
  return {{"operation", "info"},
          {"input", describe(contents.input.path, contents.input.info)},
          {"elements", contents.elements},
          {"min", finite ? Json(contents.range.lowest) : Json(nullptr)},
          {"max", finite ? Json(contents.range.highest) : Json(nullptr)},
          {"infinite", contents.range.infinite},
          {"nan", contents.range.nan},
          {"sites", counted}};
}

}  // namespace

Work declare_info(CLI::App* verb) {
  const auto arguments = std::make_shared<InfoArguments>();
  InfoArguments& a = *arguments;
  verb->footer(kExamples);
  verb->add_option("FILE", a.input.path, "Image, volume or mesh; with --stack a folder of slices; - for standard input")
      ->required();
  declare_input(verb, a.input);
  verb->add_option("--sites", a.sites,
                   "zero, nonzero, labels, or '>=V', '>V', '<=V', '<V', '==V', '!=V' (default zero)");
  verb->add_flag("--check-intersections", a.intersections,
                 "Say which triangles of a mesh meet other than in corners and edges that they share");
  verb->add_flag("--json", a.json, "Print one line of JSON");
  return [arguments] { return run_info(*arguments); };
}

int run_info(const InfoArguments& arguments) {
  const InputArguments& input = arguments.input;
  if (!input.stack && !std::filesystem::is_directory(input.path) && io::is_mesh(input.path)) {
    if (!input.axes.empty() || !input.channel.empty() || !input.ndim.empty() || arguments.sites != "zero")
      throw InvalidArgument(input_name(input.path) +
                            " is a mesh; --axes, --channel, --ndim and --sites are for images");
    print_mesh_info(input.path, arguments.intersections, arguments.json);
    return kDone;
  }
  if (arguments.intersections)
    throw InvalidArgument(input_name(input.path) + " is an image; --check-intersections is for meshes");
  grid::Sites sites = parse_sites(arguments.sites);
  const Contents contents = contents_of(arguments.input, sites);
  if (arguments.json) print_line(json_of(contents, sites));
  else print_text(text_of(arguments, contents, sites));
  return kDone;
}

}  // namespace fathom::cli
