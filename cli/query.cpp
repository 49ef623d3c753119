#include "query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <tuple>

#include "clock.h"
#include "exit_code.h"
#include "input.h"
#include "json.h"
#include "memory.h"
#include "options.h"
#include "pending_files.h"
#include "progress.h"
#include "query_algorithm.h"
#include "query_plan.h"
#include "query_points.h"
#include "report.h"
#include "statistics.h"

namespace fathom::cli {

namespace {

constexpr const char* kExamples = R"(Examples:
  fathom query trees.csv houses.csv -o nearest.csv
      distance from each house to the nearest tree, and which one it is (0 is the first)
  fathom query scan.ply probe.xyz -o nearest.npy --k 8 --radius 2.5
      the 8 nearest points no farther than 2.5, as a structured array
  fathom query atoms.npy grid.npy -o near.npy --period 12.5 --approx 0.01
      in a periodic box, at most 1 % too far
  fathom query stations.csv towns.csv -o nearest.csv --columns easting,northing --decimal ,
      which columns hold the coordinates, and how they write numbers, where that is not plain
  fathom query walls.ply eyes.ply -o ahead.ply --cone 0,0,1,20 --cylinder 0.5
      only sites in a cone of 20 degrees around the z axis, or within 0.5 of that axis

Points are read from NPY, PLY and text: CSV, PTS, XYZ.
Exit codes: 0 done, 2 usage, 3 data or files, 4 device, 70 internal.)";

struct QueryOutcome {
  Array distance;
  Array site;
  ValueRange range;
  std::optional<double> perforation_error;  ///< in percent
  points::QueryReport report;
  std::optional<published::MapReduceReport> algorithm;  ///< with --algorithm
  std::size_t set_bytes = 0;
  double read = 0, build = 0, compute = 0, write = 0, total = 0;
};

/// The paper's measure, on up to this many queries spread over all.
std::optional<double> perforation_error(const QueryPlan& plan, const points::SiteSet& set, const Points& points) {
  constexpr std::int64_t kSample = 1000;
  const std::int64_t count = points.queries.data.shape()[0];
  if (plan.set.every == 1 || count == 0) return std::nullopt;
  const std::int64_t step = (count + kSample - 1) / kSample, axes = points.queries.data.shape()[1];
  const AnyConstView sample(points.queries.data.data(), points.queries.data.dtype(), {(count + step - 1) / step, axes},
                            {step * axes, 1});
  points::SiteSetOptions exact = plan.set;
  exact.every = 1;
  points::QueryOptions options = plan.query;
  options.k = 1;
  options.relative_error = 0;
  options.execution.progress = nullptr;
  return points::percentage_error(points::SiteSet(points.sites.data.view(), exact), set, sample, options);
}

/// By the algorithm as it was published.
QueryOutcome compute_published(QueryPlan& plan, const Points& points, Progress& progress) {
  QueryOutcome outcome;
  const auto start = Clock::now();
  progress.begin("computing");
  published::MapReduceOptions& options = *plan.algorithm;
  options.directions = plan.query.cone.directions;
  if (options.directions.present()) options.half_angle = plan.query.cone.half_angle;
  options.execution.progress = progress.callback();
  const Shape shape{points.queries.data.shape()[0]};
  outcome.distance = Array(plan.dtype, shape);
  outcome.site = Array(DType::int64, shape);
  const published::MapReduceReport report =
      published::map_reduce(points.sites.data.view(), points.queries.data.view(), options,
                            {outcome.distance.view(), outcome.site.view()});
  outcome.compute = seconds_since(start);
  outcome.range = value_range(outcome.distance.view());
  outcome.perforation_error = report.error;
  outcome.report.backend = report.backend;
  outcome.report.threads = report.threads;
  outcome.report.scratch_bytes = report.scratch_bytes;
  outcome.report.device = report.device;
  outcome.algorithm = report;
  return outcome;
}

QueryOutcome compute(QueryPlan& plan, const Points& points, Progress& progress) {
  if (plan.algorithm) return compute_published(plan, points, progress);
  QueryOutcome outcome;
  const auto build_start = Clock::now();
  progress.begin("sorting sites");
  plan.set.execution.progress = progress.callback();
  const points::SiteSet set(points.sites.data.view(), plan.set);
  outcome.build = seconds_since(build_start);
  outcome.set_bytes = set.bytes();

  const auto start = Clock::now();
  progress.begin("computing");
  plan.query.execution.progress = progress.callback();
  Shape shape{points.queries.data.shape()[0]};
  if (plan.query.k > 1) shape.push_back(plan.query.k);
  outcome.distance = Array(plan.dtype, shape);
  outcome.site = Array(DType::int64, shape);
  points::QueryOutputs outputs;
  outputs.distance = outcome.distance.view();
  outputs.site = outcome.site.view();
  outcome.report = set.nearest(points.queries.data.view(), plan.query, outputs);
  outcome.compute = seconds_since(start);
  outcome.range = value_range(outcome.distance.view());
  outcome.perforation_error = perforation_error(plan, set, points);
  return outcome;
}

void write_result(const QueryArguments& arguments, const QueryPlan& plan, const Points& points,
                  const QueryOutcome& outcome) {
  PendingFiles files;
  io::write_table(files.add(arguments.output), {{"distance", outcome.distance.view()}, {"site", outcome.site.view()}},
                  points.queries.data.view(), plan.format);
  files.commit();
}

std::string text_of(const QueryArguments& arguments, const QueryPlan& plan, const Points& points,
                    const QueryOutcome& outcome) {
  std::string text = fmt::format("{}: {} × {} nearest of {} sites", shown(arguments.output),
                                 points.queries.data.shape()[0], plan.query.k, points.sites.data.shape()[0]);
  if (outcome.range.has_finite())
    text += fmt::format(", {:.6g} to {:.6g}", outcome.range.lowest, outcome.range.highest);
  text += "\n";
  if (outcome.range.infinite > 0) text += fmt::format("{} answers have no site\n", outcome.range.infinite);
  text += columns_text(arguments.sites, points.sites) + columns_text(arguments.queries, points.queries);
  if (outcome.perforation_error)
    text += fmt::format("one site in {}: mean error {:.4g} %\n", plan.set.every, *outcome.perforation_error);
  if (outcome.algorithm) text += map_reduce_text(*outcome.algorithm);
  return text;
}

Json json_of(const QueryArguments& arguments, const QueryPlan& plan, const Points& points,
             const QueryOutcome& outcome) {
  const bool finite = outcome.range.has_finite();
  Json json = {{"operation", "query"},
               {"sites", points_json(arguments.sites, points.sites)},
               {"queries", points_json(arguments.queries, points.queries)},
               {"output", {{"path", arguments.output}, {"format", io::name_of(plan.format)}}},
               {"k", plan.query.k},
               {"metric", arguments.metric},
               {"unreached", outcome.range.infinite},
               {"min", finite ? Json(outcome.range.lowest) : Json(nullptr)},
               {"max", finite ? Json(outcome.range.highest) : Json(nullptr)},
               {"perforate", plan.set.every},
               {"mean_percentage_error", outcome.perforation_error ? Json(*outcome.perforation_error) : Json(nullptr)},
               {"storage", plan.algorithm ? Json(nullptr) : Json(name_of(plan.set.storage))},
               {"set_bytes", outcome.set_bytes},
               {"seconds",
                {{"read", outcome.read},
                 {"build", outcome.build},
                 {"compute", outcome.compute},
                 {"write", outcome.write},
                 {"total", outcome.total}}}};
  add_execution(outcome.report, json);
  if (outcome.algorithm) json["algorithm"] = map_reduce_json(*plan.algorithm, *outcome.algorithm);
  return json;
}

Json plan_json(const QueryArguments& arguments, const QueryPlan& plan, const Points& points) {
  const QueryNeeds needs = needs_of(plan, points.sites.data, points.queries.data);
  return {{"operation", "plan"},
          {"verb", "query"},
          {"sites", points_json(arguments.sites, points.sites)},
          {"queries", points_json(arguments.queries, points.queries)},
          {"output",
           {{"path", arguments.output}, {"format", io::name_of(plan.format)}, {"dtype", fathom::name_of(plan.dtype)}}},
          {"k", plan.query.k},
          {"metric", arguments.metric},
          {"storage", name_of(plan.set.storage)},
          {"backend", fathom::name_of(plan.query.execution.backend)},
          {"bytes", {{"arrays", needs.arrays}, {"set", needs.set}, {"scratch", needs.scratch}}}};
}

std::string plan_text(const QueryArguments& arguments, const QueryPlan& plan, const Points& points) {
  const QueryNeeds needs = needs_of(plan, points.sites.data, points.queries.data);
  std::string text;
  for (const auto& [path, file, noun] :
       {std::tuple{&arguments.sites, &points.sites, "sites"}, {&arguments.queries, &points.queries, "queries"}})
    text += fmt::format("read     {}: {} {}, {}, columns {}\n", input_name(*path), file->data.shape()[0], noun,
                        fathom::name_of(file->data.dtype()), fmt::join(file->columns, ", "));
  text += fmt::format("compute  {} nearest of each, {}, {} storage, on {}\n", plan.query.k, arguments.metric,
                      name_of(plan.set.storage), fathom::name_of(plan.query.execution.backend));
  text += fmt::format("write    {}: {}, distances as {}\n", shown(arguments.output), io::name_of(plan.format),
                      fathom::name_of(plan.dtype));
  return text + fmt::format("memory   {} for points and answers, {} for {} storage, {} of scratch\n",
                            memory_text(needs.arrays), memory_text(needs.set), name_of(plan.set.storage),
                            memory_text(needs.scratch));
}

void print_outcome(const QueryArguments& arguments, const QueryPlan& plan, const Points& points,
                   const QueryOutcome& outcome) {
  if (arguments.json) return print_line(json_of(arguments, plan, points, outcome));
  print_report(text_of(arguments, plan, points, outcome), {arguments.output});
}

}  // namespace

