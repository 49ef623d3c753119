#include "voronoi.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chart/chart.h"
#include "fathom/apps/voronoi.h"
#include "fathom/io/points.h"
#include "options.h"

namespace fathom::cli {

namespace {

constexpr const char* kExamples = R"(Examples:
  fathom voronoi seeds.png -o regions.tif --table regions.csv
      number of each element's site; of each site its place, area and centroid
  fathom voronoi stations.tif -o regions.tif --weights people.tif --table served.csv --edges neighbours.csv
      what each region holds of the weights, and which regions touch along how long a boundary

Regions are numbered from 0 in the order of the table; -1 where there is no site.
Exit codes: 0 done, 2 usage, 3 data or files, 4 device, 70 internal.)";

/// A column of numbers, and its memory.
struct Column {
  std::string name;
  Array values;
};

template <class T, class Value>
Column column(std::string name, std::size_t count, const Value& value) {
  Array values(dtype_of<T>(), {static_cast<std::int64_t>(count)});
  for (std::size_t k = 0; k < count; ++k) values.as<T>().data()[k] = value(k);
  return {std::move(name), std::move(values)};
}

void write(const std::vector<Column>& columns, io::AtomicFile& file) {
  std::vector<io::TableColumn> table;
  for (const Column& one : columns) table.push_back({one.name, one.values.view()});
  io::write_table(file, table, {}, io::TableFormat::automatic);
}

/// "y" and "x", or what else the axes are called.
std::vector<std::string> axis_names(const Input& input) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < input.order.size(); ++k) {
    const char name = input.info.meaning.axes[static_cast<std::size_t>(input.order[k])].name;
    names.push_back(name != 0 ? std::string(1, name) : std::string(1, "zyx"[3 - input.order.size() + k]));
  }
  return names;
}

std::vector<Column> site_table(const apps::Voronoi& found, const Input& input) {
  const Shape shape = input.shape();
  const std::vector<std::string> names = axis_names(input);
  const std::size_t count = found.sites.size(), axes = names.size();
  const Strides strides = dense_strides(shape);
  const auto place = [&](std::size_t site, std::size_t axis) {
    const int k = static_cast<int>(axis);
    return found.sites[site] / strides[k] % shape[k];
  };
  std::vector<Column> columns;
  for (std::size_t axis = 0; axis < axes; ++axis)
    columns.push_back(column<std::int64_t>(names[axis], count, [&](std::size_t k) { return place(k, axis); }));
  columns.push_back(column<std::int64_t>("area", count, [&](std::size_t k) { return found.areas[k]; }));
  columns.push_back(column<double>(
      "mass", count, [&](std::size_t k) { return static_cast<double>(found.masses[k]) / found.weight_scale; }));
  for (std::size_t axis = 0; axis < axes; ++axis)
    columns.push_back(column<double>("centroid_" + names[axis], count, [&](std::size_t k) {
      if (found.masses[k] == 0) return std::numeric_limits<double>::quiet_NaN();
      return static_cast<double>(place(k, axis)) +
             static_cast<double>(found.firsts[k * axes + axis]) / static_cast<double>(found.masses[k]);
    }));
  return columns;
}

std::vector<Column> edge_table(const apps::Voronoi& found) {
  const auto& edges = found.boundaries;
  std::vector<Column> columns;
  columns.push_back(column<std::int64_t>("first", edges.size(), [&](std::size_t k) { return edges[k].first; }));
  columns.push_back(column<std::int64_t>("second", edges.size(), [&](std::size_t k) { return edges[k].second; }));
  columns.push_back(column<double>("length", edges.size(), [&](std::size_t k) { return edges[k].length; }));
  return columns;
}

/// Elements of the region that each element is in.
Array areas_of(const apps::Voronoi& found, const Array& regions) {
  Array areas(DType::float32, regions.shape());
  for (std::int64_t k = 0; k < regions.size(); ++k) {
    const std::int32_t region = regions.as<std::int32_t>().data()[k];
    areas.as<float>().data()[k] = region < 0 ? 0 : static_cast<float>(found.areas[static_cast<std::size_t>(region)]);
  }
  return areas;
}

