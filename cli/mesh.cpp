#include "mesh.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <utility>

#include "chart/volume_chart.h"
#include "clock.h"
#include "exit_code.h"
#include "fathom/io/stream.h"
#include "input.h"
#include "mesh_algorithm.h"
#include "mesh_compare.h"
#include "mesh_field.h"
#include "mesh_plan.h"
#include "mesh_points.h"
#include "mesh_report.h"
#include "options.h"
#include "pending_files.h"
#include "progress.h"
#include "warnings.h"

namespace fathom::cli {

namespace {

constexpr const char* kExamples = R"(Examples:
  fathom mesh part.stl -o part.nii.gz --resolution 256 --preview part.png
      signed distances on 256 points along the longest side, and a picture of them
  fathom mesh part.stl -o part.vti --spacing 0.5 --band 3 --units mm
      only as far as 3 voxels from the surface; ±1.5 elsewhere
  fathom mesh scan.ply -o scan.npy --spacing 0.01 --sign none --closest closest.npy --triangles faces.npy
      without inside and outside; where the nearest point is, and on which triangle
  fathom mesh part.obj --inside solid.npy --spacing 1 --origin 0,0,0 --shape 64,64,32
      which points of a given lattice are inside; solid.npy has the shape [32, 64, 64]
  fathom mesh part.stl -o part.vdb --spacing 0.5
      the band as a level set for OpenVDB, Houdini and Blender; .nvdb and .vtu, too
  fathom mesh part.stl -o shell.stl --offset 2 --spacing 0.5
      the surface that is 2 outside of the part
  fathom mesh part.stl --points probe.csv -o near.csv
      distance, nearest triangle and closest point of each point
  fathom mesh part.stl --compare scan.ply
      how far the surfaces are from one another: the largest distance, where it is, the mean, both ways
  fathom mesh part.stl -o part.vti --spacing 0.5 --band 3 --algorithm octree
      by an octree as it was published, and how many points of the band that misses

--origin, --spacing and --shape are in the order of the mesh's coordinates, x, y, z; arrays are [z, y, x], as
volumes are.
Exit codes: 0 done, 2 usage, 3 data or files, 4 device, 70 internal.)";

/// From a command line to its report.
class MeshWork {
 public:
  explicit MeshWork(const MeshArguments& arguments) : arguments_(arguments), plan_(make_mesh_plan(arguments)) {}

  void run() {
    read();
    if (arguments_.plan) return print_plan();
    const mesh::TriangleSet set = build();
    const auto compute_start = Clock::now();
    progress_.begin("computing");
    Execution execution = plan_.set.execution;
    execution.progress = progress_.callback();
    if (of_points()) answers_ = answer_points(set, plan_, points_.data, execution, outcome_);
    else compute(set, execution);
    outcome_.compute = seconds_since(compute_start);

    const auto write_start = Clock::now();
    write();
    outcome_.write = seconds_since(write_start);
    outcome_.total = seconds_since(start_);
    progress_.end();
    if (arguments_.json) return print_mesh_json(arguments_, plan_, outcome_);
    print_report(mesh_text(arguments_, plan_, outcome_),
                 {arguments_.output, arguments_.closest, arguments_.triangles, arguments_.inside});
  }

 private:
  bool of_points() const { return !arguments_.points.empty(); }

  void tell(const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings) warn(warning);
    outcome_.warnings.insert(outcome_.warnings.end(), warnings.begin(), warnings.end());
  }

  void read() {
    progress_.begin("reading");
    mesh_ = read_finite_mesh(arguments_.input);
    tell(mesh_.warnings);
    if (of_points()) points_ = read_mesh_points(arguments_);
    outcome_.read = seconds_since(start_);
    outcome_.input = mesh_input(arguments_.input, mesh_, arguments_.units);
    if (of_points()) plan_points(plan_, mesh_, points_.data);
    else plan_field(plan_, arguments_, mesh_);
    tell(points_.warnings);
    tell(plan_.warnings);
  }

  void print_plan() const {
    if (arguments_.json) print_mesh_plan_json(arguments_, plan_, outcome_.input);
    else print_text(mesh_plan_text(arguments_, plan_, outcome_.input));
  }

