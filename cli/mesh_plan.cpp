#include "mesh_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>

#include "fathom/core/device.h"
#include "fathom/io/stream.h"
#include "input.h"
#include "memory.h"
#include "mesh_algorithm.h"
#include "options.h"
#include "report.h"

namespace fathom::cli {

namespace {

using Kind = MeshOutput::Kind;

/// The one of these formats that --format names; automatic: none of them.
template <class Format>
Format named(const std::string& text, std::initializer_list<Format> formats) {
  for (const Format format : formats)
    if (io::name_of(format) == text) return format;
  return Format::automatic;
}

/// One number for all axes, or one each.
std::array<double, 3> three(const char* option, std::vector<double> numbers) {
  if (numbers.size() == 1) numbers.resize(3, numbers[0]);
  if (numbers.size() != 3)
    throw InvalidArgument(
        fmt::format("{} takes one number, or one each for x, y and z; {} were given", option, numbers.size()));
  return {numbers[0], numbers[1], numbers[2]};
}

std::array<double, 3> parse_origin(const std::string& text) {
  const std::vector<double> numbers = parse_numbers("--origin", text);
  if (numbers.size() != 3) throw InvalidArgument(fmt::format("--origin takes X,Y,Z, not '{}'", text));
  return {numbers[0], numbers[1], numbers[2]};
}

std::array<std::int64_t, 3> parse_lattice_shape(const std::string& text) {
  const std::array<double, 3> numbers = three("--shape", parse_numbers("--shape", text));
  std::array<std::int64_t, 3> shape{};
  for (std::size_t k = 0; k < 3; ++k) {
    if (numbers[k] < 1 || numbers[k] != std::floor(numbers[k]) || numbers[k] > INT32_MAX)
      throw InvalidArgument(fmt::format("--shape takes whole numbers from 1, as x,y,z, not '{}'", text));
    shape[k] = static_cast<std::int64_t>(numbers[k]);
  }
  return shape;
}

double parse_above_zero(const char* option, const std::string& text) {
  const double value = parse_at_least_zero(option, text);
  if (!(value > 0) || !std::isfinite(value))
    throw InvalidArgument(fmt::format("{} takes a finite number above 0, not '{}'", option, text));
  return value;
}

mesh::LatticeOptions lattice_options(const MeshArguments& arguments) {
  mesh::LatticeOptions options;
  if (arguments.resolution.empty() == arguments.spacing.empty())
    throw InvalidArgument(
        arguments.spacing.empty()
            ? "how fine the lattice is must be said: --resolution 256, or --spacing 0.5 in the mesh's units"
            : "--resolution and --spacing both say how fine the lattice is; give one of them");
  if (!arguments.resolution.empty())
    options.resolution = parse_count("--resolution", arguments.resolution, 2, INT32_MAX);
  if (!arguments.spacing.empty()) options.spacing = three("--spacing", parse_spacing(arguments.spacing));
  if (!arguments.origin.empty()) options.origin = parse_origin(arguments.origin);
  if (!arguments.shape.empty()) options.shape = parse_lattice_shape(arguments.shape);
  if (!arguments.margin.empty()) options.margin = parse_count("--margin", arguments.margin, 0, INT32_MAX);
  return options;
}

void plan_offset(const MeshArguments& arguments, MeshPlan& plan) {
  const std::vector<double> numbers = parse_numbers("--offset", arguments.offset);
  if (numbers.size() != 1) throw InvalidArgument(fmt::format("--offset takes one number, not '{}'", arguments.offset));
  plan.offset = numbers[0];
  if (arguments.output.empty())
    throw InvalidArgument("--offset makes a surface; say where it goes, as in -o shell.stl");
  if (plan.set.sign == mesh::Sign::none && !(*plan.offset > 0))
    throw InvalidArgument(
        "without a sign there is no inside, so --offset takes a number above 0; leave out --sign none");
  using Format = io::MeshFormat;
  const Format format = named(arguments.format, {Format::stl, Format::ply, Format::obj, Format::off});
  if (format == Format::automatic && !arguments.format.empty())
    throw InvalidArgument(fmt::format("--format of a surface is stl, ply, obj or off, not '{}'", arguments.format));
  plan.surface_format = io::check_mesh(arguments.output, format);
}

/// Files that hold tiles as such get a band unless told otherwise; others a whole lattice.
void plan_form(const MeshArguments& arguments, MeshPlan& plan) {
  const int forms = (arguments.band.empty() ? 0 : 1) + (arguments.cutoff.empty() ? 0 : 1) + (arguments.dense ? 1 : 0);
  if (forms > 1)
    throw InvalidArgument("--band, --cutoff and --dense each say which points get a distance; give one of them");
  if (!arguments.band.empty()) plan.band = parse_above_zero("--band", arguments.band);
  if (!arguments.cutoff.empty()) plan.cutoff = parse_above_zero("--cutoff", arguments.cutoff);
  if (!arguments.offset.empty()) {
    if (forms > 0)
      throw InvalidArgument("--offset takes the points near its surface; leave out --band, --cutoff and --dense");
    return plan_offset(arguments, plan);
  }
  using Format = io::SparseFormat;
  plan.band_format = arguments.format.empty() ? io::sparse_format_from_path(arguments.output)
                                              : named(arguments.format, {Format::vdb, Format::nvdb, Format::vtu});
  if (plan.band_format != Format::automatic) {
    if (arguments.dense)
      throw InvalidArgument(
          fmt::format("'{}' holds a band; leave out --dense, or write .vti or .nii.gz", arguments.output));
    if (forms == 0) plan.band = 3;
    return;
  }
  plan.field_format.compress = arguments.compress;
  if (!arguments.format.empty()) plan.field_format.format = parse_format(arguments.format);
  else if (arguments.output == "-") plan.field_format.format = io::Format::npy;
}

void check_point_options(const MeshArguments& a) {
  if (const auto option = lattice_option(a))
    throw InvalidArgument(
        fmt::format("{} is for a lattice, and --points asks for points; leave one of them out", *option));
  if (a.output.empty()) throw InvalidArgument("no output was asked for; give -o FILE");
  if (io::same_stream(a.input, a.points))
    throw InvalidArgument("mesh and points cannot both come from standard input or one pipe; give one of them a file");
}

void check_lattice_options(const MeshArguments& a) {
  for (const auto& [option, text] :
       {std::pair{"--columns", &a.columns}, {"--delimiter", &a.delimiter}, {"--decimal", &a.decimal}})
    if (!text->empty())
      throw InvalidArgument(fmt::format("{} is for the file of --points, which is not given", option));
  if (a.output.empty() && a.closest.empty() && a.triangles.empty() && a.inside.empty() && a.preview.empty())
    throw InvalidArgument("no output was asked for; give -o FILE, --closest, --triangles, --inside or --preview");
  if (a.output.empty() && (a.compress || !a.format.empty()))
    throw InvalidArgument(
        fmt::format("{} is for the file of -o, which is not given", a.compress ? "--compress" : "--format"));
  if (a.preview.empty() && !a.title.empty())
    throw InvalidArgument("--title is for the picture of --preview, which is not given");
  if (!a.preview.empty() && io::format_from_path(a.preview) != io::Format::png)
    throw InvalidArgument(fmt::format("--preview draws a PNG; '{}' does not end in .png", a.preview));
  if (!a.closest.empty() && io::format_from_path(a.closest) != io::Format::npy)
    throw InvalidArgument(
        fmt::format("--closest writes an array with one more axis; '{}' does not end in .npy", a.closest));
}

void plan_sign(const MeshArguments& arguments, MeshPlan& plan) {
  plan.set.sign = parse_sign(arguments.sign);
  const bool winds = plan.set.sign == mesh::Sign::automatic || plan.set.sign == mesh::Sign::winding;
  if (!arguments.rule.empty() && !winds)
    throw InvalidArgument(fmt::format(
        "--rule says which winding numbers are inside; it goes with --sign winding, not {}", arguments.sign));
  if (!arguments.rule.empty()) plan.set.rule = parse_winding_rule(arguments.rule);
  if (plan.set.sign == mesh::Sign::none && !arguments.inside.empty())
    throw InvalidArgument("--inside needs a sign; leave out --sign none");
}

/// visitor(corners) for each triangle.
template <class Visitor>
void visit_triangles(const io::Mesh& mesh, const Visitor& visitor) {
  visit_dtype(mesh.vertices.dtype(), [&](auto vertex_tag) {
    const auto* const vertices = mesh.vertices.as<typename decltype(vertex_tag)::type>().data();
    visit_dtype(mesh.triangles.dtype(), [&](auto index_tag) {
      const auto* const numbers = mesh.triangles.as<typename decltype(index_tag)::type>().data();
      const auto corner = [&](std::int64_t i) {
        const auto* const vertex = vertices + 3 * static_cast<std::int64_t>(numbers[i]);
        return mesh::Point{static_cast<double>(vertex[0]), static_cast<double>(vertex[1]),
                           static_cast<double>(vertex[2])};
      };
      for (std::int64_t i = 0; i < mesh.triangles.size(); i += 3)
        visitor(std::array{corner(i), corner(i + 1), corner(i + 2)});
    });
  });
}

void plan_lattice(MeshPlan& plan, const io::Mesh& mesh) {
  const mesh::Bounds bounds = mesh::bounds_of({mesh.vertices.view(), mesh.triangles.view()});
  mesh::LatticeOptions around = plan.around;
  if (plan.band || plan.cutoff || plan.offset) {
    const mesh::Point spacing = mesh::lattice_around(bounds, around).spacing;
    const double longest = *std::max_element(spacing.begin(), spacing.end());
    if (plan.band) plan.cutoff = *plan.band * longest;
    if (plan.offset) plan.cutoff = std::abs(*plan.offset) + 2 * longest;  // both ends of all edges that it crosses
    if (!plan.has_margin) around.cutoff = plan.cutoff;
  }
  plan.lattice = mesh::lattice_around(bounds, around);
  const auto& shape = plan.lattice.shape;
  if (static_cast<double>(shape[0]) * static_cast<double>(shape[1]) * static_cast<double>(shape[2]) > 0x1p48)
    throw InvalidArgument(
        fmt::format("the lattice has {} × {} × {} points; give a larger --spacing, or a smaller --resolution", shape[0],
                    shape[1], shape[2]));
}

/// Where the lattice lies, for files: their axes are z, y, x.
io::Meaning meaning_of(const MeshPlan& plan) {
  io::Meaning meaning;
  io::Place place;
  place.origin = plan.lattice.origin;
  for (const std::size_t axis : {2, 1, 0}) {
    meaning.axes.push_back({io::AxisKind::space, "xyz"[axis], plan.lattice.spacing[axis], plan.unit, {}});
    place.directions.emplace_back()[axis] = 1;
  }
  meaning.place = std::move(place);
  return meaning;
}

MeshOutput output_of(const MeshPlan& plan, Kind kind, const std::string& path, DType dtype) {
  MeshOutput output;
  output.kind = kind;
  output.path = path;
  output.dtype = dtype;
  output.shape = plan.lattice.array_shape();
  return output;
}

/// Checks that the file can hold the output, and tells what it cannot keep of the lattice.
void add_output(MeshPlan& plan, Kind kind, const std::string& path, DType dtype, const io::WriteOptions& options) {
  MeshOutput output = output_of(plan, kind, path, dtype);
  if (kind == Kind::closest) output.shape.push_back(3);
  if (!path.empty()) {
    output.format = io::check_write(path, dtype, output.shape, output.meaning(plan.meaning), options);
    const bool is_said = std::any_of(plan.outputs.begin(), plan.outputs.end(), [&](const MeshOutput& other) {
      return !other.path.empty() && other.format == output.format;
    });
    io::Meaning in_order = plan.meaning;  // x, y, z, as all that `mesh` says of lattices
    std::reverse(in_order.axes.begin(), in_order.axes.end());
    const std::string lost = io::losses(output.format, in_order);
    if (!is_said && !lost.empty())
      plan.warnings.push_back(
          fmt::format("{}: {} does not hold the lattice's {}", shown(path), io::title_of(output.format), lost));
  }
  plan.outputs.push_back(output);
}

/// -o, where it is no array.
void add_whole(MeshPlan& plan, const std::string& path) {
  MeshOutput output = output_of(plan, plan.offset ? Kind::surface : Kind::band, path, plan.dtype);
  output.surface_format = plan.surface_format;
  if (!plan.offset) output.band_format = io::check_sparse(path, plan.band_format, plan.lattice.spacing);
  if (!plan.unit.empty() && output.band_format != io::SparseFormat::vdb)
    plan.warnings.push_back(
        fmt::format("{}: {} does not hold the lattice's unit ({})", shown(path), output.format_name(), plan.unit));
  plan.outputs.push_back(output);
}

void plan_outputs(MeshPlan& plan, const MeshArguments& arguments) {
  const bool is_whole = plan.offset || plan.band_format != io::SparseFormat::automatic;
  // Of a band the sides follow from the distances.
  if ((!is_whole && !arguments.output.empty()) || plan.offset || !arguments.preview.empty() ||
      (plan.cutoff && !arguments.inside.empty()))
    add_output(plan, Kind::distance, is_whole ? std::string() : arguments.output, plan.dtype, plan.field_format);
  if (is_whole) add_whole(plan, arguments.output);
  if (!arguments.triangles.empty()) add_output(plan, Kind::triangle, arguments.triangles, DType::int32, {});
  if (!arguments.closest.empty())
    add_output(plan, Kind::closest, arguments.closest, plan.cutoff ? DType::float32 : plan.dtype, {});
  if (!arguments.inside.empty()) add_output(plan, Kind::inside, arguments.inside, DType::uint8, {});
}

/// Tiles with a point within the cutoff of a triangle's box, or within a step: those of the band, and some more.
std::size_t tiles_near(const io::Mesh& mesh, const mesh::Lattice& lattice, double cutoff) {
  const double reach = std::max(cutoff, *std::max_element(lattice.spacing.begin(), lattice.spacing.end()));
  std::array<std::int64_t, 3> tiles{};
  for (std::size_t k = 0; k < 3; ++k) tiles[k] = (lattice.shape[k] + mesh::kTileSide - 1) / mesh::kTileSide;
  std::vector<bool> near(static_cast<std::size_t>(tiles[0] * tiles[1] * tiles[2]));
  const auto tile_at = [&](std::size_t k, double x) {
    const double tile = std::floor((x - lattice.origin[k]) / (lattice.spacing[k] * mesh::kTileSide));
    return static_cast<std::int64_t>(std::clamp(tile, -1.0, static_cast<double>(tiles[k])));
  };
  visit_triangles(mesh, [&](const auto& corners) {
    std::array<std::int64_t, 3> first{}, last{};
    for (std::size_t k = 0; k < 3; ++k) {
      const auto [low, high] = std::minmax({corners[0][k], corners[1][k], corners[2][k]});
      first[k] = std::max<std::int64_t>(tile_at(k, low - reach), 0);
      last[k] = std::min(tile_at(k, high + reach), tiles[k] - 1);
    }
    for (std::int64_t z = first[2]; z <= last[2]; ++z)
      for (std::int64_t y = first[1]; y <= last[1]; ++y)
        for (std::int64_t x = first[0]; x <= last[0]; ++x)
          near[static_cast<std::size_t>((z * tiles[1] + y) * tiles[0] + x)] = true;
  });
  return static_cast<std::size_t>(std::count(near.begin(), near.end(), true));
}

MeshNeeds needs_of_set(const MeshPlan& plan, const io::Mesh& mesh) {
  const mesh::SetBytes set = mesh::set_bytes(mesh.triangles.shape()[0], mesh.vertices.shape()[0], plan.set.sign);
  MeshNeeds needs;
  needs.mesh = mesh.vertices.bytes() + mesh.triangles.bytes() + mesh.face_of_triangle.size() * sizeof(std::int64_t);
  needs.set = set.kept;
  needs.build = set.build;
  return needs;
}

std::size_t band_bytes(const MeshPlan& plan, std::size_t tiles) {
  mesh::BandOptions options;
  options.dtype = plan.dtype;
  options.triangles = plan.output(Kind::triangle) != nullptr;
  options.closest = plan.output(Kind::closest) != nullptr;
  options.execution = plan.set.execution;
  return mesh::band_bytes(static_cast<std::int64_t>(tiles), options);
}

/// What files of tiles or of a surface are made of, beside the band. Of a surface some tiles have thrice the triangles
/// of a plane through one, in memory that grows by doubling.
std::size_t bytes_to_write(const MeshOutput& output, std::size_t tiles) {
  if (output.kind == Kind::surface) return tiles * 3 * 64 * (3 * size_of(output.dtype) + 24) * 2;
  const std::size_t trees = output.band_format == io::SparseFormat::vdb    ? 1
                            : output.band_format == io::SparseFormat::nvdb ? 2
                                                                           : 0;
  return trees * tiles * (mesh::kTilePoints * size_of(output.dtype) + 160);
}

void check_memory(const MeshPlan& plan) {
  const MeshNeeds& needs = plan.needs;
  const std::size_t limit =
      plan.memory ? *plan.memory : free_memory().value_or(std::numeric_limits<std::size_t>::max());
  if (needs.total() <= limit) return;
  const std::string parts = fmt::format(
      "mesh and tree need {}, {}outputs {}", memory_text(needs.mesh + needs.set + needs.build),
      needs.band > 0 ? fmt::format("the band at most {}, ", memory_text(needs.band)) : "", memory_text(needs.outputs));
  if (plan.memory)
    throw InvalidArgument(
        fmt::format("--memory {} is too small: {}; {} works", memory_text(limit), parts, memory_text(needs.total())));
  throw IoError(fmt::format(
      "this machine has {} of memory free: {}; a larger --spacing or a smaller --resolution needs less, and "
      "--memory {} insists",
      memory_text(limit), parts, memory_text(needs.total())));
}

/// `auto`: a device, if there is one that holds the mesh, and the work takes the processor longer than a device takes
/// to start, which is half a second. Fields and bands go there in pieces.
/// @param points  that are asked for
void choose_backend(MeshPlan& plan, const io::Mesh& mesh, std::int64_t points) {
  constexpr std::int64_t kOfThread = 1 << 19;  // points or triangles, in that time
  Backend& backend = plan.set.execution.backend;
  if (backend == Backend::automatic) {
    const int asked = plan.set.execution.threads, threads = asked > 0 ? asked : available_threads();
    const bool serves = std::max(points, mesh.triangles.shape()[0]) >= kOfThread * threads && device_count() > 0 &&
                        plan.needs.set < describe_device(current_device()).memory_bytes / 2;
    backend = serves ? Backend::cuda : Backend::cpu;
  }
  if (backend == Backend::cuda) plan.set.device_memory = plan.memory;
}

}  // namespace

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::distance: return "distance";
    case Kind::triangle: return "nearest triangle";
    case Kind::closest: return "closest point";
    case Kind::inside: return "inside";
    case Kind::band: return "distance";
    case Kind::surface: return "surface";
  }
  throw InternalError("an output without a name");
}

