#include "apps.h"

#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace fathom::python {

void add_apps(nb::module_& m) {
  nb::class_<Common>(m, "Common").def(nb::new_([](std::vector<double> spacing, int backend, int threads) {
    Common common;
    common.spacing = std::move(spacing);
    common.execution.backend = static_cast<Backend>(backend);
    common.execution.threads = threads;
    return common;
  }));
  add_direction(m);
  add_morphology(m);
  add_local_thickness(m);
  add_medial_axis(m);
}

}  // namespace fathom::python
