#include "fathom/apps/local_thickness.h"

#include "apps.h"
#include "watch.h"

namespace nb = nanobind;

namespace fathom::python {

namespace {

void local_thickness(nb::handle x, int rank, const Common& common, nb::handle inlets, nb::handle out,
                     nb::object progress) {
  const HostArray arrays[] = {
      {x, HostArray::Access::read}, {inlets, HostArray::Access::read}, {out, HostArray::Access::write}};
  const Images images(arrays, rank);
  apps::LocalThicknessOptions options;
  common.set(options, images);
  options.inlets = images[1];
  run_watched(std::move(progress), options.execution, [&] { apps::local_thickness(images[0], options, images[2]); });
}

}  // namespace

void add_local_thickness(nb::module_& m) {
  m.def("local_thickness", &local_thickness, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(),
        nb::arg().none());
}

}  // namespace fathom::python
