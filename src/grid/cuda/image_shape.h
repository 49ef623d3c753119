// The shape of an image, as two engines ask for it (plain_2d.cu, plain_shallow.cu): a line is an image of one row.
#pragma once

#include <cstdint>

#include "grid/cuda/engine.h"

namespace fathom::grid::cuda {

inline std::int64_t height_of(const Problem& p) { return p.rank == 1 ? 1 : p.extent(0); }
inline std::int64_t width_of(const Problem& p) { return p.extent(p.rank - 1); }

}  // namespace fathom::grid::cuda
