// Triangle meshes that answer, and the bands of their fields.
#pragma once

#include <nanobind/nanobind.h>

namespace fathom::python {

void add_mesh(nanobind::module_& m);

}  // namespace fathom::python
