// Squared distances between small whole numbers as products of matrices, on tensor cores:
//
//   d² = |q|² + |s|² − 2q·s = (−2q, 2048, 1, hi, lo, 0) · (s, hi, lo, 2048, 1, 0),   where |v|² = 2048 hi + lo
//
// Coordinates within ±1024 of a middle make all factors whole numbers up to 2048, which float16 holds, also divided by
// 256. A query's are: so no sum is too large for the result, a float16, too. Two of these fill a word, and three words
// have their minima in one instruction. Squared distances below 2048 come out exact, others rounded. What is rounded on
// the way is not documented: a test on the device (products_are_exact) decides whether the way is taken.
#pragma once

#include <cuda_fp16.h>

#include "points/cuda/device_tree.h"
#include "points/cuda/lane_list.cuh"

namespace fathom::points::cuda {

inline constexpr float kProductReach = 1024;
inline constexpr float kProductUnit = 256;            ///< squared distances are divided by it
inline constexpr float kExactProducts = 2048;         ///< squared distances below are exact, …
inline constexpr double kProductError = 0x1p-10;      ///< … others off by less than this part of the smaller of both
inline constexpr unsigned kFarProducts = 0x7C007C00;  ///< infinite, twice

/// Factors k = 2w, 2w + 1 of a site or a query in word w.
struct Factors {
  uint4 words;

  __device__ static Factors of_site(float x, float y, float z) {
    const Square n(x, y, z);
    return {{pair(x, y), pair(z, n.high), pair(n.low, kBase), pair(1, 0)}};
  }
  __device__ static Factors of_query(float x, float y, float z) {
    const Square n(x, y, z);
    constexpr float kPart = 1 / kProductUnit;
    return {{pair(-2 * kPart * x, -2 * kPart * y), pair(-2 * kPart * z, kPart * kBase), pair(kPart, kPart * n.high),
             pair(kPart * n.low, 0)}};
  }
  /// Farther from every query than any site.
  __device__ static Factors of_nobody() { return {{0, pair(0, 60000), pair(0, kBase), pair(1, 0)}}; }

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
/// queries g and g + 8 and of site g; it gets the squared distances from queries g (0) and g + 8 (1) to sites 2t, in
/// the low half of the word, and 2t + 1.
__device__ inline void multiply(unsigned (&pair)[2], unsigned query, unsigned query_8, unsigned site) {
  asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1},{%2,%3},{%4},{%5,%5};"
      : "=r"(pair[0]), "=r"(pair[1])
      : "r"(query), "r"(query_8), "r"(site), "r"(0));
}

/// Of the factors of 32 queries or sites, in shared memory, those that multiply() takes: of rows 0, 8, 16 and 24, and
/// of those behind, word t of row g.
__device__ inline void load_words(const uint4* rows, unsigned* word) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(rows + lane_id())))
               : "memory");
}

/// Bits of the squared distance in a word's low half, in float32.
__device__ inline int product_bits(unsigned word) {
  return __float_as_int(__half2float(__ushort_as_half(static_cast<unsigned short>(word))) * kProductUnit);
}

/// The low halves of two words, and their high halves.
__device__ inline unsigned low_halves(unsigned first, unsigned second) { return __byte_perm(first, second, 0x5410); }
__device__ inline unsigned high_halves(unsigned first, unsigned second) { return __byte_perm(first, second, 0x7632); }

}  // namespace fathom::points::cuda
