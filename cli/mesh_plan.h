// What `mesh` is going to do: from the command line, and, since the lattice lies about the mesh, from its bounds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fathom/io/image.h"
#include "fathom/io/mesh.h"
#include "fathom/io/points.h"
#include "fathom/io/sparse.h"
#include "fathom/mesh/triangle_set.h"
#include "fathom/published/band.h"
#include "mesh.h"

namespace fathom::cli {

/// An array over the lattice, the band of one, or a surface in it, and the file it goes to.
struct MeshOutput {
  enum class Kind { distance, triangle, closest, inside, band, surface };
  Kind kind = Kind::distance;
  std::string path;                           ///< empty: computed for another output or the preview alone
  io::Format format = io::Format::automatic;  ///< of an array
  io::SparseFormat band_format = io::SparseFormat::automatic;
  io::MeshFormat surface_format = io::MeshFormat::automatic;
  DType dtype = DType::float32;
  Shape shape;

  bool is_array() const { return kind != Kind::band && kind != Kind::surface; }
  std::string_view format_name() const;
  /// Of the array.
  std::size_t bytes() const { return is_array() ? static_cast<std::size_t>(element_count(shape)) * size_of(dtype) : 0; }
  /// What its file says of it. @param lattice  where the points lie
  io::Meaning meaning(const io::Meaning& lattice) const;
};

std::string_view name_of(MeshOutput::Kind kind);

/// Bytes that the parts of the work take at most.
struct MeshNeeds {
  std::size_t mesh = 0;   ///< as it is read
  std::size_t set = 0;    ///< what answers
  std::size_t build = 0;  ///< beside both while it is made
  std::size_t band = 0;
  std::size_t outputs = 0;

  /// The mesh is given back before the field is computed.
  std::size_t total() const { return std::max(mesh + set + build, set + band + outputs); }
};

struct MeshPlan {
  mesh::TriangleSetOptions set;
  mesh::LatticeOptions around;
  bool has_margin = false;
  std::optional<double> band;    ///< voxels on each side
  std::optional<double> cutoff;  ///< of a band, in the mesh's units; set from `band`, too. Nothing: the field is dense
  std::optional<published::BandOptions> algorithm;  ///< of the band, in place of the library's own
  std::optional<double> offset;  ///< of the surface that is wanted from the field, whose band is as wide as that takes
  DType dtype = DType::float32;
  io::WriteOptions field_format;
  io::SparseFormat band_format = io::SparseFormat::automatic;  ///< of -o, if it is a band
  io::MeshFormat surface_format = io::MeshFormat::automatic;   ///< of -o, if it is a surface
  io::TableFormat table_format = io::TableFormat::npy;         ///< of --points
  std::optional<std::size_t> memory;
  std::string unit;  ///< of the mesh; empty: unknown

  // Known once the mesh is read.
  mesh::Lattice lattice;
  io::Meaning meaning;
  std::vector<MeshOutput> outputs;  ///< distances first
  MeshNeeds needs;
  std::vector<std::string> warnings;  ///< of what files cannot keep, a line each

  bool is_lattice() const { return !outputs.empty(); }  ///< else there are points
  const MeshOutput* output(MeshOutput::Kind kind) const;
};

/// The first option that is given and that only a lattice has.
std::optional<std::string_view> lattice_option(const MeshArguments& arguments);

/// @throws IoError also where a vertex is not finite
io::Mesh read_finite_mesh(const std::string& path);

/// @throws InvalidArgument, IoError: what can be known to be wrong before the mesh is read
MeshPlan make_mesh_plan(const MeshArguments& arguments);

/// Lays the lattice about the mesh and plans the files.
/// @throws InvalidArgument, IoError: what can be known to be wrong before the work
void plan_field(MeshPlan& plan, const MeshArguments& arguments, const io::Mesh& mesh);

/// The same for points instead of a lattice.
/// @param points  [n, 3]
void plan_points(MeshPlan& plan, const io::Mesh& mesh, const Array& points);

}  // namespace fathom::cli
