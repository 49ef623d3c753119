// The extension fathom._core: what Python cannot do itself. The package around it checks arguments, chooses element
// types and allocates; see fathom/_core.pyi for the signatures.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "fathom/core/error.h"
#include "apps.h"
#include "dynamic_set.h"
#include "fields.h"
#include "files.h"
#include "gather.h"
#include "host_array.h"
#include "mesh.h"
#include "points.h"
#include "stream.h"
#include "transform.h"
#include "voronoi.h"
#include "voxel_set.h"
#include "watch.h"

#ifdef FATHOM_PYTHON_CUDA
#include "cuda/bindings.h"
#endif

namespace nb = nanobind;
using namespace fathom;
using python::HostArray;

namespace {

using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;
/// A number of Python; integers of up to 64 bits whole.
using Number = std::variant<std::int64_t, std::uint64_t, double>;

nb::dict table(std::initializer_list<std::pair<const char*, int>> entries) {
  nb::dict result;
  for (const auto& [name, value] : entries) result[name] = value;
  return result;
}

template <class Enum>
int number(Enum value) {
  return static_cast<int>(value);
}

void add_tables(nb::module_& m) {
  using Rule = grid::Sites::Rule;
  m.attr("SITES") = table({{"zero", number(Rule::zero)},
                           {"nonzero", number(Rule::nonzero)},
                           {"labels", number(Rule::labels)},
                           {">=", number(Rule::greater_equal)},
                           {"<=", number(Rule::less_equal)},
                           {"==", number(Rule::equal)},
                           {"!=", number(Rule::not_equal)},
                           {">", number(Rule::greater)},
                           {"<", number(Rule::less)}});
  m.attr("METRICS") = table({{"euclidean", number(grid::Metric::euclidean)},
                             {"taxicab", number(grid::Metric::taxicab)},
                             {"chessboard", number(grid::Metric::chessboard)}});
  m.attr("BORDERS") = table({{"open", number(grid::Border::open)},
                             {"sites", number(grid::Border::sites)},
                             {"periodic", number(grid::Border::periodic)}});
  m.attr("SURFACES") = table({{"faces", number(grid::Surface::faces)}, {"centers", number(grid::Surface::centers)}});
  m.attr("STORAGES") = table({{"plain", number(points::Storage::plain)},
                              {"boxed", number(points::Storage::boxed)},
                              {"sorted", number(points::Storage::sorted)}});
  using python::VoxelSet;
  m.attr("EDITS") = table({{"add", number(VoxelSet::Edit::add)},
                           {"remove", number(VoxelSet::Edit::remove)},
                           {"move", number(VoxelSet::Edit::move)}});
  using mesh::Sign, mesh::WindingRule;
  m.attr("SIGNS") = table({{"auto", number(Sign::automatic)},
                           {"none", number(Sign::none)},
                           {"pseudonormal", number(Sign::pseudonormal)},
                           {"winding", number(Sign::winding)},
                           {"fast-winding", number(Sign::fast_winding)}});
  m.attr("RULES") = table({{"nonzero", number(WindingRule::nonzero)},
                           {"even-odd", number(WindingRule::even_odd)},
                           {"positive", number(WindingRule::positive)}});
  m.attr("BACKENDS") =
      table({{"auto", number(Backend::automatic)}, {"cpu", number(Backend::cpu)}, {"cuda", number(Backend::cuda)}});
}

/// What a call computes, apart from the arrays: filled once by the package, checked by the library when it is used.
grid::DistanceOptions make_options(int sites, Number value, int metric, std::vector<double> spacing,
                                   const std::vector<int>& border, double max_distance, bool is_signed, int surface,
                                   const Ranges& region, int backend, int threads) {
  grid::DistanceOptions options;
  options.sites.rule = static_cast<grid::Sites::Rule>(sites);
  options.sites.value = std::visit([](auto number) { return grid::Sites::Value(number); }, value);
  options.metric = static_cast<grid::Metric>(metric);
  options.spacing = std::move(spacing);
  for (const int b : border) options.border.push_back(static_cast<grid::Border>(b));
  options.max_distance = max_distance;
  options.signed_distance = is_signed;
  options.surface = static_cast<grid::Surface>(surface);
  for (const auto& [begin, end] : region) options.region.push_back({begin, end});
  options.execution.backend = static_cast<Backend>(backend);
  options.execution.threads = threads;
  return options;
}

void transform(nb::handle x, int rank, const grid::DistanceOptions& options, nb::handle distance, nb::handle squared,
               nb::handle nearest, nb::handle coordinates, nb::object progress) {
  using enum HostArray::Access;
  const HostArray arrays[] = {{x, read}, {distance, write}, {squared, write}, {nearest, write}, {coordinates, write}};
  python::Arrays raw{arrays[0].raw(), arrays[1].raw(), arrays[2].raw(), arrays[3].raw(), arrays[4].raw()};
  grid::DistanceOptions own = options;
  python::run_watched(std::move(progress), own.execution, [&] { python::transform(raw, rank, std::move(own)); });
}

template <class Index>
void gather_images(const HostArray& values, const HostArray& nearest, const HostArray& out, std::size_t element_size,
                   std::size_t image_size) {
  const auto* indices = reinterpret_cast<const Index*>(nearest.data());
  const std::size_t elements = nearest.bytes() / sizeof(Index);
  if (values.bytes() != elements * element_size || out.bytes() != values.bytes())
    throw InvalidArgument("the arrays differ in size");
  constexpr std::size_t kPiece = 1 << 18;  // between two looks whether to go on
  Execution watch;
  python::run_watched(nb::none(), watch, [&] {
    for (std::size_t image = 0; image < elements; image += image_size)
      for (std::size_t first = 0; first < image_size; first += kPiece) {
        python::gather({values.data() + image * element_size, out.data() + image * element_size, element_size}, first,
                       std::span(indices + image + first, std::min(kPiece, image_size - first)));
        watch.progress(0);
        if (watch.stop.stop_requested()) throw Cancelled();
      }
  });
}

/// @param values, out  dense bytes
/// @param nearest      dense, int32 or int64
/// @param image_size   elements of one image; all arrays hold the same whole number of images
void gather(nb::handle values, std::size_t element_size, nb::handle nearest, std::size_t image_size, nb::handle out) {
  const HostArray from(values, HostArray::Access::read), to(out, HostArray::Access::write);
  const HostArray indices(nearest, HostArray::Access::read);
  if (indices.raw().dtype == DType::int32) gather_images<std::int32_t>(from, indices, to, element_size, image_size);
  else gather_images<std::int64_t>(from, indices, to, element_size, image_size);
}

std::vector<std::string_view> instruction_sets() {
  std::vector<std::string_view> names;
  for (const InstructionSet set : {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512})
    if (is_supported(set)) names.push_back(name_of(set));
  return names;
}

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (int device = 0; device < device_count(); ++device) names.push_back(describe_device(device).name);
  return names;
}

