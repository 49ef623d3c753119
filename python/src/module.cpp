// The extension fathom._core: what Python cannot do itself. The package around it checks arguments, chooses element
// types and allocates; see fathom/_core.pyi for the signatures.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "apps.h"
#include "device_array.h"
#include "dynamic_set.h"
#include "fathom/core/device.h"
#include "fathom/core/error.h"
#include "fathom/grid/distance.h"
#include "fathom/mesh/triangle_set.h"
#include "fields.h"
#include "files.h"
#include "mesh.h"
#include "points.h"
#include "stream.h"
#include "transform.h"
#include "voronoi.h"
#include "voxel_set.h"

#ifdef FATHOM_PYTHON_CUDA
#include "cuda/bindings.h"
#endif

namespace nb = nanobind;
using namespace fathom;

namespace {

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
  python::add_device_array(m);
  python::add_transform(m);
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
