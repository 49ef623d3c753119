// First the mask becomes bits. Then a block takes a tile of 128 × 64 pixels:
//   1. the words within reach of it go to shared memory; a tile without a site is done;
//   2. a thread takes a word: from the last site before it and the first one behind it, it goes through the pixels
//      forwards and backwards, for squares of distances along the row, two of 16 bits in a word;
//   3. a thread takes two columns of eight rows: every row within reach is read once, and the square of the distance to
//      each of the eight is added, one instruction for two pixels (DPX; compute capability 9.0 and later have it).
// Roots of small squares come from a table.
// Source: exact separable transforms (Hirata 1996). Departs in that the minimum along the columns is taken over all
// that is within reach, which for few pixels is less than an envelope takes.
// Cost: 2 · reach + 1 instructions for two pixels.
#include <cmath>
#include <cstring>

#include "core/cuda/runtime.h"
#include "core/cuda/warp.cuh"
#include "core/root.hd.h"
#include "stream/cuda/near.h"

namespace fathom::stream::cuda {

namespace {

using fathom::cuda::check_launch;
using fathom::cuda::kAllLanes;

constexpr int kWide = 128, kHigh = 64, kWords = kWide / 32, kPairs = kWide / 2, kRows = 8;
constexpr int kBlock = kPairs * kHigh / kRows, kPacked = 256;
constexpr int kPitch = kPairs + 1;  ///< words from a row to the next one: other banks of the shared memory
constexpr unsigned kNone =
    181u << 16 | 181;           ///< steps that are beyond reach: with what is added their square has 16 bits
constexpr unsigned kFar = 255;  ///< no site within reach
constexpr std::uint32_t kMostTabled = 1022;  ///< squares
constexpr int kMostWords = 16;               ///< of a row of a tile with what is beside it

/// What the kernels take for reach: whole steps of their loops.
int rounded(int reach) { return (reach + kRows / 2 - 1) / (kRows / 2) * (kRows / 2); }

/// Words of the mask, and rows of them, for whole tiles and what is within reach.
struct Bits {
  int beside;  ///< words on each side of a tile
  std::int64_t words, rows;
  int reach;

  Bits(Size part, int reach) : beside((reach + 31) / 32), reach(reach) {
    words = (part.width + kWide - 1) / kWide * kWords + 2 * beside;
    rows = (part.height + kHigh - 1) / kHigh * kHigh + 2 * reach;
  }
};

/// The bits of 32 pixels, of which the address is a multiple of 16.
template <class T>
__device__ unsigned word_of(const T* pixels, bool to_zero) {
  constexpr int kAtOnce = 16 / sizeof(T);
  unsigned word = 0;
#pragma unroll
  for (int k = 0; k < 32; k += kAtOnce) {
    const uint4 some = __ldcs(reinterpret_cast<const uint4*>(pixels + k));
    T values[kAtOnce];
    memcpy(values, &some, sizeof(values));
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) word |= unsigned{(values[i] == 0) == to_zero} << (k + i);
  }
  return word;
}

/// 32 words of a row a warp, a lane writes one. Where they are whole it looks at the pixels of its own, else at a pixel
/// of each.
template <class T>
__global__ void __launch_bounds__(kPacked)
    pack_sites(const __grid_constant__ Patch mask, const __grid_constant__ Bits bits, std::int64_t y0, std::int64_t x0,
               bool to_zero, unsigned* out) {
  const auto across = static_cast<unsigned>((bits.words + 31) / 32), lane = threadIdx.x % 32,
             warp = (blockIdx.x * kPacked + threadIdx.x) / 32;
  const std::int64_t row = warp / across, first = std::int64_t{warp % across} * 32, y = y0 + row;
  if (row >= bits.rows) return;
  const Rectangle& part = mask.part;
  const auto width = static_cast<unsigned>(y >= part.y0 && y < part.y1 ? part.x1 - part.x0 : 0);
  const T* const pixels = reinterpret_cast<const T*>(mask.data) + (y - part.y0) * mask.pitch;
  auto x = static_cast<int>(x0 + first * 32 - part.x0 + lane);  // below 0 it is beyond the width, too
  unsigned own = 0;
  const auto left = static_cast<int>(x - lane);  // the first pixel
  if (left >= 0 && left + 1024 <= static_cast<int>(width) &&
      reinterpret_cast<std::uintptr_t>(pixels + left) % 16 == 0) {
    own = word_of(pixels + left + 32 * lane, to_zero);
  } else {
#pragma unroll 8
    for (unsigned word = 0; word < 32; ++word, x += 32) {
      const bool is_inside = static_cast<unsigned>(x) < width;
      const unsigned sites = __ballot_sync(kAllLanes, is_inside && (pixels[x] == 0) == to_zero);
      if (word == lane) own = sites;
    }
  }
  if (first + lane < bits.words) out[row * bits.words + first + lane] = own;
}

/// Shared memory of a block.
struct Tile {
  uint2* of_two;              ///< kOfTwo
  unsigned *squares, *sites;  ///< [rows, kPitch], [rows, words]
  float* roots;               ///< of the squares up to the limit, and infinity; null: there is no table
  int rows, words, beside;

