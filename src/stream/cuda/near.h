// Distance within a bound of few pixels, from a mask in a device's memory.
#pragma once

#include "stream/cuda/pixels.h"

namespace fathom::stream::cuda {

struct NearDistance {
  static constexpr int kMostReach = 172;  ///< the square of seven more is below 2¹⁵

  int reach = 0;            ///< pixels
  std::uint32_t limit = 0;  ///< largest square that is within the bound
  double unit = 1;
  bool to_zero = false;
};

/// Whether blocks of the current device hold what is within reach of them.
bool fits_block(int reach);
std::size_t near_scratch_bytes(Size part, int reach);
/// @param mask  what the part needs of it; beyond it there is no site
/// @param scratch  near_scratch_bytes(), aligned to 4
void find_near(const Patch& mask, NearDistance how, std::byte* scratch, const Patch& to, cudaStream_t stream);

}  // namespace fathom::stream::cuda
