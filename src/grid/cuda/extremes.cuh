// The least and the greatest of a few values.
#pragma once

#include <cstdint>

namespace fathom::grid::cuda {

/// Of eight, three at a time, as one instruction takes them.
template <class Eight>
__device__ unsigned least_of_eight(const Eight& eight) {
  const unsigned a = __vimin3_u32(eight[0], eight[1], eight[2]), b = __vimin3_u32(eight[3], eight[4], eight[5]);
  return __vimin3_u32(a, b, min(eight[6], eight[7]));
}
/// Of eight, and another.
__device__ inline unsigned greatest_of_eight(const unsigned* eight, unsigned other = 0) {
  const unsigned a = __vimax3_u32(eight[0], eight[1], eight[2]), b = __vimax3_u32(eight[3], eight[4], eight[5]);
  return __vimax3_u32(a, b, __vimax3_u32(eight[6], eight[7], other));
}

}  // namespace fathom::grid::cuda