  __device__ Tile(unsigned* memory, const NearDistance& how)
      : of_two(reinterpret_cast<uint2*>(memory)),
        squares(memory + 8),
        rows(kHigh + 2 * how.reach),
        beside((how.reach + 31) / 32) {
    words = kWords + 2 * beside;
    sites = squares + rows * kPitch;
    roots = how.limit <= kMostTabled ? reinterpret_cast<float*>(sites + rows * words) : nullptr;
  }
  static std::size_t bytes(int reach) {
    const std::size_t rows = kHigh + 2 * static_cast<std::size_t>(reach),
                      beside = static_cast<std::size_t>(reach + 31) / 32;
    return (8 + rows * (kPitch + kWords + 2 * beside) + kMostTabled + 2) * sizeof(unsigned);
  }
};

/// The steps to the last site at or before each of two pixels, where it is one of them, by the bits of the mask; then
/// those to the first one at or behind them.
__device__ constexpr uint2 kOfTwo[4] = {
    {kFar << 16 | kFar, kFar << 16 | kFar}, {1 << 16, kFar << 16}, {kFar, 1}, {0, 0}};

/// Of a word's pixels, two at a time.
__device__ void find_along_row(const Tile& tile, int row, int word) {
  const unsigned* const at = tile.sites + row * tile.words + tile.beside + word;
  unsigned before = kFar, behind = kFar;  // from the first pixel to the last site before it, from the last one likewise
  for (int k = 1; k <= tile.beside && before == kFar; ++k)
    if (at[-k] != 0) before = 32 * (k - 1) + 1 + __clz(static_cast<int>(at[-k]));
  for (int k = 1; k <= tile.beside && behind == kFar; ++k)
    if (at[k] != 0) behind = 32 * (k - 1) + __ffs(static_cast<int>(at[k]));
  const unsigned sites = *at;
  unsigned left[16], steps = before * 0x10001u + 0x10000u;  // as if neither were a site
#pragma unroll
  for (int pair = 0; pair < 16; ++pair) {
    left[pair] = __vminu2(steps, tile.of_two[sites >> 2 * pair & 3].x);
    steps = __byte_perm(left[pair], 0, 0x3232) + 0x20001u;
  }
  unsigned* const out = tile.squares + row * kPitch + word * 16;
  steps = behind * 0x10001u + 1;
#pragma unroll
  for (int pair = 15; pair >= 0; --pair) {
    const unsigned right = __vminu2(steps, tile.of_two[sites >> 2 * pair & 3].y);
    steps = __byte_perm(right, 0, 0x1010) + 0x10002u;
    const unsigned nearest = __vminu2(__vminu2(left[pair], right), kNone), low = nearest & 0xffffu,
                   high = nearest >> 16;
    out[pair] = (high * high) * 0x10000u + low * low;
  }
}

/// A square for both pixels.
__device__ unsigned twice(int number) { return static_cast<unsigned>(number) * 0x10001u; }

/// Squares of two columns and eight rows. @param top  first row of the tile that is within reach of them
__device__ void find_least(const Tile& tile, int reach, int top, int pair, unsigned (&least)[kRows]) {
  unsigned added[kRows];  // squares of the steps from the row to the eight
#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    least[k] = ~0u;
    added[k] = twice((reach + k) * (reach + k));
  }
  unsigned more = twice(1 - 2 * reach);  // from one square to the next
  const unsigned* row = tile.squares + top * kPitch + pair;
  for (int some = 2 * reach / kRows; some >= 0; --some) {
#pragma unroll
    for (int step = 0; step < kRows; ++step, row += kPitch) {
      const unsigned squares = *row;
#pragma unroll
      for (int k = 0; k < kRows; ++k) least[k] = __viaddmin_u16x2(squares, added[k], least[k]);
      const unsigned next = added[0] + more;
#pragma unroll
      for (int k = kRows - 1; k > 0; --k) added[k] = added[k - 1];
      added[0] = next;
      more += twice(2);
    }
  }
}

struct Distances {
  Patch to;
  NearDistance how;