/// The weights' file as a second input.
Input probe_weights(const VoronoiArguments& a, const Shape& shape) {
  InputArguments given;
  given.path = a.weights;
  given.tones = true;
  Input weights = probe_input(given, io::Colours::luminance);
  if (!(weights.shape() == shape))
    throw InvalidArgument(fmt::format("--weights {} has the shape {}; it must be that of the sites, {}", a.weights,
                                      to_string(weights.shape()), to_string(shape)));
  return weights;
}

}  // namespace

Work declare_voronoi(CLI::App* verb) {
  const auto arguments = std::make_shared<VoronoiArguments>();
  VoronoiArguments& a = *arguments;
  verb->footer(kExamples);
  declare_image(verb, "SITES", "Image or volume with sites", "the number of each element's site", a.common);
  verb->add_option("--sites", a.sites, "Which elements are sites: nonzero (default), zero, or '>=V' and the like");
  verb->add_option("--weights", a.weights, "File of the same shape with a weight for each element (default: 1)");
  verb->add_option("--table", a.table, "File with each site's place, area, mass and centroid: .csv .npy");
  verb->add_option("--edges", a.edges, "File with the pairs of regions that touch, and how long: .csv .npy");
  declare_preview(verb, "the regions, by area", a.common);
  declare_input(verb, a.common.input);
  verb->add_option("--spacing", a.common.spacing,
                   "Size of an element: one number, or one per axis in the shape's order (default: the file's or 1)");
  declare_execution(verb, a.common);
  return [arguments] { return run_voronoi(*arguments); };
}

int run_voronoi(const VoronoiArguments& a) {
  apps::VoronoiOptions options;
  options.sites = parse_sites(a.sites);
  Operation operation("voronoi", a.common, colours_for(options.sites));
  options.sites.value = compared_in(operation.input().info, options.sites.value);
  operation.refuse_batch("regions are of one");
  const Shape shape = operation.input().shape();
  std::optional<Input> weighed;
  if (!a.weights.empty()) weighed = probe_weights(a, shape);
  options.spacing = operation.spacing();
  options.boundaries = !a.edges.empty();
  operation.settings = {{"sites", to_text(options.sites)}};
  if (weighed) operation.settings["weights"] = a.weights;
  operation.add({"-o", a.common.output, "regions", DType::int32, shape});
  if (!a.table.empty()) operation.add_table("--table", a.table, "sites");
  if (!a.edges.empty()) operation.add_table("--edges", a.edges, "edges");
  options.execution = operation.execution();
  const std::size_t scratch = apps::voronoi_scratch_bytes(operation.unread(), options, 0);
  const auto elements = static_cast<std::size_t>(element_count(shape));
  operation.fit(scratch, scratch,
                elements * ((weighed ? size_of(weighed->info.dtype) : 0) + (a.common.preview.empty() ? 0 : 4)));
  if (a.common.plan) return operation.print_plan();

  const Arranged sites = operation.read();
  if (options.sites.rule == grid::Sites::Rule::nonzero)
    operation.warn_of_nan(sites.view, "--sites '>0' leaves them out");
  Arranged weights;
  if (weighed) weights = read_elements(*weighed);
  operation.begin("computing");
  options.execution = operation.execution();
  options.execution.scratch_limit.reset();  // sites, whose number nobody knew, may take a little more
  Array regions(DType::int32, shape);
  const apps::Voronoi found = apps::voronoi(sites.view, weights.view, options, regions.view());
  operation.output(0).detail = fmt::format(", {} sites", found.sites.size());
  operation.write({std::as_const(regions).view()}, [&](PendingFiles& files) {
    if (!a.table.empty()) write(site_table(found, operation.input()), files.add(a.table));
    if (!a.edges.empty()) write(edge_table(found), files.add(a.edges));
    if (!a.common.preview.empty())
      draw_chart(operation.chart_of(areas_of(found, regions).view()), files.add(a.common.preview).stream());
  });
  Json more = {{"regions", found.sites.size()}};
  if (options.boundaries) more["edges"] = found.boundaries.size();
  return operation.print(found, more);
}

}  // namespace fathom::cli
