// From the words of a row to the steps along x: of an element, of a column in many rows, or of eight neighbours, to the
// nearest site, the other side of a signed field, or the next label.
//
// Cost: some ten operations for an element by itself, four for one of eight.
#pragma once

#include "grid/cuda/volume/volume.cuh"

namespace fathom::grid::cuda::volume {

/// Steps from a bit of a row's word to the nearest site in the row, the left one of two.
__device__ inline int steps_along_x(uint2 word, int bit) {
  const unsigned up = word.x & (0xFFFFFFFFu >> (31 - bit)), down = word.x >> bit;
  const int left = up ? bit - 31 + __clz(static_cast<int>(up)) : bit + static_cast<int>(word.y & 0xFFFFu);
  const int right = down ? __ffs(static_cast<int>(down)) - 1 : 31 - bit + static_cast<int>(word.y >> 16);
  return left <= right ? -left : right;
}

/// Of the distance along x from the column of a word that is this lane's.
__device__ inline unsigned square_along_x(uint2 word) {
  const int steps = steps_along_x(word, lane_id());
  return static_cast<unsigned>(steps * steps);
}

/// The nearest sites in rows of words, from a column of these.
class ColumnOfWords {
 public:
  __device__ explicit ColumnOfWords(int bit)
      : bit_(bit), before_(kept(0xFFFFFFFFu >> (31 - bit))), behind_(kept(0xFFFFFFFFu << bit)) {}

  /// Steps to it, the left one of two.
  __device__ int nearest(uint2 word) const {
    const unsigned before = word.x & before_, behind = word.x & behind_;
    const int last = before ? 31 - __clz(static_cast<int>(before)) : -static_cast<int>(word.y & 0xFFFFu);
    const int next = behind ? __ffs(static_cast<int>(behind)) - 1 : 31 + static_cast<int>(word.y >> 16);
    const int left = bit_ - last, right = next - bit_;
    return right < left ? right : -left;
  }

 private:
  const int bit_;
  const unsigned before_, behind_;  ///< which bits lie there, both with its own
};

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

/// Distances along x of 8 neighbours, two in a word, from the words' bits `first` … `first` + 7. Sites lie `beyond`
/// elements behind the bits, which carries and table have in them.
struct EightDistances {
  unsigned pair[4];

  __device__ EightDistances(uint2 word, int first, const uint2* of_byte, int beyond = 0) {
    const StepsOutside outside(word, first, beyond);
    const uint2 inside = of_byte[word.x >> first & 255];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const unsigned bytes = k < 2 ? inside.x : inside.y;
      const unsigned own = k % 2 ? widen<0xB3A2>(bytes) : widen<0x9180>(bytes);
      const unsigned from_left = static_cast<unsigned>(2 * k) | static_cast<unsigned>(2 * k + 1) << 16;
      const unsigned from_right = static_cast<unsigned>(7 - 2 * k) | static_cast<unsigned>(6 - 2 * k) << 16;
      pair[k] = __viaddmin_u16x2(outside.left * 0x10001u, from_left, own);
      pair[k] = __viaddmin_u16x2(outside.right * 0x10001u, from_right, pair[k]);
    }
  }
};

/// The same to the other side of a signed field: an element is a site to one of the two, whose distance is 0.
__device__ inline EightDistances distances_to_other_side(uint2 word, uint2 other_word, int first,
                                                         const uint2* of_byte) {
  EightDistances distances(word, first, of_byte);
  const EightDistances others(other_word, first, of_byte);
#pragma unroll
  for (int k = 0; k < 4; ++k) distances.pair[k] += others.pair[k];
  return distances;
}

/// The table of a mask's sites, or of ends of runs, which lie one element beyond.
__device__ inline uint2 byte_distances(int byte, bool beyond) {
  uint2 distances = kByteDistances.of[byte];
  if (beyond && byte != 0) distances.x += 0x01010101u, distances.y += 0x01010101u;
  return distances;
}

/// Steps from a bit of changes along a row, with carries, to the nearest element beyond its run, the left one of two.
__device__ inline int steps_beyond_run(uint2 changes, int bit) {
  const unsigned up = changes.x & (0xFFFFFFFFu >> (31 - bit)), down = changes.x >> bit >> 1;
  const int left = up ? bit - 30 + __clz(static_cast<int>(up)) : bit + static_cast<int>(changes.y & 0xFFFFu);
  const int right = down ? __ffs(static_cast<int>(down)) : 31 - bit + static_cast<int>(changes.y >> 16);
  return left <= right ? -left : right;
}

}  // namespace fathom::grid::cuda::volume
