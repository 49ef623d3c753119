#include "info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "exit_code.h"
#include "options.h"
#include "progress.h"
#include "report.h"
#include "statistics.h"

namespace fathom::cli {

namespace {

constexpr const char* kExamples = R"(Examples:
  fathom info land.png
  fathom info brain.nii.gz --sites '>=128' --json)";

struct Contents {
  io::ImageInfo info;
  ValueRange range;
  std::int64_t elements = 0;
  std::int64_t sites = 0;
  std::optional<std::int64_t> labels;
};

Contents contents_of(const std::string& path, const grid::Sites& sites) {
  Progress progress;
  progress.begin("reading");
  Contents contents;
  contents.info = io::probe(path);
  const io::Image image = io::read(path);
  contents.range = value_range(image.data.view());
  contents.elements = image.data.size();
  contents.sites = count_sites(image.data.view(), sites);
  if (sites.rule == grid::Sites::Rule::labels) contents.labels = count_labels(image.data.view());
  return contents;
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
  const io::ImageInfo& info = contents.info;
  const std::string spacing = info.spacing.empty() ? "not stated" : fmt::format("{}", fmt::join(info.spacing, ", "));
  return fmt::format(
      "file     {}\nformat   {}\nshape    {}\ntype     {}\nspacing  {}\nvalues   {}\nsites    {}\n",
      arguments.input == "-" ? "standard input" : arguments.input, io::name_of(info.format), to_string(info.shape),
      fathom::name_of(info.dtype), spacing, values_text(contents), sites_text(contents, sites));
}

Json json_of(const InfoArguments& arguments, const Contents& contents, const grid::Sites& sites) {
  const bool finite = contents.range.has_finite();
  Json counted = {{"rule", to_text(sites)}, {"count", contents.sites}};
  if (contents.labels) counted["labels"] = *contents.labels;
  return {{"operation", "info"},
          {"input", describe(arguments.input, contents.info)},
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
  verb->add_option("FILE", a.input, "Image or volume: PNG, TIFF, NPY, NIfTI; - for standard input")->required();
  verb->add_option("--sites", a.sites, "zero, nonzero, labels, '>=V', '<=V' or '==V' (default zero)");
  verb->add_flag("--json", a.json, "Print one line of JSON");
  return [arguments] { return run_info(*arguments); };
}

int run_info(const InfoArguments& arguments) {
  const grid::Sites sites = parse_sites(arguments.sites);
  const Contents contents = contents_of(arguments.input, sites);
  if (arguments.json) print_line(json_of(arguments, contents, sites));
  else print_text(text_of(arguments, contents, sites));
  return kDone;
}

}  // namespace fathom::cli
