#include "lloyd.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <memory>
#include <vector>

#include "fathom/apps/voronoi.h"
#include "fathom/io/points.h"
#include "options.h"
#include "warnings.h"

namespace fathom::cli {

namespace {

constexpr const char* kExamples = R"(Examples:
  fathom lloyd people.tif --points stations.csv -o better.csv
      each site moves to the centroid of the people that are nearest to it, again and again, until none moves
  fathom lloyd people.tif --points stations.csv -o better.csv --supersample 4 --tolerance 0.01
      on a grid 4 times as fine, closer to the optimum
  fathom lloyd people.tif --points stations.csv -o better.csv --on-elements
      sites stay in the middles of elements

Points are in elements, x along rows, y down and z along slices, the middle of the first being 0: as fathom voronoi
--table has them, from whose columns x and y are taken.
Exit codes: 0 done, 2 usage, 3 data or files, 4 device, 70 internal.)";

apps::LloydOptions parse_options(const LloydArguments& a) {
  apps::LloydOptions options;
  options.iterations =
      static_cast<int>(parse_count("--iterations", a.iterations, 0, std::numeric_limits<std::int32_t>::max()));
  options.supersample = static_cast<int>(parse_count("--supersample", a.supersample, 1, 16));
  options.tolerance = parse_at_least_zero("--tolerance", a.tolerance);
  options.seed = parse_seed(a.seed);
  options.on_elements = a.on_elements;
  return options;
}

/// Float64 [n, axes] in the order of the image's shape, z, y, x.
Array read_sites(const std::string& path, const Shape& shape) {
  const io::Points points = io::read_points(path);
  for (const std::string& warning : points.warnings) warn(warning);
  const std::int64_t axes = points.data.shape()[1], count = points.data.shape()[0];
  if (axes != shape.rank())
    throw InvalidArgument(fmt::format("{} has points with {} coordinates; the weights have {} axes", input_name(path),
                                      axes, shape.rank()));
  Array sites(DType::float64, {count, axes});
  visit_dtype(points.data.dtype(), [&](auto tag) {
    const auto* from = points.data.as<typename decltype(tag)::type>().data();
    for (std::int64_t k = 0; k < sites.size(); ++k)
      sites.as<double>().data()[k] = static_cast<double>(from[k / axes * axes + axes - 1 - k % axes]);
  });
  return sites;
}

void write_sites(const Array& sites, io::AtomicFile& file) {
  const std::int64_t count = sites.shape()[0], axes = sites.shape()[1];
  std::vector<Array> columns;
  std::vector<io::TableColumn> table;
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    columns.emplace_back(DType::float64, Shape{count});
    for (std::int64_t k = 0; k < count; ++k)
      columns.back().as<double>().data()[k] = sites.as<double>().data()[k * axes + axes - 1 - axis];
    table.push_back({std::string(1, "xyz"[axis]), std::as_const(columns.back()).view()});
  }
  io::write_table(file, table, {}, io::TableFormat::automatic);
}

}  // namespace

Work declare_lloyd(CLI::App* verb) {
  const auto arguments = std::make_shared<LloydArguments>();
  LloydArguments& a = *arguments;
  a.common.input.tones = true;
  verb->footer(kExamples);
  verb->add_option(
          "WEIGHTS", a.common.input.path,
          "Image or volume with a weight for each element: .png .tif .nii .npy and others; - for standard input")
      ->required();
  verb->add_option("--points", a.points, "File of the sites: x, y and, of volumes, z; .csv .npy .ply")->required();
  verb->add_option("-o,--output", a.common.output, "Where the moved sites go: .csv .npy");
  verb->add_option("--iterations", a.iterations, "Most steps; it ends when sites rest (default 100)");
  verb->add_option("--tolerance", a.tolerance, "Sites rest when none moves farther along an axis (default 0)");
  verb->add_flag("--on-elements", a.on_elements, "Centroids are rounded to the middles of elements");
  verb->add_option("--supersample", a.supersample, "Regions on a grid so many times as fine, 1 to 16 (default 1)");
  verb->add_option("--seed", a.seed, "Of new places for sites whose region has no weight, 0 or more (default 0)");
  declare_input(verb, a.common.input);
  declare_execution(verb, a.common);
  return [arguments] { return run_lloyd(*arguments); };
}

int run_lloyd(const LloydArguments& a) {
  apps::LloydOptions options = parse_options(a);
  Operation operation("lloyd", a.common, io::Colours::luminance);
  operation.refuse_batch("sites move in one");
  const Shape shape = operation.input().shape();
  operation.settings = {{"points", a.points}, {"iterations", options.iterations}, {"supersample", options.supersample},
                        {"on_elements", options.on_elements}};
  Array sites = read_sites(a.points, shape);
  operation.add_table("-o", a.common.output, "sites");
  options.execution = operation.execution();
  const std::size_t scratch = apps::lloyd_scratch_bytes(shape, sites.shape()[0], options);
  operation.fit(scratch, scratch, 2 * sites.bytes());
  if (a.common.plan) return operation.print_plan();

  const Arranged weights = operation.read();
  operation.begin("moving");
  options.execution = operation.execution();
  const apps::LloydReport report = apps::lloyd(weights.view, sites.as<double>(), options);
  operation.output(0).detail = fmt::format(", {} after {} iteration{}{}", sites.shape()[0], report.iterations,
                                           report.iterations == 1 ? "" : "s", report.at_rest ? ", at rest" : "");
  operation.write({}, [&](PendingFiles& files) { write_sites(sites, files.add(a.common.output)); });
  return operation.print(report, {{"sites", sites.shape()[0]},
                                  {"iterations", report.iterations},
                                  {"at_rest", report.at_rest}});
}

}  // namespace fathom::cli
