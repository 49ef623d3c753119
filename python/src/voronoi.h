// Voronoi regions, Lloyd's iteration and stippling for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace fathom::python {

void add_voronoi(nanobind::module_& m);

}  // namespace fathom::python
