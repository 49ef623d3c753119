// Squares of the distances along x of eight neighbours of a row, two in a word, without the distances: to the sites
// around them (l + x)² is l² + 2lx + x², of which the first two are a product and a sum for two neighbours at once; to
// those among them they come from a table.
//
// Cost: five operations for two neighbours, where squares of distances take nine.
#pragma once

#include "grid/cuda/volume/row_steps.cuh"

namespace fathom::grid::cuda::volume {

static __device__ const ByteTable<true, 0> kByteSquares;
static __device__ const ByteTable<true, 1> kByteSquaresBeyond;

/// The table of a mask's sites, or of ends of runs, which lie one element beyond, to shared memory. By all threads.
template <int kThreads>
__device__ void copy_byte_squares(uint2* of_byte, bool beyond) {
  static_assert(kThreads >= 256 || 256 % kThreads == 0);
  const uint2* from = beyond ? kByteSquaresBeyond.of : kByteSquares.of;
  const int t = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int i = 0; i < 256; i += kThreads)
    if (kThreads <= 256 || t < 256) of_byte[i + t] = from[i + t];
}

/// From the words' bits `first` … `first` + 7.
///
/// @tparam kCap  more steps to a site around them are taken to be as many: what is farther has a square of kCap² at
///               least, and none is more than most()
template <unsigned kCap>
struct RowSquares {
  unsigned pair[4];

  static_assert((kCap + 7) * (kCap + 7) < 1 << 16);  // from one side
  /// The middle ones' from the nearer side.
  static constexpr unsigned most() { return (kCap + 3) * (kCap + 3); }

  /// @param of_byte  copy_byte_squares()
  /// @param beyond   elements that sites lie behind the bits, as they do in the table
  __device__ RowSquares(uint2 word, int first, const uint2* of_byte, int beyond = 0) {
    const StepsOutside outside(word, first, beyond);
    const unsigned left = min(outside.left, kCap), right = min(outside.right, kCap);
    const unsigned left_squares = left * (left * 0x10001u), right_squares = right * (right * 0x10001u);
    const uint2 inside = of_byte[word.x >> first & 255];
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
      const unsigned bytes = k < 2 ? inside.x : inside.y, x = 2 * k;
      const unsigned own = k % 2 ? widen<0xB3A2>(bytes) : widen<0x9180>(bytes);
      pair[k] = __viaddmin_u16x2(left_squares + left * both(2 * x, 2 * (x + 1)), both(x * x, (x + 1) * (x + 1)), own);
      pair[k] = __viaddmin_u16x2(right_squares + right * both(2 * (7 - x), 2 * (6 - x)),
                                 both((7 - x) * (7 - x), (6 - x) * (6 - x)), pair[k]);
    }
  }

  /// Those that lie inside the array, as a row of pairs holds them: the others are 0, which keeps no search busy.
  __device__ uint4 within(const uint4& inside) const {
    return make_uint4(pair[0] & inside.x, pair[1] & inside.y, pair[2] & inside.z, pair[3] & inside.w);
  }

 private:
  static __device__ unsigned both(unsigned low, unsigned high) { return low | high << 16; }
};

/// Which of eight neighbours are among the first `columns`, as pairs of which all bits are set, or none.
__device__ inline uint4 pairs_inside(int columns) {
  const auto pair = [columns](int k) { return columns > 2 * k + 1 ? 0xFFFFFFFFu : columns > 2 * k ? 0xFFFFu : 0u; };
  return make_uint4(pair(0), pair(1), pair(2), pair(3));
}

}  // namespace fathom::grid::cuda::volume
