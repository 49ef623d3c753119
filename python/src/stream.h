// Rasters of tile graphs, and what computes them.
#pragma once

#include <nanobind/nanobind.h>

namespace fathom::python {

void add_stream(nanobind::module_& m);

}  // namespace fathom::python
