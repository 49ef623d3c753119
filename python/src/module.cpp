// The extension fathom._core: what Python cannot do itself. The package around it checks arguments, chooses element types
// and allocates; see fathom/_core.pyi for the signatures.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "batch.h"
#include "fathom/core/error.h"
#include "gather.h"
#include "watch.h"

namespace nb = nanobind;
using namespace fathom;
using python::Input;
using python::Output;

namespace {

using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;

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
                           {"==", number(Rule::equal)}});
  m.attr("METRICS") = table({{"euclidean", number(grid::Metric::euclidean)},
                             {"taxicab", number(grid::Metric::taxicab)},
                             {"chessboard", number(grid::Metric::chessboard)}});
  m.attr("BORDERS") = table({{"open", number(grid::Border::open)},
                             {"sites", number(grid::Border::sites)},
                             {"periodic", number(grid::Border::periodic)}});
  m.attr("SURFACES") = table({{"faces", number(grid::Surface::faces)}, {"centers", number(grid::Surface::centers)}});
  m.attr("BACKENDS") =
      table({{"auto", number(Backend::automatic)}, {"cpu", number(Backend::cpu)}, {"cuda", number(Backend::cuda)}});
}

/// What a call computes, apart from the arrays: filled once by the package, checked by the library when it is used.
grid::DistanceOptions make_options(int sites, double value, int metric, std::vector<double> spacing,
                                   const std::vector<int>& border, double max_distance, bool is_signed, int surface,
                                   const Ranges& region, int backend, int threads) {
  grid::DistanceOptions options;
  options.sites = {static_cast<grid::Sites::Rule>(sites), value};
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

void transform(const Input& x, std::size_t rank, const grid::DistanceOptions& options, const Output& distance,
               const Output& squared, const Output& nearest, const Output& coordinates, nb::object progress) {
  const python::Batch batch{python::images_of(x, rank), python::images_of(distance, rank),
                            python::images_of(squared, rank), python::images_of(nearest, rank),
                            python::images_of(coordinates, rank + 1)};
  python::Watch watch(std::move(progress));
  try {
    const nb::gil_scoped_release unlocked;
    python::transform(batch, options, watch);
  } catch (const Cancelled&) {
    watch.rethrow();
    throw;
  }
  watch.finish();
}

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OutputBytes = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class Index>
using Indices = nb::ndarray<const Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// @param image_size  elements of one image; all arrays hold the same whole number of images
template <class Index>
void gather(const Bytes& values, std::size_t element_size, const Indices<Index>& nearest, std::size_t image_size,
            const OutputBytes& out) {
  if (values.size() != nearest.size() * element_size || out.size() != values.size())
    throw InvalidArgument("the arrays differ in size");
  const nb::gil_scoped_release unlocked;
  for (std::size_t begin = 0; begin < nearest.size(); begin += image_size)
    python::gather({reinterpret_cast<const std::byte*>(values.data()) + begin * element_size,
                    reinterpret_cast<std::byte*>(out.data()) + begin * element_size, element_size},
                   {nearest.data() + begin, image_size});
}

std::vector<std::string_view> instruction_sets() {
  std::vector<std::string_view> names;
  for (const InstructionSet set : {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512})
    if (is_supported(set)) names.push_back(name_of(set));
  return names;
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
  add_tables(m);
  add_errors(m);
  nb::class_<grid::DistanceOptions>(m, "Options").def(nb::new_(&make_options));
  m.def("transform", &transform, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg().none(),
        nb::arg().none(), nb::arg().none());
  m.def("gather", &gather<std::int32_t>);
  m.def("gather", &gather<std::int64_t>);
  m.def("instruction_sets", &instruction_sets);
  m.def("available_threads", &available_threads);
  m.def("release_threads", &release_threads);
}
