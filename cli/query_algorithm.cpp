#include "query_algorithm.h"

#include <cmath>
#include <cstdint>

namespace fathom::cli {

namespace {

constexpr AlgorithmRow kRows[] = {
    {"map-reduce", "kernels streams tile atomic",
     "exact; a map and a reduction, Khan & Zahran; kernels=10,streams=2,tile=128,atomic=0"},
};

}  // namespace

std::span<const AlgorithmRow> query_algorithms() { return kRows; }

published::MapReduceOptions plan_map_reduce(const QueryArguments& arguments, const QueryPlan& plan) {
  const NamedAlgorithm named = split_algorithm(arguments.algorithm);
  const AlgorithmRow& row = kRows[find_algorithm(kRows, named.name)];
  check_has_none(row.name, {{"--k", plan.query.k != 1},
                            {"--metric", plan.query.metric != points::Metric::euclidean},
                            {"--radius", std::isfinite(plan.query.radius)},
                            {"--approx", plan.query.relative_error != 0},
                            {"--cylinder", plan.query.cone.cylinder_radius != 0},
                            {"--period", !plan.set.period.empty()},
                            {"--storage", plan.storage.has_value()},
                            {"--memory", plan.memory.has_value()},
                            {"--plan", arguments.plan}});
  published::MapReduceOptions options;
  for (const std::string_view text : named.parameters) {
    const Parameter parameter = parse_parameter(row, text);
    if (parameter.key == "kernels") options.kernels = parameter.whole(1, INT32_MAX);
    else if (parameter.key == "streams") options.streams = parameter.whole(1, 64);
    else if (parameter.key == "tile") options.tile = parameter.whole(32, 256);
    else options.atomic = parameter.whole(0, 1) == 1;
  }
  options.every = plan.set.every;
  options.measure_error = options.every > 1;
  options.devices = plan.set.devices;
  options.execution = plan.query.execution;
  return options;
}

Json map_reduce_json(const published::MapReduceOptions& options, const published::MapReduceReport& report) {
  return {{"name", "map-reduce"},
          {"exact", report.exact},
          {"phases", phases_json(report.phases)},
          {"kernels", options.kernels},
          {"streams", options.streams},
          {"tiles", report.tiles},
          {"intermediate_bytes", report.intermediate_bytes},
          {"shares", report.shares}};
}

std::string map_reduce_text(const published::MapReduceReport& report) {
  return phases_text("map-reduce", report.backend, report.device, report.phases) +
         (report.exact ? "exact\n" : "perforated\n");
}

}  // namespace fathom::cli
