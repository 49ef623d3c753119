#include "files.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

#include "fathom/core/error.h"
#include "fathom/io/image.h"
#include "host_array.h"

namespace nb = nanobind;

namespace fathom::python {

namespace {

nb::tuple read(const std::string& path, int colours, const std::string& channel, bool print_resolution) {
  io::ReadOptions options;
  options.colours = static_cast<io::Colours>(colours);
  options.channel = channel;
  options.print_resolution = print_resolution;
  io::Image image;
  {
    const nb::gil_scoped_release unlocked;
    image = io::read(path, options);
  }
  return nb::make_tuple(as_numpy(std::move(image.data)), std::move(image.meaning), std::move(image.warnings));
}

/// @param array  dense
/// @return what the file does not hold of the meaning, or nothing
std::string write(const std::string& path, nb::handle array, const io::Meaning& meaning, bool compress) {
  const HostArray held(array, HostArray::Access::read);
  const RawArray raw = held.raw();
  Shape shape;
  for (int k = 0; k < raw.rank; ++k) shape.push_back(raw.shape[static_cast<std::size_t>(k)]);
  const AnyConstView view(raw.data, raw.dtype, shape);
  io::WriteOptions options;
  options.compress = compress;
  const nb::gil_scoped_release unlocked;
  const io::WriteReport report = io::write(path, view, meaning, options);
  const std::string lost = io::losses(report.format, meaning);
  return lost.empty() ? lost : std::string(io::title_of(report.format)) + " does not hold " + lost;
}

std::int64_t axes_of_space(const std::vector<io::Axis>& axes) {
  return std::count_if(axes.begin(), axes.end(), [](const io::Axis& axis) { return axis.kind == io::AxisKind::space; });
}

/// The axes for an array of another rank: named ones keep what the old one of the same name says; without names those
/// go that are not of space, the slowest first.
std::vector<io::Axis> axes_for(const std::vector<io::Axis>& old, std::size_t rank, const std::string& names) {
  std::vector<io::Axis> axes;
  for (char name : names) {
    const auto same = std::find_if(old.begin(), old.end(), [&](const io::Axis& axis) { return axis.name == name; });
    axes.push_back(same == old.end() ? io::axis_named(name) : *same);
  }
  if (!names.empty()) return axes;
  if (old.empty()) return std::vector<io::Axis>(rank);
  axes = old;
  while (axes.size() > rank) {
    const auto leaving =
        std::find_if(axes.begin(), axes.end(), [](const io::Axis& axis) { return axis.kind != io::AxisKind::space; });
    if (leaving == axes.end()) break;
    axes.erase(leaving);
  }
  if (axes.size() != rank)
    throw InvalidArgument("the image to be like has " + std::to_string(old.size()) + " axes, but the array has " +
                          std::to_string(rank) + "; say with axes which they are");
  return axes;
}

/// The same for an array of this rank.
/// @param names    a letter for each axis, or none
/// @param spacing  along all axes, 0: as it was; or none
io::Meaning changed(const io::Meaning& old, int rank, const std::string& names, const std::vector<double>& spacing,
                    const std::optional<std::string>& unit) {
  io::Meaning meaning = old;
  meaning.axes = axes_for(old.axes, static_cast<std::size_t>(rank), names);
  if (!old.axes.empty() && axes_of_space(meaning.axes) != axes_of_space(old.axes)) {  // they know other axes
    meaning.native.reset();
    meaning.place.reset();
  }
  meaning.no_data.clear();  // of the old elements
  meaning.palette.clear();
  for (std::size_t k = 0; k < meaning.axes.size(); ++k) {
    io::Axis& axis = meaning.axes[k];
    if (!spacing.empty() && spacing[k] > 0) axis.spacing = spacing[k];
    if (unit && axis.kind == io::AxisKind::space) axis.unit = *unit;
  }
  return meaning;
}

/// Along the axes of space; nothing if none is stated.
std::optional<std::vector<double>> spacing_of(const io::Meaning& meaning) {
  const std::vector<double> all = meaning.spacing();
  if (all.empty()) return std::nullopt;
  std::vector<double> spacing;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (meaning.axes[k].kind == io::AxisKind::space) spacing.push_back(all[k]);
  return spacing;
}

std::vector<std::string> channels_of(const io::Meaning& meaning) {
  for (const io::Axis& axis : meaning.axes)
    if (axis.kind == io::AxisKind::channel) return axis.labels;
  return {};
}

}  // namespace

void add_files(nb::module_& m) {
  using Vectors = std::vector<std::array<double, 3>>;
  nb::class_<io::Meaning>(m, "Meaning")
      .def(nb::init<>())
      .def("changed", &changed, nb::arg(), nb::arg(), nb::arg(), nb::arg().none())
      .def_prop_ro("axes", &io::Meaning::axis_names)
      .def_prop_ro("spacing", &spacing_of)
      .def_prop_ro("unit", &io::Meaning::unit)
      .def_prop_ro("channels", &channels_of)
      .def_prop_ro("origin",
                   [](const io::Meaning& meaning) {
                     return meaning.place ? std::optional(meaning.place->origin) : std::nullopt;
                   })
      .def_prop_ro("directions",
                   [](const io::Meaning& meaning) { return meaning.place ? meaning.place->directions : Vectors{}; })
      .def_ro("no_data", &io::Meaning::no_data)
      .def_ro("georeference", &io::Meaning::georeference);
  m.def("read", &read);
  m.def("write", &write);
}

}  // namespace fathom::python
