#include "mesh_compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "clock.h"
#include "fathom/io/stream.h"
#include "fathom/mesh/compare.h"
#include "input.h"
#include "json.h"
#include "mesh_plan.h"
#include "mesh_report.h"
#include "options.h"
#include "progress.h"
#include "warnings.h"

namespace fathom::cli {

namespace {

/// Options that ask for a field or for points.
void check_compare_options(const MeshArguments& a) {
  const MeshArguments none;
  std::optional<std::string_view> asked = lattice_option(a);
  for (const auto& [option, is_given] : {std::pair{"-o", !a.output.empty()},
                                         {"--format", !a.format.empty()},
                                         {"--sign", a.sign != none.sign},
                                         {"--rule", !a.rule.empty()},
                                         {"--points", !a.points.empty()},
                                         {"--columns", !a.columns.empty()},
                                         {"--delimiter", !a.delimiter.empty()},
                                         {"--decimal", !a.decimal.empty()},
                                         {"--dtype", a.dtype != none.dtype},
                                         {"--memory", !a.memory.empty()},
                                         {"--plan", a.plan}})
    if (is_given && !asked) asked = option;
  if (asked)
    throw InvalidArgument(fmt::format("--compare prints numbers alone; leave out {}, or ask for it by itself", *asked));
  if (io::same_stream(a.input, a.compare))
    throw InvalidArgument("both meshes cannot come from standard input or one pipe; give one of them a file");
}

/// A mesh with all that is said of it.
struct Side {
  MeshInput input;
  mesh::TriangleSet set;
};

Side read_side(const std::string& path, const std::string& units, const Execution& execution,
               std::vector<std::string>& warnings) {
  const io::Mesh mesh = read_finite_mesh(path);
  for (const std::string& warning : mesh.warnings) warn(warning);
  warnings.insert(warnings.end(), mesh.warnings.begin(), mesh.warnings.end());
  mesh::TriangleSetOptions options;
  options.sign = mesh::Sign::none;
  options.execution = execution;
  return {mesh_input(path, mesh, units), mesh::TriangleSet({mesh.vertices.view(), mesh.triangles.view()}, options)};
}

std::string deviation_text(const Side& from, const Side& to, const mesh::Deviation& d) {
  std::string text = fmt::format("{} to {}: at most {:.6g}, at {:.6g}", input_name(from.input.path),
                                 input_name(to.input.path), d.max, fmt::join(d.point, ", "));
  if (!std::isnan(d.mean)) text += fmt::format("; mean {:.6g}, root mean square {:.6g}", d.mean, d.rms);
  return text + "\n";
}

Json deviation_json(const mesh::Deviation& d) {
  const auto number = [](double value) { return std::isnan(value) ? Json(nullptr) : Json(value); };
  return {{"max", d.max},           {"bound", d.bound},     {"point", d.point},
          {"triangle", d.triangle}, {"nearest", d.nearest}, {"nearest_triangle", d.nearest_triangle},
          {"mean", number(d.mean)}, {"rms", number(d.rms)}, {"error", number(d.error)}};
}

Json side_json(const Side& side) {
  Json json = input_json(side.input);
  json["topology"] = topology_json(side.set.topology());
  return json;
}

}  // namespace

void compare_meshes(const MeshArguments& arguments) {
  check_compare_options(arguments);
  mesh::CompareOptions options;
  if (!arguments.tolerance.empty()) options.tolerance = parse_tolerance(arguments.tolerance);
  options.execution.backend = parse_backend(arguments.backend);
  options.execution.threads = parse_threads(arguments.threads);
  const auto start = Clock::now();
  Progress progress;
  progress.begin("reading");
  std::vector<std::string> warnings;
  const Side a = read_side(arguments.input, arguments.units, options.execution, warnings);
  const Side b = read_side(arguments.compare, arguments.units, options.execution, warnings);
  if (!a.input.unit.empty() && !b.input.unit.empty() && a.input.unit != b.input.unit) {
    warnings.push_back(fmt::format("{} is in {} and {} in {}; their numbers are compared as they are",
                                   input_name(a.input.path), a.input.unit, input_name(b.input.path), b.input.unit));
    warn(warnings.back());
  }
  progress.begin("comparing");
  options.execution.progress = progress.callback();
  const auto compare_start = Clock::now();
  const mesh::Comparison c = mesh::compare(a.set, b.set, options);
  const double seconds = seconds_since(compare_start);
  progress.end();
  if (arguments.json) {
    Json json = {
        {"operation", "mesh"},
        {"input", side_json(a)},
        {"other", side_json(b)},
        {"forward", deviation_json(c.forward)},
        {"backward", deviation_json(c.backward)},
        {"hausdorff", {{"distance", c.hausdorff()}, {"bound", c.hausdorff_bound()}, {"tolerance", c.tolerance}}},
        {"warnings", warnings},
        {"seconds", {{"compute", seconds}, {"total", seconds_since(start)}}}};
    add_execution(c.report, json);
    return print_line(json);
  }
  std::string text;
  for (const Side* side : {&a, &b}) text += input_text(side->input) + ", " + topology_text(side->set.topology()) + "\n";
  print_report(text + deviation_text(a, b, c.forward) + deviation_text(b, a, c.backward) +
                   fmt::format("Hausdorff distance: {:.6g}, certainly less than {:.2g} above\n", c.hausdorff(),
                               c.hausdorff_bound() - c.hausdorff()),
               {});
}

}  // namespace fathom::cli
