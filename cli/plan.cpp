#include "plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "algorithm.h"
#include "memory.h"
#include "no_data.h"
#include "options.h"
#include "report.h"
#include "warnings.h"

namespace fathom::cli {

namespace {

bool has_unit_spacing(const grid::DistanceOptions& options) {
  return std::all_of(options.spacing.begin(), options.spacing.end(), [](double s) { return s == 1; });
}

/// Whether every squared distance that the extents allow fits, beside the maximum, which means "no site".
bool squares_fit_uint32(const Shape& shape, const std::vector<grid::Border>& border) {
  double sum = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const grid::Border b = border[static_cast<std::size_t>(axis)];
    const auto reach = static_cast<double>(b == grid::Border::periodic ? shape[axis] / 2 : shape[axis] - 1);
    sum += reach * reach;
  }
  return sum < static_cast<double>(std::numeric_limits<std::uint32_t>::max());
}

/// The first of its types that holds a number.
DType dtype_for(const grid::OutputKind& kind, std::int64_t largest) {
  const auto holds = [largest](DType dtype) {
    return visit_dtype(dtype, [largest](auto tag) {
      using Limits = std::numeric_limits<typename decltype(tag)::type>;
      return static_cast<double>(largest) <= static_cast<double>(Limits::max());
    });
  };
  return *std::find_if(kind.dtypes.begin(), kind.dtypes.end(), holds);
}

grid::OutputKind kind_of(std::string_view name) {
  grid::OutputKind found;
  const grid::PerOutput<char> each;
  grid::for_each_output(
      [&](const grid::OutputKind& kind, char) {
        if (kind.name == name) found = kind;
      },
      each);
  return found;
}

DType field_dtype(const DistanceArguments& arguments, const Shape& space, const grid::DistanceOptions& options) {
  const bool integers = has_unit_spacing(options);
  const std::string& name = arguments.dtype;
  if (!arguments.squared) {
    if (name.empty() || name == "float32") return DType::float32;
    if (name == "float64") return DType::float64;
    throw InvalidArgument(fmt::format("--dtype of distances is float32 or float64, not '{}'", name));
  }
  if (name == "float64") return DType::float64;
  if (name != "" && name != "uint32" && name != "uint64")
    throw InvalidArgument(fmt::format("--dtype of squared distances is uint32, uint64 or float64, not '{}'", name));
  if (!integers && !name.empty())
    throw InvalidArgument(
        fmt::format("--dtype {}: squared distances with a spacing other than 1 are float64", name));
  if (!integers) return DType::float64;
  if (!name.empty()) return dtype_from_name(name);
  return squares_fit_uint32(space, options.border) ? DType::uint32 : DType::uint64;
}

/// The options that do not depend on the input.
grid::DistanceOptions options_of(const DistanceArguments& arguments) {
  grid::DistanceOptions options;
  options.sites = parse_sites(arguments.sites);
  options.metric = parse_metric(arguments.metric);
  if (!arguments.spacing.empty() && arguments.spacing != kPrintSpacing)
    options.spacing = parse_spacing(arguments.spacing);
  options.border = parse_borders(arguments.border);
  options.max_distance = parse_max_distance(arguments.max_distance);
  options.signed_distance = arguments.signed_distance;
  if (!arguments.surface.empty()) options.surface = parse_surface(arguments.surface);
  options.execution.backend = parse_backend(arguments.backend);
  options.execution.threads = parse_threads(arguments.threads);
  return options;
}

/// Wrong whatever the input holds.
void check_arguments(const DistanceArguments& arguments) {
  std::vector<std::string> options;
  bool has_output = false;
  for_each_path(arguments, [&](const std::string& option, const std::string& path) {
    options.push_back(option);
    has_output |= !path.empty();
  });
  options.front() += " FILE";
  const std::string last = std::exchange(options.back(), "");
  options.pop_back();
  if (!has_output)
    throw InvalidArgument(fmt::format("no output was asked for; give {} or {}", fmt::join(options, ", "), last));
  if (!arguments.preview.empty() && io::format_from_path(arguments.preview) != io::Format::png)
    throw InvalidArgument(fmt::format("--preview draws a PNG; '{}' does not end in .png", arguments.preview));
  if (!arguments.format.empty() && arguments.output.empty())
    throw InvalidArgument("--format is for the file of -o, which is not given");
  if (!arguments.surface.empty() && !arguments.signed_distance)
    throw InvalidArgument("--surface says where a signed field is zero; give --signed, too");
  if (arguments.preview.empty() && !(arguments.title.empty() && arguments.units.empty()))
    throw InvalidArgument(fmt::format("{} is for the chart of --preview, which is not given",
                                      arguments.title.empty() ? "--units" : "--title"));
  if (arguments.squared && arguments.signed_distance)
    throw InvalidArgument("squared distances have no sign; leave out --signed or --squared");
  if (arguments.squared && arguments.metric != "euclidean")
    throw InvalidArgument(fmt::format("--squared belongs to the Euclidean metric; leave it out for {} distances",
                                      arguments.metric));
}

/// The published algorithms know sites and steps, and nothing else.
void plan_algorithm(const DistanceArguments& arguments, Plan& plan) {
  if (arguments.algorithm.empty()) return;
  plan.algorithm = parse_algorithm(arguments.algorithm);
  plan.algorithm->sites = plan.options.sites;
  const std::string_view name = name_of(plan.algorithm->algorithm);
  const auto is_open = [](grid::Border border) { return border == grid::Border::open; };
  check_has_none(name, {{"--squared", arguments.squared},
                        {"--signed", arguments.signed_distance},
                        {"--metric", plan.options.metric != grid::Metric::euclidean},
                        {"--border", !std::all_of(plan.options.border.begin(), plan.options.border.end(), is_open)},
                        {"--max-distance", std::isfinite(plan.options.max_distance)},
                        {"--region", !arguments.region.empty()},
                        {"--no-data", !plan.no_data.empty()},
                        {"batches", plan.input.batch_axes > 0}});
  grid::for_each_output(
      [&](const grid::OutputKind& kind, const std::string& path) {
        if (kind.name != "nearest") check_has_none(name, {{"--" + std::string(kind.name), !path.empty()}});
      },
      arguments.site_files);
  if (!has_unit_spacing(plan.options))
    throw InvalidArgument(fmt::format("--algorithm {} counts in elements, but their size is {}; give --spacing 1", name,
                                      fmt::join(plan.options.spacing, " × ")));
}

/// Between elements of unequal sides there is no one half of a step.
void check_surface(const grid::DistanceOptions& options) {
  if (!options.signed_distance || options.surface == grid::Surface::centers) return;
  const bool isotropic = std::adjacent_find(options.spacing.begin(), options.spacing.end(), std::not_equal_to<>()) ==
                         options.spacing.end();
  if (!isotropic)
    throw InvalidArgument(fmt::format("--signed with the spacing {} has no faces halfway; use --surface centers, or "
                                      "--spacing with one number",
                                      fmt::join(options.spacing, ",")));
}

io::WriteOptions write_options(const DistanceArguments& arguments) {
  io::WriteOptions options;
  options.compress = arguments.compress;
  if (!arguments.format.empty()) options.format = parse_format(arguments.format);
  else if (arguments.output == "-") options.format = io::Format::npy;
  return options;
}

/// Checks that the file can hold the output, and warns of what it cannot keep of what the input says.
void plan_file(const std::string& path, const io::WriteOptions& options, PlannedOutput& output, Plan& plan) {
  output.path = path;
  if (path.empty()) return;
  output.format = io::check_write(path, output.dtype, output.file_shape(), plan.meaning, options);
  for (const PlannedOutput& other : plan.outputs)
    if (!other.path.empty() && other.format == output.format) return;  // said already
  const std::string lost = losses_of(plan.input, path, output.format, plan.meaning.no_data);
  if (!lost.empty()) plan.warnings.push_back(lost);
}

void plan_field(const DistanceArguments& arguments, Plan& plan) {
  if (arguments.output.empty() && arguments.preview.empty()) return;
  PlannedOutput field;
  field.kind = kind_of(arguments.squared ? "squared" : "distance");
  field.dtype = field_dtype(arguments, plan.input.space(), plan.options);
  field.shape = grid::result_shape(plan.input.shape(), plan.options);
  field.order = inverse(plan.input.order);
  if (!plan.meaning.no_data.empty()) check_holds(field.dtype, plan.meaning.no_data);
  plan_file(arguments.output, plan.field_format, field, plan);
  plan.outputs.push_back(field);
}

/// An output that says where the nearest site is.
void plan_site_output(const grid::OutputKind& kind, const std::string& path, Plan& plan) {
  if (path.empty()) return;
  const io::Format format = io::format_from_path(path);
  if (kind.has_components && format != io::Format::npy)
    throw InvalidArgument(
        fmt::format("--{} writes an array with one more axis; '{}' does not end in .npy", kind.name, path));
  if (format == io::Format::png)
    throw InvalidArgument(
        fmt::format("--{}: a PNG cannot hold indices as '{}'; use .npy, .tif or .nii", kind.name, path));
  const Shape space = plan.input.space();
  const int leading = kind.has_components ? 1 : 0;
  PlannedOutput output;
  output.kind = kind;
  output.dtype =
      dtype_for(kind, (leading > 0 ? *std::max_element(space.begin(), space.end()) : element_count(space)) - 1);
  if (leading > 0) {
    output.shape = {space.rank()};
    output.order = {0};
  }
  for (std::int64_t extent : grid::result_shape(plan.input.shape(), plan.options)) output.shape.push_back(extent);
  for (int axis : inverse(plan.input.order)) output.order.push_back(axis + leading);
  if (leading > 0) std::tie(output.path, output.format) = std::tuple(path, format);  // says nothing of axes and places
  else plan_file(path, {}, output, plan);
  plan.outputs.push_back(output);
}

/// What files say of the outputs, which are of the region.
/// @param spacing  as the command line gives it
io::Meaning meaning_of_outputs(const std::string& spacing, Plan& plan) {
  const Input& input = plan.input;
  const grid::DistanceOptions& options = plan.options;
  const io::Meaning meaning = meaning_of_results(input, options.spacing, !spacing.empty(), plan.warnings);
  if (options.region.empty()) return meaning;
  std::vector<std::int64_t> begin(meaning.axes.size(), 0);
  for (std::size_t k = 0; k < options.region.size(); ++k)
    begin[static_cast<std::size_t>(input.order[k + static_cast<std::size_t>(input.batch_axes)])] =
        options.region[k].begin;
  return io::cropped(meaning, begin);
}

void plan_no_data(const DistanceArguments& arguments, Plan& plan) {
  plan.no_data = arguments.no_data.empty() ? plan.input.info.meaning.no_data : arguments.no_data;
  if (plan.no_data == "none") plan.no_data.clear();
  if (!plan.no_data.empty()) parse_no_data(plan.no_data);
  if (!arguments.no_data.empty()) check_no_data(plan.input, plan.no_data);
  if (arguments.use_input_nodata && plan.no_data.empty())
    throw InvalidArgument(fmt::format("--use-input-nodata: {} states no such value; --no-data gives one",
                                      arguments.input.path));
  if (arguments.use_input_nodata) plan.meaning.no_data = plan.no_data;
}

void check_colours(const Input& input, const grid::Sites& sites) {
  if (sites.rule == grid::Sites::Rule::labels && input.info.meaning.colours > 0 &&
      input.info.dtype == DType::boolean)
    throw InvalidArgument(fmt::format("{} holds colours that are no labels, since they are floats or too wide; "
                                      "--channel takes one channel", input.path));
}

}  // namespace

