#include "apps.h"
#include "fathom/apps/nearest_value.h"
#include "watch.h"

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

}  // namespace

void add_direction(nb::module_& m) {
  m.def("direction", &direction, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
}

}  // namespace fathom::python
