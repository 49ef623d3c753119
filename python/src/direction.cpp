#include "apps.h"
#include "fathom/apps/nearest_value.h"
#include "watch.h"

#ifdef FATHOM_PYTHON_CUDA
#include "cuda/device_array.h"
#endif

namespace nb = nanobind;

namespace fathom::python {

namespace {

/// @param options  with all that Common has, too
void direction(nb::handle x, int rank, const Common&, const grid::DistanceOptions& options, nb::handle out,
               nb::object progress) {
  const HostArray arrays[] = {{x, HostArray::Access::read}, {out, HostArray::Access::write}};
  const Images images(arrays, rank);
  grid::DistanceOptions own = options;
  own.batch_axes = images.batch_axes();
  run_watched(std::move(progress), own.execution,
              [&] { apps::nearest_values(images[0], own, {{}, {}, images[1]}); });
}

#ifdef FATHOM_PYTHON_CUDA
void direction_on_device(const DeviceArray& x, int rank, const Common&, const grid::DistanceOptions& options,
                         const DeviceArray& out, std::uintptr_t stream) {
  const DeviceImages<2> images({x.raw(), out.raw()}, rank);
  grid::DistanceOptions own = options;
  own.batch_axes = images.batch_axes();
  const nb::gil_scoped_release unlocked;
  apps::nearest_values(images[0], own, apps::DeviceNearestValueOutputs{{}, {}, images[1]}, stream_at(stream));
}
#endif

}  // namespace

void add_direction(nb::module_& m) {
  m.def("direction", &direction, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
#ifdef FATHOM_PYTHON_CUDA
  m.def("direction_on_device", &direction_on_device);
#endif
}

}  // namespace fathom::python
