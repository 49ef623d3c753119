#include "mesh_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "input.h"
#include "json.h"
#include "memory.h"
#include "mesh_algorithm.h"
#include "options.h"

namespace fathom::cli {

namespace {

using Kind = MeshOutput::Kind;

std::string counted(std::int64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

MeshInput mesh_input(const std::string& path, const io::Mesh& mesh, const std::string& units) {
  return {path, io::name_of(mesh.format), mesh.vertices.shape()[0], mesh.triangles.shape()[0],
          units.empty() ? mesh.unit : units};
}

std::string input_text(const MeshInput& input) {
  return fmt::format("{}: {}, {}, {}", input_name(input.path), input.format,
                     counted(input.triangles, "triangle", "triangles"),
                     input.unit.empty() ? "unit unknown" : "in " + input.unit);
}

namespace {

/// "0.5", or one for each axis where they are unequal.
std::string spacing_text(const mesh::Point& spacing) {
  return spacing[0] == spacing[1] && spacing[1] == spacing[2] ? fmt::format("{:.6g}", spacing[0])
                                                              : fmt::format("{:.6g}", fmt::join(spacing, ", "));
}

std::string lattice_text(const mesh::Lattice& lattice) {
  return fmt::format("lattice: {} points from {:.6g}, spacing {} (all x, y, z)", fmt::join(lattice.shape, " × "),
                     fmt::join(lattice.origin, ", "), spacing_text(lattice.spacing));
}

/// "winding, since the mesh is closed".
std::string sign_text(mesh::Sign asked, const MeshOutcome& outcome) {
  const std::string name(cli::name_of(outcome.sign));
  if (asked != mesh::Sign::automatic) return name;
  return fmt::format("{}, since the mesh is {}", name, outcome.topology.closed() ? "closed" : "open");
}

std::string line_of(const MeshOutput& output, const MeshPlan& plan, const MeshOutcome& outcome) {
  if (output.kind == Kind::surface)
    return fmt::format("{}: surface at {:.6g}, {}, {}, {}\n", shown(output.path), *plan.offset,
                       counted(outcome.surface.vertices, "vertex", "vertices"),
                       counted(outcome.surface.triangles, "triangle", "triangles"),
                       outcome.surface.closed ? "closed" : "open at the lattice's border");
  std::string line = fmt::format("{}: {}, {}, {}", shown(output.path), name_of(output.kind),
                                 fathom::name_of(output.dtype), to_string(output.shape));
  if (output.kind == Kind::distance || output.kind == Kind::band) {
    if (outcome.range.has_finite())
      line += fmt::format(", {:.6g} to {:.6g}", outcome.range.lowest, outcome.range.highest);
    if (plan.cutoff)
      line += fmt::format("; {} within {:.6g}, in {}", counted(outcome.active, "point", "points"), *plan.cutoff,
                          counted(outcome.tiles, "tile", "tiles"));
  }
  if (output.kind == Kind::inside) line += fmt::format(", {} inside", counted(outcome.inside, "point", "points"));
  return line + "\n";
}

Json output_json(const MeshOutput& output) {
  return {{"path", output.path},
          {"content", name_of(output.kind)},
          {"format", output.format_name()},
          {"dtype", fathom::name_of(output.dtype)},
          {"shape", to_json(output.shape)}};
}

}  // namespace

Json input_json(const MeshInput& input) {
  return {{"path", input.path},
          {"format", input.format},
          {"vertices", input.vertices},
          {"triangles", input.triangles},
          {"unit", text_or_null(input.unit)}};
}

namespace {

Json lattice_json(const MeshPlan& plan) {
  return {{"origin", plan.lattice.origin},
          {"spacing", plan.lattice.spacing},
          {"shape", plan.lattice.shape},
          {"unit", text_or_null(plan.unit)}};
}

Json band_json(const MeshPlan& plan, const MeshOutcome& outcome) {
  if (!plan.cutoff) return nullptr;
  return {
      {"cutoff", *plan.cutoff}, {"points", outcome.active}, {"tiles", outcome.tiles}, {"bytes", outcome.band_bytes}};
}

Json needs_json(const MeshNeeds& needs) {
  return {{"mesh", needs.mesh}, {"set", needs.set},         {"build", needs.build},
          {"band", needs.band}, {"outputs", needs.outputs}, {"total", needs.total()}};
}

Json outputs_json(const MeshArguments& arguments, const MeshPlan& plan) {
  Json outputs = Json::array();
  if (!arguments.points.empty())
    outputs.push_back({{"path", arguments.output}, {"content", "table"}, {"format", io::name_of(plan.table_format)}});
  for (const MeshOutput& output : plan.outputs)
    if (!output.path.empty()) outputs.push_back(output_json(output));
  if (!arguments.preview.empty())
    outputs.push_back({{"path", arguments.preview}, {"content", "picture"}, {"format", "png"}});
  return outputs;
}

}  // namespace

std::string topology_text(const mesh::Topology& topology) {
  std::string text = topology.closed() ? "closed" : counted(topology.open, "open edge", "open edges");
  if (topology.flipped > 0) text += fmt::format(" ({} between faces turned against each other)", topology.flipped);
  if (topology.shared > 0) text += ", " + counted(topology.shared, "edge", "edges") + " of more than two triangles";
  if (topology.degenerate > 0)
    text += ", " + counted(topology.degenerate, "triangle", "triangles") + " without an area";
  if (topology.duplicate > 0) text += ", " + counted(topology.duplicate, "triangle", "triangles") + " twice";
  text += fmt::format(", area {:.6g}", topology.area);
  if (topology.closed()) text += fmt::format(", volume {:.6g}", topology.volume);
  return text;
}

Json topology_json(const mesh::Topology& topology) {
  return {{"closed", topology.closed()},
          {"vertices", topology.vertices},
          {"edges", topology.edges},
          {"open_edges", topology.open},
          {"flipped_edges", topology.flipped},
          {"shared_edges", topology.shared},
          {"degenerate", topology.degenerate},
          {"duplicate", topology.duplicate},
          {"area", topology.area},
          {"volume", topology.closed() ? Json(topology.volume) : Json(nullptr)}};
}

std::vector<std::string> sign_warnings(const MeshInput& input, const mesh::TriangleSetOptions& asked, mesh::Sign used,
                                       const mesh::Topology& topology, bool is_band) {
  std::vector<std::string> warnings;
  const std::string name = input_name(input.path);
  if (is_band && !topology.closed() && used != mesh::Sign::none)
    warnings.push_back(fmt::format(
        "{}: beyond the band, parts of inside or outside that are narrower than 8 points may be missed, since "
        "the surface has holes; without a band each point is asked",
        name));
  if (!topology.closed()) {
    const std::string open =
        counted(topology.open, "edge is open", "edges are open") +
        (topology.flipped > 0 ? fmt::format(", {} of them between faces turned against each other", topology.flipped)
                              : "");
    if (asked.sign == mesh::Sign::automatic)
      warnings.push_back(
          fmt::format("{}: {}, so inside is where the generalised winding number is at least 1/2{}; --sign says "
                      "otherwise, --sign none does without",
                      name, open, asked.rule != mesh::WindingRule::nonzero ? ", whatever --rule says" : ""));
    else if (used == mesh::Sign::pseudonormal)
      warnings.push_back(
          fmt::format("{}: {}, near which pseudonormals may mistake the side; --sign fast-winding is for such "
                      "meshes",
                      name, open));
  } else if (topology.volume < 0 && used == mesh::Sign::pseudonormal) {
    warnings.push_back(
        fmt::format("{}: the surface is inside out (its volume is {:.6g}), so signs are the other way round; "
                    "--sign winding does not mind",
                    name, topology.volume));
  } else if (topology.volume < 0 && used == mesh::Sign::winding && asked.rule == mesh::WindingRule::positive) {
    warnings.push_back(
        fmt::format("{}: the surface is inside out (its volume is {:.6g}), so --rule positive finds little or "
                    "nothing inside; --rule nonzero does not mind",
                    name, topology.volume));
  }
  return warnings;
}

std::string mesh_plan_text(const MeshArguments& arguments, const MeshPlan& plan, const MeshInput& input) {
  std::string text = fmt::format("read     {}\n", input_text(input));
  if (plan.is_lattice())
    text += fmt::format("lattice  {} points from {}, spacing {} (all x, y, z)\n", fmt::join(plan.lattice.shape, " × "),
                        fmt::join(plan.lattice.origin, ", "), fmt::join(plan.lattice.spacing, ", "));
  if (plan.cutoff) text += fmt::format("band     points within {}\n", *plan.cutoff);
  for (const MeshOutput& output : plan.outputs)
    if (!output.path.empty())
      text += fmt::format("write    {}: {}, {}, {}, {}\n", shown(output.path), name_of(output.kind),
                          output.format_name(), fathom::name_of(output.dtype), to_string(output.shape));
  if (!arguments.points.empty())
    text += fmt::format("write    {}: distance, triangle and closest point, {}, {}\n", shown(arguments.output),
                        io::name_of(plan.table_format), fathom::name_of(plan.dtype));
  if (!arguments.preview.empty()) text += fmt::format("write    {}: picture, png\n", arguments.preview);
  return text + fmt::format("memory   at most {}: mesh {}, tree {} (and {} to build it){}, outputs {}\n",
                            memory_text(plan.needs.total()), memory_text(plan.needs.mesh), memory_text(plan.needs.set),
                            memory_text(plan.needs.build),
                            plan.needs.band > 0 ? ", band " + memory_text(plan.needs.band) : "",
                            memory_text(plan.needs.outputs));
}

void print_mesh_plan_json(const MeshArguments& arguments, const MeshPlan& plan, const MeshInput& input) {
  print_line({{"operation", "plan"},
              {"verb", "mesh"},
              {"input", input_json(input)},
              {"lattice", plan.is_lattice() ? lattice_json(plan) : Json(nullptr)},
              {"cutoff", plan.cutoff ? Json(*plan.cutoff) : Json(nullptr)},
              {"outputs", outputs_json(arguments, plan)},
              {"bytes", needs_json(plan.needs)}});
}

std::string mesh_text(const MeshArguments& arguments, const MeshPlan& plan, const MeshOutcome& outcome) {
  std::string text = input_text(outcome.input) + ", " + topology_text(outcome.topology) + "\n";
  if (arguments.points.empty()) text += lattice_text(plan.lattice) + "\n";
  text += fmt::format("sign: {}\n", sign_text(plan.set.sign, outcome));
  if (!arguments.points.empty()) {
    text += fmt::format("{}: distance, triangle and closest point of {}", shown(arguments.output),
                        counted(outcome.questions, "point", "points"));
    if (outcome.range.has_finite())
      text += fmt::format(", {:.6g} to {:.6g}", outcome.range.lowest, outcome.range.highest);
    text += "\n";
  }
  for (const MeshOutput& output : plan.outputs)
    if (!output.path.empty()) text += line_of(output, plan, outcome);
  if (outcome.algorithm) text += mesh_algorithm_text(*plan.algorithm, *outcome.algorithm);
  if (!arguments.preview.empty()) text += fmt::format("{}: picture\n", arguments.preview);
  return text;
}

void print_mesh_json(const MeshArguments& arguments, const MeshPlan& plan, const MeshOutcome& outcome) {
  const bool finite = outcome.range.has_finite(), of_points = !arguments.points.empty();
  Json json = {
      {"operation", "mesh"},
      {"input", input_json(outcome.input)},
      {"bounds", {{"low", outcome.bounds.low}, {"high", outcome.bounds.high}}},
      {"topology", topology_json(outcome.topology)},
      {"lattice", of_points ? Json(nullptr) : lattice_json(plan)},
      {"points", of_points ? Json({{"path", arguments.points}, {"count", outcome.questions}}) : Json(nullptr)},
      {"sign",
       {{"asked", name_of(plan.set.sign)},
        {"used", name_of(outcome.sign)},
        {"rule", outcome.sign == mesh::Sign::winding ? Json(name_of(plan.set.rule)) : Json(nullptr)}}},
      {"band", band_json(plan, outcome)},
      {"surface", plan.offset ? Json({{"offset", *plan.offset},
                                      {"vertices", outcome.surface.vertices},
                                      {"triangles", outcome.surface.triangles},
                                      {"closed", outcome.surface.closed}})
                              : Json(nullptr)},
      {"outputs", outputs_json(arguments, plan)},
      {"min", finite ? Json(outcome.range.lowest) : Json(nullptr)},
      {"max", finite ? Json(outcome.range.highest) : Json(nullptr)},
      {"inside", plan.output(Kind::inside) != nullptr ? Json(outcome.inside) : Json(nullptr)},
      {"warnings", outcome.warnings},
      {"seconds",
       {{"read", outcome.read},
        {"build", outcome.build},
        {"compute", outcome.compute},
        {"write", outcome.write},
        {"total", outcome.total}}},
      {"set_bytes", outcome.set_bytes},
      {"bytes", needs_json(plan.needs)}};
  if (outcome.algorithm) json["algorithm"] = mesh_algorithm_json(*plan.algorithm, *outcome.algorithm);
  add_execution(outcome.report, json);
  print_line(json);
}

}  // namespace fathom::cli
