#include "query_algorithm.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "algorithm.h"
#include "fathom/core/error.h"
#include "options.h"

namespace fathom::cli {

published::MapReduceOptions plan_map_reduce(const QueryArguments& arguments, const QueryPlan& plan) {
  const NamedAlgorithm named = split_algorithm(arguments.algorithm);
  if (named.name != "map-reduce")
    throw InvalidArgument(
        fmt::format("--algorithm: there is no '{}'; use map-reduce, or list for what it is", named.name));
  const std::pair<const char*, bool> refused[] = {{"--k", plan.query.k != 1},
                                                  {"--metric", plan.query.metric != points::Metric::euclidean},
                                                  {"--radius", std::isfinite(plan.query.radius)},
                                                  {"--approx", plan.query.relative_error != 0},
                                                  {"--cylinder", plan.query.cone.cylinder_radius != 0},
                                                  {"--period", !plan.set.period.empty()},
                                                  {"--storage", plan.storage.has_value()},
                                                  {"--memory", plan.memory.has_value()},
                                                  {"--plan", arguments.plan}};
  for (const auto& [option, is_given] : refused)
    if (is_given) throw InvalidArgument(fmt::format("--algorithm map-reduce has no {}; leave one of them out", option));
  published::MapReduceOptions options;
  for (const std::string_view parameter : named.parameters) {
    const auto [key, value] = parse_parameter(named.name, "kernels streams tile atomic", parameter);
    const auto whole = [key = key, value = value](int least, int most) {
      return static_cast<int>(parse_count(fmt::format("--algorithm: {}", key), value, least, most));
    };
    if (key == "kernels") options.kernels = whole(1, INT32_MAX);
    else if (key == "streams") options.streams = whole(1, 64);
    else if (key == "tile") options.tile = whole(32, 256);
    else options.atomic = whole(0, 1) == 1;
  }
  options.every = plan.set.every;
  options.measure_error = options.every > 1;
  options.devices = plan.set.devices;
  options.execution = plan.query.execution;
  return options;
}

std::string query_algorithm_list() {
  return "map-reduce exact; a map and a reduction, Khan & Zahran; kernels=10,streams=2,tile=128,atomic=0\n";
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
  double seconds = 0;
  for (const published::Phase& phase : report.phases) seconds += phase.seconds;
  return fmt::format("map-reduce on {}: {:.4g} ms, {}\n",
                     report.device.empty() ? std::string(name_of(report.backend)) : report.device, 1e3 * seconds,
                     report.exact ? "exact" : "perforated");
}

}  // namespace fathom::cli
