// The library's distance transform on stacks of images, and values fetched from nearest sites.
#pragma once

#include <nanobind/nanobind.h>

namespace fathom::python {

void add_transform(nanobind::module_& m);

}  // namespace fathom::python
