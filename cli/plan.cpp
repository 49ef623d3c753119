#include "plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "algorithm.h"
#include "memory.h"
#include "no_data.h"
#include "options.h"
#include "report.h"
#include "warnings.h"

namespace fathom::cli {

namespace {

using Kind = PlannedOutput::Kind;

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

DType index_dtype(std::int64_t indices) {
  return indices - 1 <= std::numeric_limits<std::int32_t>::max() ? DType::int32 : DType::int64;
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
  if (arguments.output.empty() && arguments.nearest.empty() && arguments.coordinates.empty() &&
      arguments.preview.empty())
    throw InvalidArgument("no output was asked for; give -o FILE, --nearest, --coordinates or --preview");
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
                        {"--coordinates", !arguments.coordinates.empty()},
                        {"--no-data", !plan.no_data.empty()},
                        {"batches", plan.input.batch_axes > 0}});
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
  field.kind = arguments.squared ? Kind::squared : Kind::distance;
  field.dtype = field_dtype(arguments, plan.input.space(), plan.options);
  field.shape = grid::result_shape(plan.input.shape(), plan.options);
  field.order = inverse(plan.input.order);
  if (!plan.meaning.no_data.empty()) check_holds(field.dtype, plan.meaning.no_data);
  plan_file(arguments.output, plan.field_format, field, plan);
  plan.outputs.push_back(field);
}

void plan_nearest(const DistanceArguments& arguments, Plan& plan) {
  if (arguments.nearest.empty()) return;
  if (io::format_from_path(arguments.nearest) == io::Format::png)
    throw InvalidArgument(
        fmt::format("--nearest: a PNG cannot hold indices as '{}'; use .npy, .tif or .nii", arguments.nearest));
  PlannedOutput nearest;
  nearest.kind = Kind::nearest;
  nearest.dtype = index_dtype(element_count(plan.input.space()));
  nearest.shape = grid::result_shape(plan.input.shape(), plan.options);
  nearest.order = inverse(plan.input.order);
  plan_file(arguments.nearest, {}, nearest, plan);
  plan.outputs.push_back(nearest);
}

void plan_coordinates(const DistanceArguments& arguments, Plan& plan) {
  if (arguments.coordinates.empty()) return;
  if (io::format_from_path(arguments.coordinates) != io::Format::npy)
    throw InvalidArgument(fmt::format("--coordinates writes an array with one more axis; '{}' does not end in .npy",
                                      arguments.coordinates));
  const Shape space = plan.input.space();
  PlannedOutput coordinates;
  coordinates.kind = Kind::coordinates;
  coordinates.path = arguments.coordinates;
  coordinates.format = io::Format::npy;
  coordinates.dtype = index_dtype(*std::max_element(space.begin(), space.end()));
  coordinates.shape = {space.rank()};
  for (std::int64_t extent : grid::result_shape(plan.input.shape(), plan.options)) coordinates.shape.push_back(extent);
  coordinates.order = {0};
  for (int axis : inverse(plan.input.order)) coordinates.order.push_back(axis + 1);
  plan.outputs.push_back(coordinates);
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

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::distance: return "distance";
    case Kind::squared: return "squared distance";
    case Kind::nearest: return "nearest site";
    case Kind::coordinates: return "coordinates of the nearest site";
  }
  throw InternalError("an output without a name");
}

AnyView& view_in(grid::DistanceOutputs& outputs, Kind kind) {
  switch (kind) {
    case Kind::distance: return outputs.distance;
    case Kind::squared: return outputs.squared;
    case Kind::nearest: return outputs.nearest;
    case Kind::coordinates: return outputs.coordinates;
  }
  throw InternalError("an output without a view");
}

const PlannedOutput* Plan::field() const {
  for (const PlannedOutput& output : outputs)
    if (output.kind == Kind::distance || output.kind == Kind::squared) return &output;
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
  check_outputs({{"-o", arguments.output},
                 {"--nearest", arguments.nearest},
                 {"--coordinates", arguments.coordinates},
                 {"--preview", arguments.preview}},
                arguments.json);
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
  plan_nearest(arguments, plan);
  plan_coordinates(arguments, plan);
  fit_into_memory(plan, budget);
  for (const std::string* path :
       {&arguments.output, &arguments.nearest, &arguments.coordinates, &arguments.preview})
    if (!path->empty()) io::AtomicFile::check(*path);
  return plan;
}

}  // namespace fathom::cli
