// From arrays of Python to views.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <optional>

#include "stack.h"

namespace fathom::python {

using Input = nanobind::ndarray<nanobind::ro, nanobind::device::cpu>;
using Output = std::optional<nanobind::ndarray<nanobind::device::cpu>>;

/// @param image_rank  how many trailing axes an image has, 0 to the array's rank
/// @throws InvalidArgument an element type that Fathom does not have
Stack<AnyConstView> images_of(const Input& array, std::size_t image_rank);

/// None becomes a stack that is not given. The arrays' rows must be contiguous.
Stack<AnyView> images_of(const Output& array, std::size_t image_rank);

}  // namespace fathom::python
