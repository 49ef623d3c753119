#include "costmap.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>

#include "chart/chart.h"
#include "fathom/apps/costmap.h"
#include "options.h"

namespace fathom::cli {

namespace {

constexpr const char* kExamples = R"(Examples:
  fathom costmap map.pgm -o costs.png --resolution 0.05 --inscribed 0.3 --inflation 1 --scaling 3
      costs by Nav2's formula: 254 occupied, 253 up to the inscribed radius, then falling, 255 unknown
  fathom costmap grid.npy -o costs.npy --nearest nearest.npy
      an occupancy grid of int8 (100 occupied, -1 unknown), and the index of each cell's nearest obstacle
  fathom costmap plan.png -o costs.npy --occupied '<128' --preview costs.png

Exit codes: 0 done, 2 usage, 3 data or files, 4 device, 70 internal.)";

double parse_metres(const char* option, const std::string& text, bool positive) {
  const auto value = number<double>(text);
  if (!value || !std::isfinite(*value) || !(positive ? *value > 0 : *value >= 0))
    throw InvalidArgument(
        fmt::format("{} takes a number {}, not '{}'", option, positive ? "above 0" : "that is at least 0", text));
  return *value;
}

grid::Sites parse_cells(const char* option, const std::string& text) {
  try {
    const grid::Sites sites = parse_sites(text);
    if (sites.rule != grid::Sites::Rule::labels) return sites;
  } catch (const InvalidArgument&) {
  }
  throw InvalidArgument(fmt::format(
      "{} takes nonzero, zero, or '>=V', '>V', '<=V', '<V', '==V' or '!=V' with a number V, not '{}'", option, text));
}

bool is_image(io::Format format) {
  return format == io::Format::png || format == io::Format::pnm || format == io::Format::jpeg ||
         format == io::Format::tiff;
}

/// Cells as their type is used: occupancy grids are int8, images of maps uint8, dark where occupied.
apps::CostmapOptions parse_options(const CostmapArguments& a, const Input& input) {
  using Rule = grid::Sites::Rule;
  apps::CostmapOptions options;
  if (a.occupied.empty() && input.info.dtype == DType::int8) {
    options.occupied = {Rule::greater_equal, 100};
    options.unknown = grid::Sites{Rule::equal, -1};
  } else if (a.occupied.empty() && input.info.dtype == DType::uint8) {
    if (!is_image(input.info.format))
      throw InvalidArgument(fmt::format("{} holds uint8, and is no image of a map; --occupied '>=254' is for costmaps, "
                                        "'<=89' for maps, nonzero for masks",
                                        input_name(input.path)));
    options.occupied = {Rule::less_equal, 89};
    options.unknown = grid::Sites{Rule::equal, 205};
  }
  if (!a.occupied.empty()) options.occupied = parse_cells("--occupied", a.occupied);
  if (a.unknown == "none") options.unknown.reset();
  else if (!a.unknown.empty()) options.unknown = parse_cells("--unknown", a.unknown);
  options.resolution = parse_metres("--resolution", a.resolution, true);
  options.inscribed = parse_metres("--inscribed", a.inscribed, false);
  options.inflation = parse_metres("--inflation", a.inflation, false);
  options.scaling = parse_metres("--scaling", a.scaling, false);
  return options;
}

}  // namespace

Work declare_costmap(CLI::App* verb) {
  const auto arguments = std::make_shared<CostmapArguments>();
  CostmapArguments& a = *arguments;
  a.common.input.tones = true;
  verb->footer(kExamples);
  declare_image(verb, "MAP", "Occupancy grid or image of a map", "the costmap", a.common);
  verb->add_option("--nearest", a.nearest, "File for the linear index of each cell's nearest obstacle; -1 without one");
  verb->add_option("--occupied", a.occupied,
                   "Which cells are obstacles (default: '>=100' of int8, '<=89' of images of uint8, else nonzero)");
  verb->add_option("--unknown", a.unknown,
                   "Which cells are not known, or none (default without --occupied: '==-1' of int8, '==205' of images "
                   "of uint8; else none)");
  verb->add_option("--resolution", a.resolution, "Size of a cell in metres (default 0.05)");
  verb->add_option("--inscribed", a.inscribed, "Metres within which the robot touches an obstacle (default 0.3)");
  verb->add_option("--inflation", a.inflation, "Metres beyond which there is no cost (default 1)");
  verb->add_option("--scaling", a.scaling, "How fast costs fall, per metre (default 3)");
  declare_preview(verb, "the costs", a.common);
  declare_input(verb, a.common.input);
  declare_execution(verb, a.common);
  return [arguments] { return run_costmap(*arguments); };
}

int run_costmap(const CostmapArguments& a) {
  Operation operation("costmap", a.common, io::Colours::luminance);
  apps::CostmapOptions options = parse_options(a, operation.input());
  options.batch_axes = operation.input().batch_axes;
  const Shape shape = operation.input().shape();
  operation.settings = {
      {"occupied", to_text(options.occupied)}, {"unknown", options.unknown ? to_text(*options.unknown) : "none"},
      {"resolution", options.resolution},      {"inscribed", options.inscribed},
      {"inflation", options.inflation},        {"scaling", options.scaling}};
  operation.add({"-o", a.common.output, "costs", DType::uint8, shape});
  if (!a.nearest.empty()) operation.add({"--nearest", a.nearest, "nearest obstacles", DType::int64, shape});
  options.execution = operation.execution();
  apps::CostmapOutputs outputs{AnyView(nullptr, DType::uint8, shape), {}};
  if (!a.nearest.empty()) outputs.nearest = AnyView(nullptr, DType::int64, shape);
  const std::size_t scratch = apps::costmap_scratch_bytes(operation.unread(), options, outputs);
  operation.fit(scratch, scratch);
  if (a.common.plan) return operation.print_plan();

  const Arranged map = operation.read();
  if (options.occupied.rule == grid::Sites::Rule::nonzero)
    operation.warn_of_nan(map.view, "--occupied '!=0' --unknown '==nan' has them unknown");
  if (a.occupied.empty() && map.view.dtype() == DType::uint8 &&
      grid::count_sites(map.view, {grid::Sites::Rule::greater, 1}) == 0)
    throw InvalidArgument(fmt::format("{} holds nothing above 1, and is no image of a map, which is light where it is "
                                      "free; --occupied nonzero is for masks",
                                      input_name(a.common.input.path)));
  operation.begin("computing");
  options.execution = operation.execution();
  Array cost(DType::uint8, shape), nearest;
  outputs.cost = cost.view();
  if (!a.nearest.empty()) {
    nearest = Array(DType::int64, shape);
    outputs.nearest = nearest.view();
  }
  const apps::CostmapReport report = apps::costmap(map.view, options, outputs);
  const auto* const cells = cost.as<std::uint8_t>().data();
  const auto lethal = std::count(cells, cells + cost.size(), apps::kLethalCost);
  operation.output(0).detail = fmt::format(", {} of {} cells occupied", lethal, cost.size());
  std::vector<AnyConstView> arrays = {std::as_const(cost).view()};
  if (!a.nearest.empty()) arrays.push_back(std::as_const(nearest).view());
  operation.write(arrays, [&](PendingFiles& files) {
    if (!a.common.preview.empty()) draw_chart(operation.chart_of(arrays[0]), files.add(a.common.preview).stream());
  });
  return operation.print(report, {{"occupied_cells", lethal}});
}

}  // namespace fathom::cli
