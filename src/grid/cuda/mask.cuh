// The mask that the engines for planes and volumes read.
#pragma once

#include "grid/cuda/layout.cuh"
#include "grid/element.hd.h"

namespace fathom::grid::cuda {

struct Mask {
  Input input;
  ElementRule rule;
  bool flip = false;  ///< where bytes are read as zero or not: zero elements are the sites
};

}  // namespace fathom::grid::cuda