AnyView& view_in(grid::DistanceOutputs& outputs, const grid::OutputKind& kind) {
  AnyView* found = nullptr;
  grid::for_each_output(
      [&](const grid::OutputKind& other, AnyView& view) {
        if (other.name == kind.name) found = &view;
      },
      outputs);
  if (found == nullptr) throw InternalError("an output without a view");
  return *found;
}

const PlannedOutput* Plan::field() const {
  for (const PlannedOutput& output : outputs)
    if (!output.kind.is_of_site) return &output;
  return nullptr;
}

grid::Sites gaps_of(const Plan& plan) {
  grid::Sites gaps = parse_no_data(plan.no_data);
  gaps.value = compared_in(plan.input.info, gaps.value);
  return gaps;
}

void warn_of(const Plan& plan) {
  warn_of(plan.input);
  for (const std::string& warning : plan.warnings) warn(warning);
}

void check_options(const DistanceArguments& arguments) {
  check_arguments(arguments);
  options_of(arguments);
  if (!arguments.algorithm.empty()) parse_algorithm(arguments.algorithm);
  write_options(arguments);
}

Plan make_plan(const DistanceArguments& arguments) {
  check_arguments(arguments);
  std::vector<std::pair<std::string, std::string>> files;
  for_each_path(arguments,
                [&](const std::string& option, const std::string& path) { files.emplace_back(option, path); });
  check_outputs(files, arguments.json);
  std::optional<std::size_t> budget;
  if (!arguments.memory.empty()) budget = parse_memory(arguments.memory);
  Plan plan;
  plan.field_format = write_options(arguments);
  plan.options = options_of(arguments);
  plan.preview = arguments.preview;

  plan.input = probe_input(arguments.input, colours_for(plan.options.sites), arguments.spacing == kPrintSpacing);
  plan.options.sites.value = compared_in(plan.input.info, plan.options.sites.value);
  plan.options.batch_axes = plan.input.batch_axes;
  const Shape space = plan.input.space();
  check_colours(plan.input, plan.options.sites);
  if (plan.options.spacing.empty()) plan.options.spacing = plan.input.spacing();
  expand("--spacing", plan.options.spacing, space);
  expand("--border", plan.options.border, space);
  check_surface(plan.options);
  if (!arguments.region.empty()) plan.options.region = parse_region(arguments.region, space);
  plan.meaning = meaning_of_outputs(arguments.spacing, plan);
  plan_no_data(arguments, plan);
  plan_algorithm(arguments, plan);
  plan_field(arguments, plan);
  grid::for_each_output(
      [&](const grid::OutputKind& kind, const std::string& path) { plan_site_output(kind, path, plan); },
      arguments.site_files);
  fit_into_memory(plan, budget);
  for (const auto& [option, path] : files)
    if (!path.empty()) io::AtomicFile::check(path);
  return plan;
}

}  // namespace fathom::cli