std::string_view MeshOutput::format_name() const {
  if (kind == Kind::band) return io::name_of(band_format);
  return kind == Kind::surface ? io::name_of(surface_format) : io::name_of(format);
}

io::Meaning MeshOutput::meaning(const io::Meaning& lattice) const {
  if (kind == Kind::closest) return {};
  io::Meaning meaning = lattice;
  // A NIfTI has one frame, in which the mesh's numbers stand as they are; other files leave open what x, y and z are.
  if (format == io::Format::nifti) meaning.place->frame = io::Place::Frame::ras;
  return meaning;
}

const MeshOutput* MeshPlan::output(Kind kind) const {
  const auto found =
      std::find_if(outputs.begin(), outputs.end(), [&](const MeshOutput& output) { return output.kind == kind; });
  return found == outputs.end() ? nullptr : &*found;
}

std::optional<std::string_view> lattice_option(const MeshArguments& a) {
  for (const auto& [option, is_given] : {std::pair{"--resolution", !a.resolution.empty()},
                                         {"--spacing", !a.spacing.empty()},
                                         {"--origin", !a.origin.empty()},
                                         {"--shape", !a.shape.empty()},
                                         {"--margin", !a.margin.empty()},
                                         {"--band", !a.band.empty()},
                                         {"--cutoff", !a.cutoff.empty()},
                                         {"--dense", a.dense},
                                         {"--offset", !a.offset.empty()},
                                         {"--algorithm", !a.algorithm.empty()},
                                         {"--compress", a.compress},
                                         {"--closest", !a.closest.empty()},
                                         {"--triangles", !a.triangles.empty()},
                                         {"--inside", !a.inside.empty()},
                                         {"--preview", !a.preview.empty()},
                                         {"--title", !a.title.empty()}})
    if (is_given) return option;
  return std::nullopt;
}