  __device__ __noinline__ float root(std::uint32_t square) const {
    if (square > how.limit) return INFINITY;
    if (how.unit == 1) return sqrtf(static_cast<float>(square));  // rounded correctly, of what float has exactly
    return distance_from_squared<float>(square, how.unit);
  }
  __device__ float of(const Tile& tile, std::uint32_t square) const {
    return tile.roots ? tile.roots[min(square, how.limit + 1)] : root(square);
  }
  /// Two columns of eight rows. @param y, x  of the first pixel, counted from the part's corner
  __device__ void put(const Tile& tile, std::int64_t y, std::int64_t x, const unsigned (&squares)[kRows]) const {
    const std::int64_t wide = to.part.x1 - to.part.x0 - x, high = to.part.y1 - to.part.y0 - y;
    if (wide <= 0) return;
    float* at = reinterpret_cast<float*>(to.data) + y * to.pitch + x;
    const bool by_two = wide > 1 && reinterpret_cast<std::uintptr_t>(at) % 8 == 0 && to.pitch % 2 == 0;
#pragma unroll
    for (int k = 0; k < kRows; ++k, at += to.pitch) {
      if (k >= high) return;
      const float first = of(tile, squares[k] & 0xffffu), second = of(tile, squares[k] >> 16);
      if (by_two) {
        __stcs(reinterpret_cast<float2*>(at), make_float2(first, second));
      } else {
        at[0] = first;
        if (wide > 1) at[1] = second;
      }
    }
  }
};

__global__ void __launch_bounds__(kBlock, 3) find_in_tiles(const __grid_constant__ Distances distances,
                                                           const __grid_constant__ Bits bits, const unsigned* packed) {
  extern __shared__ unsigned memory[];
  const Tile tile(memory, distances.how);
  const auto across = static_cast<unsigned>((bits.words - 2 * bits.beside) / kWords);
  const std::int64_t y0 = std::int64_t{blockIdx.x / across} * kHigh, word0 = std::int64_t{blockIdx.x % across} * kWords;
  const int thread = static_cast<int>(threadIdx.x), pair = thread % kPairs, first = thread / kPairs * kRows;
  if (thread < 4) tile.of_two[thread] = kOfTwo[thread];
  if (tile.roots)
    for (int square = thread; square <= static_cast<int>(distances.how.limit) + 1; square += kBlock)
      tile.roots[square] = distances.root(static_cast<std::uint32_t>(square));
  bool any = false;
  const int word = thread % kMostWords;
  for (int row = thread / kMostWords; row < tile.rows && word < tile.words; row += kBlock / kMostWords) {
    const unsigned sites = packed[(y0 + row) * bits.words + word0 + word];
    tile.sites[row * tile.words + word] = sites;
    any |= sites != 0;
  }
  unsigned least[kRows];
  if (__syncthreads_or(any)) {
    for (int k = thread; k < tile.rows * kWords; k += kBlock) find_along_row(tile, k % tile.rows, k / tile.rows);
    __syncthreads();
    find_least(tile, distances.how.reach, first, pair, least);
  } else {
    for (unsigned& squares : least) squares = ~0u;
  }
  distances.put(tile, y0 + first, word0 * 32 + 2 * pair, least);
}

}  // namespace

bool fits_block(int reach) {
  reach = rounded(reach);
  return reach <= NearDistance::kMostReach && Tile::bytes(reach) <= fathom::cuda::block_memory();
}

std::size_t near_scratch_bytes(Size part, int reach) {
  const Bits bits(part, rounded(reach));
  return static_cast<std::size_t>(bits.words * bits.rows) * sizeof(unsigned);
}

void find_near(const Patch& mask, NearDistance how, std::byte* scratch, const Patch& to, cudaStream_t stream) {
  how.reach = rounded(how.reach);
  const Bits bits(size_of(to.part), how.reach);
  auto* const packed = reinterpret_cast<unsigned*>(scratch);
  const std::int64_t warps = (bits.words + 31) / 32 * bits.rows, at_once = kPacked / 32;
  const auto blocks = static_cast<unsigned>((warps + at_once - 1) / at_once);
  const std::int64_t y0 = to.part.y0 - how.reach, x0 = to.part.x0 - 32 * bits.beside;
  if (mask.dtype == DType::float32)
    pack_sites<float><<<blocks, kPacked, 0, stream>>>(mask, bits, y0, x0, how.to_zero, packed);
  else if (mask.dtype == DType::uint16)
    pack_sites<std::uint16_t><<<blocks, kPacked, 0, stream>>>(mask, bits, y0, x0, how.to_zero, packed);
  else pack_sites<std::uint8_t><<<blocks, kPacked, 0, stream>>>(mask, bits, y0, x0, how.to_zero, packed);
  check_launch("packing a mask");
  const std::size_t bytes = Tile::bytes(how.reach);
  fathom::cuda::allow_memory(find_in_tiles);
  const std::int64_t tiles = (bits.words - 2 * bits.beside) / kWords * ((bits.rows - 2 * how.reach) / kHigh);
  find_in_tiles<<<static_cast<unsigned>(tiles), kBlock, bytes, stream>>>(Distances{to, how}, bits, packed);
  check_launch("finding distances");
}

}  // namespace fathom::stream::cuda