Work declare_query(CLI::App* verb) {
  const auto arguments = std::make_shared<QueryArguments>();
  QueryArguments& a = *arguments;
  verb->footer(kExamples);
  verb->add_option("SITES", a.sites, "Points: NPY, CSV, PLY, PTS, XYZ; - for standard input")->required();
  verb->add_option("QUERIES", a.queries, "Points: NPY, CSV, PLY, PTS, XYZ; - for standard input")->required();
  verb->add_option("-o,--output", a.output, "Where the answers go: .npy .csv .ply; - for standard output (NPY)");
  verb->add_option("--format", a.format, "npy, csv or ply, whatever the ending of -o");
  verb->add_option("--columns", a.columns,
                   "Columns of x, y (and z) in both files, by names or numbers: lon,lat or 2,3,4");
  verb->add_option("--delimiter", a.delimiter,
                   "What divides the columns of text: a mark, tab or space (default: found out)");
  verb->add_option("--decimal", a.decimal, "Decimal mark of text, '.' or ',' (default: found out)");
  verb->add_option("--dtype", a.dtype, "Distances as float32 (default) or float64");
  verb->add_option("--k", a.k, "How many of the nearest sites, 1 to 64 (default 1)");
  verb->add_option("--metric", a.metric, "euclidean, taxicab or chessboard (default euclidean)");
  verb->add_option("--radius", a.radius, "Farther sites do not count: inf and id -1");
  verb->add_option("--approx", a.approximate, "Allowed relative error E: at most (1 + E) times too far (default 0)");
  verb->add_option("--perforate", a.perforate, "Only every P-th site; the mean error is measured on a sample");
  verb->add_option("--cone", a.cone, "X,Y,Z,DEGREES or X,Y,DEGREES: only sites in that direction, up to that angle");
  verb->add_option("--cylinder", a.cylinder, "With --cone: also sites no farther than this from its axis");
  verb->add_option("--period", a.period, "Extent of a periodic box from 0: one number, or one per axis; 0: open");
  verb->add_option("--storage", a.storage, "auto (what fits --memory), sorted, boxed or plain");
  add_algorithm_option(verb, a.algorithm, "map-reduce, with parameters as in map-reduce:kernels=10,streams=2",
                       query_algorithms());
  verb->add_option("--backend", a.backend, "auto, cpu or cuda (default auto)");
  verb->add_option("--devices", a.devices, "Numbers of CUDA devices that share the queries, such as 0,1");
  verb->add_option("--threads", a.threads, "Most threads; 0 for all processors (default)");
  verb->add_option(
      "--memory", a.memory,
      "Most memory for sites, queries, answers and the index, on the host and a device each, such as 4GiB");
  verb->add_flag("--plan", a.plan,
                 "Read the points and say what would be computed and written, and the memory it takes");
  verb->add_flag("--json", a.json, "Print one line of JSON about the work");
  return [arguments] { return run_query(*arguments); };
}

