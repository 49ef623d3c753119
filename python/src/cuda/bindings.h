// What the extension has for arrays on CUDA devices.
#pragma once

#include <nanobind/nanobind.h>

namespace fathom::python {

void add_cuda(nanobind::module_& m);

}  // namespace fathom::python
