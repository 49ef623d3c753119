#include "fathom/apps/local_thickness.h"

#include "apps.h"
#include "watch.h"

#ifdef FATHOM_PYTHON_CUDA
#include "cuda/device_array.h"
#endif

namespace nb = nanobind;

namespace fathom::python {

namespace {

void local_thickness(nb::handle x, int rank, const Common& common, nb::handle out, nb::object progress) {
  const HostArray arrays[] = {{x, HostArray::Access::read}, {out, HostArray::Access::write}};
  const Images images(arrays, rank);
  apps::LocalThicknessOptions options;
  common.set(options, images);
  run_watched(std::move(progress), options.execution, [&] { apps::local_thickness(images[0], options, images[1]); });
}

void porosimetry(nb::handle x, int rank, const Common& common, nb::handle inlets, nb::handle out, nb::object progress) {
  const HostArray arrays[] = {
      {x, HostArray::Access::read}, {inlets, HostArray::Access::read}, {out, HostArray::Access::write}};
  const Images images(arrays, rank);
  apps::LocalThicknessOptions options;
  common.set(options, images);
  options.inlets = images[1];
  options.from_faces = !images[1].present();
  run_watched(std::move(progress), options.execution, [&] { apps::local_thickness(images[0], options, images[2]); });
}

#ifdef FATHOM_PYTHON_CUDA
void local_thickness_on_device(const DeviceArray& x, int rank, const Common& common, const DeviceArray& out,
                               std::uintptr_t stream) {
  const DeviceImages<2> images({x.raw(), out.raw()}, rank);
  apps::DeviceLocalThicknessOptions options;
  common.set(options, images);
  const nb::gil_scoped_release unlocked;
  apps::local_thickness(images[0], options, images[1], stream_at(stream));
}

void porosimetry_on_device(const DeviceArray& x, int rank, const Common& common, const DeviceArray* inlets,
                           const DeviceArray& out, std::uintptr_t stream) {
  const DeviceImages<3> images({x.raw(), raw(inlets), out.raw()}, rank);
  apps::DeviceLocalThicknessOptions options;
  common.set(options, images);
  options.inlets = images[1];
  options.from_faces = inlets == nullptr;
  const nb::gil_scoped_release unlocked;
  apps::local_thickness(images[0], options, images[2], stream_at(stream));
}
#endif

}  // namespace

void add_local_thickness(nb::module_& m) {
  m.def("local_thickness", &local_thickness, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("porosimetry", &porosimetry, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg().none());
#ifdef FATHOM_PYTHON_CUDA
  m.def("local_thickness_on_device", &local_thickness_on_device);
  m.def("porosimetry_on_device", &porosimetry_on_device, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(),
        nb::arg());
#endif
}

}  // namespace fathom::python
