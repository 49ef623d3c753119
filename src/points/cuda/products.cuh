// Squared distances between small whole numbers as products of matrices, on tensor cores:
//
//   d² = |q|² + |s|² − 2q·s = (−2q, 2048, 1, hi, lo, 0) · (s, hi, lo, 2048, 1, 0),   where |v|² = 2048 hi + lo
//
// Coordinates within ±1024 of a middle make all factors whole numbers up to 2048, which float16 holds, all products
// whole and all their sums below 2²⁴, which the accumulator's float32 holds. What it rounds on the way is not
// documented: a test on the device (products_are_exact) decides whether the way is taken.
#pragma once

#include <cuda_fp16.h>

#include "points/cuda/device_tree.h"
#include "points/cuda/lane_list.cuh"

namespace fathom::points::cuda {

inline constexpr float kProductReach = 1024;

/// Factors k = 2w, 2w + 1 of a site or a query in word w.
struct Factors {
  unsigned words[4];

  __device__ static Factors of_site(float x, float y, float z) {
    const Square n(x, y, z);
    return {pair(x, y), pair(z, n.high), pair(n.low, kBase), pair(1, 0)};
  }
  __device__ static Factors of_query(float x, float y, float z) {
    const Square n(x, y, z);
    return {pair(-2 * x, -2 * y), pair(-2 * z, kBase), pair(1, n.high), pair(n.low, 0)};
  }
  /// Farther from every query than any site.
  __device__ static Factors of_nobody() { return {0, pair(0, 60000), pair(0, kBase), pair(1, 0)}; }

 private:
  static constexpr float kBase = 2048;

  struct Square {
    float high, low;
    __device__ Square(float x, float y, float z) {
      const float n = x * x + y * y + z * z;
      high = floorf(n * (1 / kBase));
      low = n - kBase * high;
    }
  };

  __device__ static unsigned pair(float first, float second) {
    const __half2 both = __floats2half2_rn(first, second);
    unsigned word;
    memcpy(&word, &both, sizeof word);
    return word;
  }
};

/// Adds nothing to the product of 16 queries and 8 sites. With g = lane / 4 and t = lane % 4 a lane gives word t of
/// queries g and g + 8 and of site g; it gets the bits of the squared distances from queries g (0, 1) and g + 8 (2, 3)
/// to sites 2t and 2t + 1.
__device__ inline void multiply(int (&bits)[4], unsigned query, unsigned query_8, unsigned site) {
  float d[4];
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5},{%6},{%7,%7,%7,%7};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(query), "r"(query_8), "r"(site), "f"(0.f));
  for (int i = 0; i < 4; ++i) bits[i] = __float_as_int(d[i]);
}

}  // namespace fathom::points::cuda