io::Mesh read_finite_mesh(const std::string& path) {
  io::Mesh mesh = io::read_mesh(path);
  if (const std::int64_t bad = first_not_finite(mesh.vertices.view()); bad < mesh.vertices.size())
    throw IoError(fmt::format("{}: vertex {} has a coordinate that is not finite", input_name(path), bad / 3));
  return mesh;
}

MeshPlan make_mesh_plan(const MeshArguments& arguments) {
  MeshPlan plan;
  check_outputs({{"-o", arguments.output},
                 {"--closest", arguments.closest},
                 {"--triangles", arguments.triangles},
                 {"--inside", arguments.inside},
                 {"--preview", arguments.preview}},
                arguments.json);
  if (!arguments.tolerance.empty()) throw InvalidArgument("--tolerance is for --compare, which is not given");
  plan_sign(arguments, plan);
  plan.dtype = parse_distance_dtype(arguments.dtype);
  plan.set.execution.backend = parse_backend(arguments.backend);
  plan.set.execution.threads = parse_threads(arguments.threads);
  if (!arguments.memory.empty()) plan.memory = parse_memory(arguments.memory);
  if (arguments.points.empty()) {
    check_lattice_options(arguments);
    plan.around = lattice_options(arguments);
    plan.has_margin = !arguments.margin.empty();
    plan_form(arguments, plan);
    if (!arguments.algorithm.empty()) {
      plan.algorithm = plan_mesh_algorithm(arguments, plan);
      plan.set.sign = mesh::Sign::none;
      plan.set.execution.backend = Backend::cpu;
    }
  } else {
    check_point_options(arguments);
    plan.table_format = io::check_table(arguments.output, 1, parse_table_format(arguments.format));
  }
  for (const std::string* path :
       {&arguments.output, &arguments.closest, &arguments.triangles, &arguments.inside, &arguments.preview})
    if (!path->empty()) io::AtomicFile::check(*path);
  return plan;
}

