// Costmaps and textures of signed distance for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace fathom::python {

void add_fields(nanobind::module_& m);

}  // namespace fathom::python
