// Element types in DLPack's words.
#pragma once

#include <nanobind/ndarray.h>

#include "fathom/core/dtype.h"

namespace fathom::python {

nanobind::dlpack::dtype dlpack_of(DType dtype);

/// @throws InvalidArgument an element type that Fathom does not have
DType dtype_of(nanobind::dlpack::dtype given);

}  // namespace fathom::python
