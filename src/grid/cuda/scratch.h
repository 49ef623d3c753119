// Arrays cut from one block of device memory (core/cuda/scratch.h), under the room's name.
#pragma once

#include "core/cuda/scratch.h"

namespace fathom::grid::cuda {

using fathom::cuda::Scratch;

}  // namespace fathom::grid::cuda