int run_query(const QueryArguments& arguments) {
  const auto start = Clock::now();
  QueryPlan plan = make_query_plan(arguments);
  const io::PointOptions reading = parse_point_options(arguments);
  Progress progress;
  progress.begin("reading");
  const Points points = read_both(arguments, reading);
  const double read = seconds_since(start);
  Array direction;
  set_cone(plan, static_cast<int>(points.sites.data.shape()[1]), direction);
  if (!plan.algorithm) {
    fit_into_memory(plan, points.sites.data, points.queries.data);
    choose_backend(plan, points.sites.data, points.queries.data);
  }
  plan.set.execution = plan.query.execution;
  if (arguments.plan) {
    const points::SiteSet none(AnyConstView(nullptr, DType::float32, {0, 3}), plan.set);  // devices that are not there
    progress.end();
    arguments.json ? print_line(plan_json(arguments, plan, points)) : print_text(plan_text(arguments, plan, points));
    return kDone;
  }
  QueryOutcome outcome = compute(plan, points, progress);
  outcome.read = read;

  const auto write_start = Clock::now();
  progress.begin("writing");
  write_result(arguments, plan, points, outcome);
  outcome.write = seconds_since(write_start);
  outcome.total = seconds_since(start);
  progress.end();
  print_outcome(arguments, plan, points, outcome);
  return kDone;
}

}  // namespace fathom::cli
