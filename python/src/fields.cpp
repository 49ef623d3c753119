#include "fields.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/variant.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "apps.h"
#include "fathom/apps/costmap.h"
#include "fathom/apps/sdf.h"
#include "watch.h"

#ifdef FATHOM_PYTHON_CUDA
#include "cuda/device_array.h"
#endif

namespace nb = nanobind;

namespace fathom::python {

namespace {

using enum HostArray::Access;

/// The number of a rule, and what it compares with; integers of up to 64 bits whole.
using Rule = std::pair<int, std::variant<std::int64_t, std::uint64_t, double>>;

grid::Sites sites_of(const Rule& rule) {
  return {static_cast<grid::Sites::Rule>(rule.first),
          std::visit([](auto number) { return grid::Sites::Value(number); }, rule.second)};
}

/// @param unknown  a rule, or None
apps::CostmapOptions costmap_options(const Common& common, int batch_axes, const Rule& occupied, nb::handle unknown,
                                     double resolution, double inscribed, double inflation, double scaling) {
  apps::CostmapOptions options;
  options.occupied = sites_of(occupied);
  if (!unknown.is_none()) options.unknown = sites_of(nb::cast<Rule>(unknown));
  options.resolution = resolution;
  options.inscribed = inscribed;
  options.inflation = inflation;
  options.scaling = scaling;
  options.batch_axes = batch_axes;
  options.execution = common.execution;
  return options;
}

void costmap(nb::handle x, int rank, const Common& common, const Rule& occupied, nb::handle unknown, double resolution,
             double inscribed, double inflation, double scaling, nb::handle cost, nb::handle nearest,
             nb::object progress) {
  const HostArray arrays[] = {{x, read}, {cost, write}, {nearest, write}};
  const Images images(arrays, rank);
  auto options =
      costmap_options(common, images.batch_axes(), occupied, unknown, resolution, inscribed, inflation, scaling);
  run_watched(std::move(progress), options.execution, [&] {
    apps::costmap(images[0], options, {images[1], images[2]});
  });
}

#ifdef FATHOM_PYTHON_CUDA
void costmap_on_device(const DeviceArray& x, int rank, const Common& common, const Rule& occupied, nb::handle unknown,
                       double resolution, double inscribed, double inflation, double scaling, const DeviceArray* cost,
                       const DeviceArray* nearest, std::uintptr_t stream) {
  const DeviceImages<3> images({x.raw(), raw(cost), raw(nearest)}, rank);
  const auto options =
      costmap_options(common, images.batch_axes(), occupied, unknown, resolution, inscribed, inflation, scaling);
  const nb::gil_scoped_release unlocked;
  apps::costmap(images[0], options, apps::DeviceCostmapOutputs{images[1], images[2]}, stream_at(stream));
}
#endif

apps::SdfOptions options_of(const Common& common, int batch_axes, double range, double pad, bool invert) {
  apps::SdfOptions options;
  options.range = range;
  options.pad = pad;
  options.invert = invert;
  options.batch_axes = batch_axes;
  options.execution = common.execution;
  return options;
}

void sdf(nb::handle x, int rank, const Common& common, double range, double pad, bool invert, nb::handle texture,
         nb::object progress) {
  const HostArray arrays[] = {{x, read}, {texture, write}};
  const Images images(arrays, rank);
  apps::SdfOptions options = options_of(common, images.batch_axes(), range, pad, invert);
  run_watched(std::move(progress), options.execution, [&] { apps::sdf(images[0], options, images[1]); });
}

#ifdef FATHOM_PYTHON_CUDA
void sdf_on_device(const DeviceArray& x, int rank, const Common& common, double range, double pad, bool invert,
                   const DeviceArray& texture, std::uintptr_t stream) {
  const DeviceImages<2> images({x.raw(), texture.raw()}, rank);
  const apps::SdfOptions options = options_of(common, images.batch_axes(), range, pad, invert);
  const nb::gil_scoped_release unlocked;
  apps::sdf(images[0], options, images[1], stream_at(stream));
}
#endif

}  // namespace

void add_fields(nb::module_& m) {
  m.def("costmap", &costmap, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none());
  m.def("sdf", &sdf, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
#ifdef FATHOM_PYTHON_CUDA
  m.def("costmap_on_device", &costmap_on_device, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg());
  m.def("sdf_on_device", &sdf_on_device);
#endif
}

}  // namespace fathom::python