  mesh::TriangleSet build() {
    const auto start = Clock::now();
    progress_.begin("building");
    mesh::TriangleSetOptions options = plan_.set;
    options.execution.progress = progress_.callback();
    mesh::TriangleSet set({mesh_.vertices.view(), mesh_.triangles.view()}, options);
    if (!plan_.algorithm) mesh_ = {};
    outcome_.build = seconds_since(start);
    outcome_.topology = set.topology();
    outcome_.bounds = set.bounds();
    outcome_.sign = set.sign();
    outcome_.set_bytes = set.bytes();
    tell(sign_warnings(outcome_.input, plan_.set, set.sign(), set.topology(), plan_.cutoff.has_value()));
    return set;
  }

  void compute(const mesh::TriangleSet& set, const Execution& execution) {
    field_ = compute_field(set, {mesh_.vertices.view(), mesh_.triangles.view()}, plan_, execution, outcome_);
    if (!plan_.offset) return;
    const mesh::IsoSurface& surface = field_.surface;
    outcome_.surface = {surface.vertices.shape()[0], surface.triangles.shape()[0], surface.closed};
    if (outcome_.surface.triangles == 0)
      throw IoError(
          fmt::format("{}: no point of the lattice is on the other side of --offset {}, so there is no surface",
                      input_name(arguments_.input), *plan_.offset));
    if (!surface.closed)
      tell({fmt::format("{}: the surface ends at the lattice's border; a larger --shape or --margin closes it",
                        shown(arguments_.output))});
  }

  void write_output(const MeshOutput& output, const Array& array, io::AtomicFile& file) const {
    if (output.kind == MeshOutput::Kind::band) {
      io::SparseField band = io::sparse_field(field_.band);
      band.unit = plan_.unit;
      return io::write_sparse(file, band, output.band_format);
    }
    if (output.kind == MeshOutput::Kind::surface)
      return io::write_mesh(file, field_.surface.vertices.view(), field_.surface.triangles.view(),
                            output.surface_format);
    io::WriteOptions options = output.kind == MeshOutput::Kind::distance ? plan_.field_format : io::WriteOptions{};
    options.format = output.format;
    io::write(file, array.view(), output.meaning(plan_.meaning), options);
  }

  /// Standard output comes last, since it cannot be taken back.
  void write() {
    progress_.begin("writing");
    PendingFiles files;
    if (of_points()) write_answers(arguments_, plan_, points_.data, answers_, files);
    for (const bool to_standard_output : {false, true}) {
      for (std::size_t k = 0; k < plan_.outputs.size(); ++k) {
        const MeshOutput& output = plan_.outputs[k];
        if (output.path.empty() || io::writes_to(output.path, STDOUT_FILENO) != to_standard_output) continue;
        write_output(output, field_.arrays[k], files.add(output.path));
      }
      if (!to_standard_output && !arguments_.preview.empty())
        draw_volume_chart(chart(), files.add(arguments_.preview).stream());
    }
    files.commit();
  }

  VolumeChart chart() const {
    VolumeChart chart;
    chart.field = field_.arrays[0].view();
    chart.origin = plan_.lattice.origin;
    chart.spacing = plan_.lattice.spacing;
    chart.reach = plan_.cutoff.value_or(0);
    chart.is_signed = outcome_.sign != mesh::Sign::none;
    chart.is_solid = outcome_.topology.closed();
    chart.title = arguments_.title;
    chart.units = plan_.unit;
    chart.source = input_name(std::filesystem::path(arguments_.input).filename().string());
    chart.notes = fmt::format("{} triangles", outcome_.input.triangles);
    if (chart.is_signed) chart.notes += fmt::format(" · sign: {}", name_of(outcome_.sign));
    if (plan_.cutoff) chart.notes += fmt::format(" · up to {:g}", *plan_.cutoff);
    chart.threads = outcome_.report.threads;
    return chart;
  }

  const Clock::time_point start_ = Clock::now();
  const MeshArguments& arguments_;
  MeshPlan plan_;
  Progress progress_;
  io::Mesh mesh_;
  io::Points points_;
  MeshOutcome outcome_;
  MeshField field_;
  PointAnswers answers_;
};

}  // namespace

