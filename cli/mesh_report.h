// What `mesh` and `info` say of meshes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fathom/io/mesh.h"
#include "mesh_plan.h"
#include "report.h"

namespace fathom::cli {

/// A mesh as it was read, without its arrays.
struct MeshInput {
  std::string path;
  std::string_view format;
  std::int64_t vertices = 0;
  std::int64_t triangles = 0;
  std::string unit;
};

/// All that is known when `mesh` is done.
struct MeshOutcome {
  MeshInput input;
  mesh::Topology topology;
  mesh::Bounds bounds;
  mesh::Sign sign = mesh::Sign::none;
  std::size_t set_bytes = 0;
  mesh::Report report;
  std::optional<published::BandReport> algorithm;  ///< with --algorithm
  ValueRange range;            ///< of the distances; without a finite value: none were computed
  std::int64_t questions = 0;  ///< points of --points
  std::int64_t active = 0;     ///< points of the band
  std::int64_t tiles = 0;
  std::size_t band_bytes = 0;
  std::int64_t inside = 0;
  struct {
    std::int64_t vertices = 0, triangles = 0;
    bool closed = true;
  } surface;  ///< of --offset
  std::vector<std::string> warnings;
  double read = 0, build = 0, compute = 0, write = 0, total = 0;
};

MeshInput mesh_input(const std::string& path, const io::Mesh& mesh, const std::string& units);
std::string input_text(const MeshInput& input);
nlohmann::ordered_json input_json(const MeshInput& input);

/// "closed", "open: 12 edges, 3 of them between faces turned against each other": what the surface is like.
std::string topology_text(const mesh::Topology& topology);
nlohmann::ordered_json topology_json(const mesh::Topology& topology);

/// What should be known of a sign for such a mesh, a line each.
std::vector<std::string> sign_warnings(const MeshInput& input, const mesh::TriangleSetOptions& asked, mesh::Sign used,
                                       const mesh::Topology& topology, bool is_band);

/// What --plan says.
std::string mesh_plan_text(const MeshArguments& arguments, const MeshPlan& plan, const MeshInput& input);
void print_mesh_plan_json(const MeshArguments& arguments, const MeshPlan& plan, const MeshInput& input);

std::string mesh_text(const MeshArguments& arguments, const MeshPlan& plan, const MeshOutcome& outcome);
void print_mesh_json(const MeshArguments& arguments, const MeshPlan& plan, const MeshOutcome& outcome);

}  // namespace fathom::cli
