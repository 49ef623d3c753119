// Roots of integers, faster than the compiler's and rounded as correctly.
#pragma once

#include <cstdint>

namespace fathom::grid::cuda {

/// √d2 for integers below 2²⁴, correctly rounded: the estimate and one step of Newton's in fused arithmetic.
__device__ inline float small_root(float d2) {
  float inverse;
  asm("rsqrt.approx.f32 %0,%1;" : "=f"(inverse) : "f"(d2 + 1e-30f));
  const float root = d2 * inverse;
  return fmaf(fmaf(-root, root, d2), 0.5f * inverse, root);
}

/// √d2, correctly rounded. Above 2²⁴ an integer is no float, and must go through double.
__device__ inline float root_of(std::uint32_t d2) {
  if (d2 < 1u << 24) return small_root(static_cast<float>(d2));
  return static_cast<float>(sqrt(static_cast<double>(d2)));
}

}  // namespace fathom::grid::cuda