/// Numbers of the element types that arrays have, by NumPy's names.
nb::dict dtypes() {
  nb::dict result;
  for (const DType dtype : {DType::boolean, DType::uint8, DType::int8, DType::uint16, DType::int16, DType::uint32,
                            DType::int32, DType::uint64, DType::int64, DType::float32, DType::float64}) {
    const std::string_view name = name_of(dtype);
    result[nb::str(name.data(), name.size())] = number(dtype);
  }
  return result;
}

void add_errors(nb::module_& m) {
  nb::exception<fathom::DeviceError>(m, "DeviceError", PyExc_RuntimeError);
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const InvalidArgument& e) {
      PyErr_SetString(PyExc_ValueError, e.what());
    } catch (const IoError& e) {
      PyErr_SetString(PyExc_OSError, e.what());
    }
  });
}

}  // namespace

NB_MODULE(_core, m) {
  m.attr("VERSION") = FATHOM_VERSION;
  m.attr("DTYPES") = dtypes();
  add_tables(m);
  add_errors(m);
  nb::class_<grid::DistanceOptions>(m, "Options").def(nb::new_(&make_options));
  m.def("transform", &transform, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg().none(),
        nb::arg().none(), nb::arg().none());
  m.def("gather", &gather);
  python::add_apps(m);
  python::add_files(m);
  python::add_mesh(m);
  python::add_points(m);
  python::add_dynamic_set(m);
  python::add_voxel_set(m);
  python::add_published(m);
  python::add_published_band(m);
  python::add_published_tiles(m);
  python::add_map_reduce(m);
  python::add_stream(m);
  python::add_voronoi(m);
  python::add_fields(m);
  m.def("device_names", &device_names);
#ifdef FATHOM_PYTHON_CUDA
  m.attr("HAS_CUDA") = true;
  python::add_cuda(m);
#else
  m.attr("HAS_CUDA") = false;
#endif
  m.def("instruction_sets", &instruction_sets);
  m.def("available_threads", &available_threads);
  m.def("release_device_memory", &release_device_memory);
  m.def("release_threads", &release_threads);
}