Work declare_mesh(CLI::App* verb) {
  const auto arguments = std::make_shared<MeshArguments>();
  MeshArguments& a = *arguments;
  verb->footer(kExamples);
  verb->add_option("MODEL", a.input, "Triangle mesh: OBJ, PLY, STL, OFF, glTF; - for standard input")->required();
  verb->add_option(
      "-o,--output", a.output,
      "Where the field goes: .npy .nii .nii.gz .vti .nrrd .mha .tif; of bands, .vdb .nvdb .vtu, too; of --offset, "
      ".stl .ply .obj .off; of --points, .csv .npy .ply; - for standard output (NPY, PLY of --offset)");
  verb->add_option(
      "--format", a.format,
      "npy, nifti, vti, nrrd, mha, tiff, vdb, nvdb or vtu, of --offset stl, ply, obj or off, of --points npy, csv "
      "or ply, whatever the ending of -o");
  verb->add_flag("--compress", a.compress, "Deflate the TIFF or NRRD of -o");
  verb->add_option("--resolution", a.resolution, "Points along the longest side of the mesh");
  verb->add_option("--spacing", a.spacing, "From a point to the next, in the mesh's units: one number, or X,Y,Z");
  verb->add_option("--origin", a.origin, "The first point: X,Y,Z (default: the mesh's low corner, less the margin)");
  verb->add_option("--shape", a.shape, "Points along each axis: one number, or X,Y,Z (default: as the mesh needs)");
  verb->add_option("--margin", a.margin, "Points around the mesh on each side (default 2; of a band, what holds it)");
  verb->add_option("--band", a.band,
                   "Distances only so many voxels (of their longest side) around the surface; ± that elsewhere (3 for "
                   ".vdb .nvdb .vtu)");
  verb->add_option("--cutoff", a.cutoff, "The same in the mesh's units");
  verb->add_flag("--dense", a.dense, "Distances at all points (default)");
  add_algorithm_option(verb, a.algorithm, "octree, mauch or naive, of a band, with parameters as in octree:corrected=1",
                       mesh_algorithms());
  verb->add_option("--offset", a.offset,
                   "The surface at this distance instead of the field, in the mesh's units; below 0 inside");
  verb->add_option("--sign", a.sign,
                   "How inside, which is negative, is told: auto (default: winding if the mesh is closed, else "
                   "fast-winding), none, pseudonormal, winding or fast-winding");
  verb->add_option("--rule", a.rule, "Which winding numbers are inside: nonzero (default), even-odd or positive");
  verb->add_option("--closest", a.closest, "NPY file for the closest point of the surface, shape [z, y, x, 3]");
  verb->add_option("--triangles", a.triangles, "File for the number of the nearest triangle, from 0; beyond a band -1");
  verb->add_option("--inside", a.inside, "File for solid voxels: 1 inside, else 0, uint8");
  verb->add_option("--points", a.points, "Points instead of a lattice: NPY, CSV, PLY, PTS, XYZ; - for standard input");
  verb->add_option("--columns", a.columns, "Columns of x, y and z in the file of --points, by names or numbers");
  verb->add_option("--delimiter", a.delimiter, "What divides its columns: a mark, tab or space (default: found out)");
  verb->add_option("--decimal", a.decimal, "Its decimal mark, '.' or ',' (default: found out)");
  verb->add_option("--compare", a.compare,
                   "Another mesh: prints the largest distance of each surface from the other (Hausdorff), where it is, "
                   "the mean and the root mean square");
  verb->add_option(
      "--tolerance", a.tolerance,
      "How far the largest may be from what is proved, in the mesh's units (default: 1e-6 of the diagonal)");
  verb->add_option("--dtype", a.dtype, "Distances as float32 (default) or float64");
  verb->add_option("--preview", a.preview, "Picture of the solid and of three slices of the field, as PNG");
  verb->add_option("--title", a.title, "Title of the picture");
  verb->add_option("--units", a.units,
                   "What the mesh's numbers are in, such as mm, for files and the picture (default: the file's)");
  verb->add_option("--backend", a.backend, "auto, cpu or cuda (default auto)");
  verb->add_option("--threads", a.threads, "Most threads; 0 for all processors (default)");
  verb->add_option("--memory", a.memory,
                   "Most memory for mesh, tree and outputs, on the host and a device each, such as 4GiB");
  verb->add_flag("--plan", a.plan, "Say where the lattice would lie, what would be written, and the memory it takes");
  verb->add_flag("--json", a.json, "Print one line of JSON about the work");
  return [arguments] { return run_mesh(*arguments); };
}

int run_mesh(const MeshArguments& arguments) {
  if (!arguments.compare.empty()) compare_meshes(arguments);
  else MeshWork(arguments).run();
  return kDone;
}

}  // namespace fathom::cli