void plan_field(MeshPlan& plan, const MeshArguments& arguments, const io::Mesh& mesh) {
  plan.unit = arguments.units.empty() ? mesh.unit : arguments.units;
  plan_lattice(plan, mesh);
  plan.meaning = meaning_of(plan);
  plan_outputs(plan, arguments);
  plan.needs = needs_of_set(plan, mesh);
  for (const MeshOutput& output : plan.outputs) plan.needs.outputs += output.bytes();
  constexpr std::int64_t kMostCounted = std::int64_t{1} << 38;  // else the count itself takes much
  if (plan.cutoff && element_count(plan.lattice.array_shape()) <= kMostCounted) {
    const std::size_t tiles = tiles_near(mesh, plan.lattice, *plan.cutoff);
    plan.needs.band = band_bytes(plan, tiles);
    // The mesh stays there for it; mauch and naive have a number for each point of the lattice.
    if (plan.algorithm) plan.needs.band += plan.needs.mesh;
    if (plan.algorithm && plan.algorithm->algorithm != published::BandAlgorithm::octree)
      plan.needs.band += 8 * static_cast<std::size_t>(element_count(plan.lattice.array_shape()));
    for (const MeshOutput& output : plan.outputs)
      if (!output.is_array()) plan.needs.outputs += bytes_to_write(output, tiles);
  }
  check_memory(plan);
  choose_backend(plan, mesh, element_count(plan.lattice.array_shape()));
}

void plan_points(MeshPlan& plan, const io::Mesh& mesh, const Array& points) {
  const auto count = static_cast<std::size_t>(points.shape()[0]);
  plan.unit = mesh.unit;
  plan.needs = needs_of_set(plan, mesh);
  plan.needs.mesh += points.bytes();
  plan.needs.outputs = count * (7 * size_of(plan.dtype) + sizeof(std::int32_t)) + 2 * points.bytes() + count * 16;
  check_memory(plan);
  choose_backend(plan, mesh, points.shape()[0]);
}

}  // namespace fathom::cli
