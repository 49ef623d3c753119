// Image files, for fathom.read and fathom.write.
#pragma once

#include <nanobind/nanobind.h>

namespace fathom::python {

void add_files(nanobind::module_& m);

}  // namespace fathom::python
