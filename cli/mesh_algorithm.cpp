#include "mesh_algorithm.h"

#include <fmt/format.h>

namespace fathom::cli {

namespace {

/// In the order of BandAlgorithm.
constexpr AlgorithmRow kRows[] = {
    {"octree", "corrected", "approximate; points around vertices, edges and faces, Landgraf 2016; corrected=1: exact"},
    {"mauch", "", "exact, CPU; scan conversion of polyhedra around vertices, edges and faces, Mauch 2000"},
    {"naive", "", "exact, CPU; every point of the lattice against every triangle"},
};

std::string_view name_of(published::BandAlgorithm algorithm) { return kRows[static_cast<std::size_t>(algorithm)].name; }

}  // namespace

std::span<const AlgorithmRow> mesh_algorithms() { return kRows; }

published::BandOptions plan_mesh_algorithm(const MeshArguments& arguments, const MeshPlan& plan) {
  const NamedAlgorithm named = split_algorithm(arguments.algorithm);
  const std::size_t number = find_algorithm(kRows, named.name);
  check_has_none(named.name, {{"--sign", arguments.sign != "auto" && arguments.sign != "none"},
                              {"--rule", !arguments.rule.empty()},
                              {"--offset", plan.offset.has_value()},
                              {"--closest", !arguments.closest.empty()},
                              {"--triangles", !arguments.triangles.empty()},
                              {"--inside", !arguments.inside.empty()},
                              {"--memory", plan.memory.has_value()},
                              {"--plan", arguments.plan}});
  if (!plan.band && !plan.cutoff)
    throw InvalidArgument(fmt::format("--algorithm {} makes bands; give --band or --cutoff", named.name));
  published::BandOptions options;
  options.algorithm = static_cast<published::BandAlgorithm>(number);
  for (const std::string_view text : named.parameters)
    options.corrected = parse_parameter(kRows[number], text).whole(0, 1) == 1;
  options.measure_error = options.algorithm == published::BandAlgorithm::octree && !options.corrected;
  options.dtype = plan.dtype;
  options.execution = plan.set.execution;
  return options;
}

Json mesh_algorithm_json(const published::BandOptions& options, const published::BandReport& report) {
  Json json = {{"name", name_of(options.algorithm)},
               {"exact", report.exact},
               {"phases", phases_json(report.phases)},
               {"visited", report.visited}};
  if (options.algorithm == published::BandAlgorithm::octree) {
    json["corrected"] = options.corrected;
    json["nodes"] = report.nodes;
  }
  if (report.error)
    json["error"] = {{"missed", report.error->missed},
                     {"share", report.error->share},
                     {"farther", report.error->farther},
                     {"largest", report.error->largest}};
  return json;
}

std::string mesh_algorithm_text(const published::BandOptions& options, const published::BandReport& report) {
  std::string text = phases_text(name_of(options.algorithm), report.backend, report.device, report.phases) +
                     (report.exact ? "exact" : "approximate");
  if (report.error)
    text += fmt::format(": {} points of the band ({:.3g} %) are missed, {} are up to {:.3g} too far",
                        report.error->missed, 100 * report.error->share, report.error->farther, report.error->largest);
  return text + "\n";
}

}  // namespace fathom::cli
