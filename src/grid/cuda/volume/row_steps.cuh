// From the words of a row to the steps along x: of an element, or of eight neighbours, to the nearest site, the other
// side of a signed field, or the next label; or to their squares.
//
// Cost: some ten operations for an element by itself, four for one of eight, five for two squares of these.
#pragma once

#include "grid/cuda/volume/volume.cuh"

namespace fathom::grid::cuda::volume {

/// Steps from a bit of a row's word to the nearest site in the row, the left one of two.
/// @tparam kBeyond  of changes along a row instead, to the nearest element beyond the bit's run; carries have it in them
template <int kBeyond = 0>
__device__ int steps_along_x(uint2 word, int bit) {
  const unsigned up = word.x & (0xFFFFFFFFu >> (31 - bit)), down = word.x >> bit >> kBeyond;
  const int left = up ? bit - 31 + kBeyond + __clz(static_cast<int>(up)) : bit + static_cast<int>(word.y & 0xFFFFu);
  const int right = down ? __ffs(static_cast<int>(down)) - 1 + kBeyond : 31 - bit + static_cast<int>(word.y >> 16);
  return left <= right ? -left : right;
}
__device__ inline int steps_beyond_run(uint2 changes, int bit) { return steps_along_x<1>(changes, bit); }

/// Of the distance along x from the column of a word that is this lane's.
__device__ inline unsigned square_along_x(uint2 word) {
  const int steps = steps_along_x(word, lane_id());
  return static_cast<unsigned>(steps * steps);
}

/// Of each byte of sites, the steps from its bits to the nearest, or the squares of these; 255: there is none.
/// @tparam kBeyond  elements that sites lie behind the bits
/// @tparam kSided   steps are doubled, and one more to the right: of two that are as near the left one is less
template <bool kSquared, unsigned kBeyond, bool kSided = false>
struct ByteTable {
  uint2 of[256];

  constexpr ByteTable() : of() {
    for (unsigned byte = 0; byte < 256; ++byte)
      for (int x = 0; x < 8; ++x) {
        unsigned least = 255;
        for (int k = 0; k < 8; ++k) {
          const unsigned way = static_cast<unsigned>(k < x ? x - k : k - x) + kBeyond;
          const unsigned steps = kSided ? 2 * way + (k > x ? 1 : 0) : way;
          if ((byte >> k & 1) != 0 && steps < least) least = steps;
        }
        (x < 4 ? of[byte].x : of[byte].y) |= (kSquared && least < 255 ? least * least : least) << (x % 4 * 8);
      }
  }
};
using ByteDistances = ByteTable<false, 0>;
// In global memory: lanes read different entries, which constant memory would hand out one by one.
static __device__ const ByteDistances kByteDistances;
static __device__ const ByteTable<false, 1> kByteDistancesBeyond;  // of ends of runs, which lie one element beyond
static __device__ const ByteTable<true, 0> kByteSquares;
static __device__ const ByteTable<true, 1> kByteSquaresBeyond;

/// A table to shared memory. By all threads.
template <int kThreads>
__device__ void copy_byte_table(uint2* of_byte, const uint2* from) {
  for (int i = thread(); i < 256; i += kThreads) of_byte[i] = from[i];
}

/// Bytes 0 and 1, or 2 and 3, as 16-bit numbers with their sign: 255 becomes 65535.
template <unsigned kSelector>
__device__ unsigned widen(unsigned bytes) {
  unsigned result;
  asm("prmt.b32 %0,%1,0,%2;" : "=r"(result) : "r"(bytes), "n"(kSelector));
  return result;
}

/// Steps from the ends of a word's bits `first` … `first` + 7 to the nearest sites outside them. Sites lie `beyond`
/// elements behind the bits, as they do behind the carries.
struct StepsOutside {
  unsigned left, right;

  __device__ StepsOutside(uint2 word, int first, int beyond = 0) {
    const unsigned before = word.x & ((1u << first) - 1), behind = (word.x >> first) >> 8;
    left = before ? static_cast<unsigned>(first + beyond - 31 + __clz(static_cast<int>(before)))
                  : static_cast<unsigned>(first) + (word.y & 0xFFFFu);
    right = behind ? static_cast<unsigned>(__ffs(static_cast<int>(behind)) + beyond)
                   : static_cast<unsigned>(24 - first) + (word.y >> 16);
  }
};

/// Distances along x of eight neighbours, two in a word, from the words' bits `first` … `first` + 7; or their squares,
/// without the distances: to the sites around them (l + x)² is l² + 2lx + x², of which the first two are a product and a
/// sum for two neighbours at once; to those among them they come from a table.
///
/// @tparam kCap  of squares: more steps to a site around them are taken to be as many: what is farther has a square of
///               kCap² at least, and none is more than most(). 0: distances
/// @tparam kSided  distances are doubled, and one more to the right, as in the table
template <unsigned kCap, bool kSided = false>
struct EightOfRow {
  unsigned pair[4];

  static_assert((kCap + 7) * (kCap + 7) < 1 << 16 && 2 * (kNoneInWord + 32 + 8) < 1 << 16);  // from one side
  /// The middle ones' from the nearer side.
  static constexpr unsigned most() { return (kCap + 3) * (kCap + 3); }

  /// @param of_byte  the table
  /// @param beyond   elements that sites lie behind the bits, as they do in the table
  __device__ EightOfRow(uint2 word, int first, const uint2* of_byte, int beyond = 0) {
    const StepsOutside outside(word, first, beyond);
    constexpr unsigned kStep = kSided ? 2 : 1;
    const unsigned left = outside.left * kStep, right = outside.right * kStep + (kSided ? 1 : 0);
    const uint2 inside = of_byte[word.x >> first & 255];
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
      const unsigned bytes = k < 2 ? inside.x : inside.y, x = 2 * k;
      pair[k] = k % 2 ? widen<0xB3A2>(bytes) : widen<0x9180>(bytes);
      pair[k] = nearer(left, kStep * x, kStep * (x + 1), pair[k]);
      pair[k] = nearer(right, kStep * (7 - x), kStep * (6 - x), pair[k]);
    }
  }

  /// With those of a signed field's other side: an element is a site to one of the two, whose distance is 0.
  __device__ void add(const EightOfRow& others) {
#pragma unroll
    for (int k = 0; k < 4; ++k) pair[k] += others.pair[k];
  }
  /// Those that lie inside the array, as a row of pairs holds them: the others are 0, which keeps no search busy.
  __device__ uint4 within(const uint4& inside) const {
    return make_uint4(pair[0] & inside.x, pair[1] & inside.y, pair[2] & inside.z, pair[3] & inside.w);
  }

 private:
  /// What is found for two neighbours, or what so many steps and those from the neighbours make, where that is less.
  static __device__ unsigned nearer(unsigned steps, unsigned low, unsigned high, unsigned found) {
    if constexpr (kCap == 0) return __viaddmin_u16x2(steps * 0x10001u, low | high << 16, found);
    const unsigned capped = min(steps, kCap), square = capped * (capped * 0x10001u);
    return __viaddmin_u16x2(square + capped * (2 * low | 2 * high << 16), low * low | high * high << 16, found);
  }
};
using EightDistances = EightOfRow<0>;

/// Which of eight neighbours are among the first `columns`, as pairs of which all bits are set, or none.
__device__ inline uint4 pairs_inside(int columns) {
  const auto pair = [columns](int k) { return columns > 2 * k + 1 ? 0xFFFFFFFFu : columns > 2 * k ? 0xFFFFu : 0u; };
  return make_uint4(pair(0), pair(1), pair(2), pair(3));
}

}  // namespace fathom::grid::cuda::volume
