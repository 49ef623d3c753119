// First the mask becomes bits, a word a warp. Then a block takes a tile of 128 × 64 pixels:
//   1. the words within reach of it go to shared memory; a tile without a site is done;
//   2. for each word: how far the last site before it and the first one behind it are;
//   3. squares of the distances along the rows, two pixels of 16 bits in a word;
//   4. each thread takes two columns of eight rows: every row within reach is read once, and the square of the distance
//      to each of the eight is added, one instruction for two pixels (DPX; compute capability 9.0 and later have it).
// Source: exact separable transforms (Hirata 1996). Departs in that the minimum along the columns is taken over all
// that is within reach, which for few pixels is less than an envelope takes.
// Cost: 2 · reach + 1 instructions for two pixels.
#include <cmath>

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
/// Of a row without a site. With the largest that is added to it, it still is a number of 16 bits.
constexpr unsigned kNone = 32768, kMostAdded = 32767;
constexpr int kFar = 255;  ///< no site within reach

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

/// A word a warp.
__global__ void __launch_bounds__(kPacked)
    pack_sites(const __grid_constant__ Patch mask, const __grid_constant__ Bits bits, std::int64_t y0, std::int64_t x0,
               bool to_zero, unsigned* out) {
  const std::int64_t word = (std::int64_t{blockIdx.x} * kPacked + threadIdx.x) / 32;
  if (word >= bits.words * bits.rows) return;
  const std::int64_t y = y0 + word / bits.words, x = x0 + word % bits.words * 32 + threadIdx.x % 32;
  bool is_site = false;
  const Rectangle& part = mask.part;
  if (y >= part.y0 && y < part.y1 && x >= part.x0 && x < part.x1) {
    const std::int64_t at = (y - part.y0) * mask.pitch + (x - part.x0);
    const bool is_zero = mask.dtype == DType::float32  ? reinterpret_cast<const float*>(mask.data)[at] == 0
                         : mask.dtype == DType::uint16 ? reinterpret_cast<const std::uint16_t*>(mask.data)[at] == 0
                                                       : reinterpret_cast<const std::uint8_t*>(mask.data)[at] == 0;
    is_site = is_zero == to_zero;
  }
  const unsigned sites = __ballot_sync(kAllLanes, is_site);
  if (threadIdx.x % 32 == 0) out[word] = sites;
}

/// Shared memory of a block.
struct Tile {
  unsigned *squares, *sites;       ///< [rows, kPairs], [rows, kWords + 2 · beside]
  unsigned char *before, *behind;  ///< [rows, kWords]
  int rows, words;

  __host__ __device__ Tile(unsigned* memory, int reach, int beside)
      : squares(memory), rows(kHigh + 2 * reach), words(kWords + 2 * beside) {
    sites = squares + rows * kPairs;
    before = reinterpret_cast<unsigned char*>(sites + rows * words);
    behind = before + rows * kWords;
  }
  static std::size_t bytes(int reach) {
    const Tile tile(nullptr, reach, (reach + 31) / 32);
    return static_cast<std::size_t>(tile.rows) *
           ((kPairs + static_cast<std::size_t>(tile.words)) * sizeof(unsigned) + 2 * std::size_t{kWords});
  }
};

/// Of a word: pixels from its first one to the last site before it, and from its last one to the first site behind it.
__device__ void look_beside(const Tile& tile, int beside, int row, int word) {
  const unsigned* const at = tile.sites + row * tile.words + beside + word;
  int before = kFar, behind = kFar;
  for (int k = 1; k <= beside && before == kFar; ++k)
    if (at[-k] != 0) before = 32 * (k - 1) + 1 + __clz(static_cast<int>(at[-k]));
  for (int k = 1; k <= beside && behind == kFar; ++k)
    if (at[k] != 0) behind = 32 * (k - 1) + __ffs(static_cast<int>(at[k]));
  tile.before[row * kWords + word] = static_cast<unsigned char>(min(before, kFar));
  tile.behind[row * kWords + word] = static_cast<unsigned char>(min(behind, kFar));
}

__device__ unsigned square_along_row(unsigned word, int bit, int before, int behind, int reach) {
  const unsigned to_left = word & ~0u >> (31 - bit), to_right = word >> bit;
  const int left = to_left != 0 ? bit - 31 + __clz(static_cast<int>(to_left)) : bit + before;
  const int right = to_right != 0 ? __ffs(static_cast<int>(to_right)) - 1 : 31 - bit + behind;
  const int nearest = min(left, right);
  return nearest <= reach ? static_cast<unsigned>(nearest * nearest) : kNone;
}

__device__ unsigned square_of(int steps) { return min(static_cast<unsigned>(steps * steps), kMostAdded) * 0x10001u; }

/// Squares of two columns and eight rows. @param top  first row of the tile that is within reach of them
__device__ void find_least(const Tile& tile, int reach, int top, int pair, unsigned (&least)[kRows]) {
  unsigned added[kRows];
#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    least[k] = ~0u;
    added[k] = square_of(reach + k);
  }
  const unsigned* row = tile.squares + top * kPairs + pair;
#pragma unroll 8
  for (int step = -reach; step < reach + kRows; ++step, row += kPairs) {
    const unsigned squares = *row;
#pragma unroll
    for (int k = 0; k < kRows; ++k) least[k] = __viaddmin_u16x2(squares, added[k], least[k]);
#pragma unroll
    for (int k = kRows - 1; k > 0; --k) added[k] = added[k - 1];
    added[0] = square_of(step + 1);
  }
}

struct Distances {
  Patch to;
  NearDistance how;

  __device__ float of(unsigned square) const {
    if (square > how.limit) return INFINITY;
    if (how.unit == 1) return sqrtf(static_cast<float>(square));  // rounded correctly, of what float has exactly
    return distance_from_squared<float>(square, how.unit);
  }
  /// Two pixels of a row. @param y, x  counted from the part's corner
  __device__ void put(std::int64_t y, std::int64_t x, unsigned squares) const {
    const std::int64_t left = to.part.x1 - to.part.x0 - x;
    if (y >= to.part.y1 - to.part.y0 || left <= 0) return;
    float* const at = reinterpret_cast<float*>(to.data) + y * to.pitch + x;
    const float first = of(squares & 0xffffu), second = of(squares >> 16);
    if (left > 1 && reinterpret_cast<std::uintptr_t>(at) % 8 == 0) {
      __stcs(reinterpret_cast<float2*>(at), make_float2(first, second));
    } else {
      at[0] = first;
      if (left > 1) at[1] = second;
    }
  }
};

__global__ void __launch_bounds__(kBlock) find_in_tiles(const __grid_constant__ Distances distances,
                                                        const __grid_constant__ Bits bits, const unsigned* packed) {
  extern __shared__ unsigned memory[];
  const Tile tile(memory, bits.reach, bits.beside);
  const auto across = static_cast<unsigned>((bits.words - 2 * bits.beside) / kWords);
  const std::int64_t y0 = std::int64_t{blockIdx.x / across} * kHigh, word0 = std::int64_t{blockIdx.x % across} * kWords;
  const int thread = static_cast<int>(threadIdx.x), pair = thread % kPairs, first = thread / kPairs * kRows;
  bool any = false;
  for (int k = thread; k < tile.rows * tile.words; k += kBlock) {
    tile.sites[k] = packed[(y0 + k / tile.words) * bits.words + word0 + k % tile.words];
    any |= tile.sites[k] != 0;
  }
  unsigned least[kRows];
  if (__syncthreads_or(any)) {
    for (int k = thread; k < tile.rows * kWords; k += kBlock) look_beside(tile, bits.beside, k / kWords, k % kWords);
    __syncthreads();
    for (int k = thread; k < tile.rows * kPairs; k += kBlock) {
      const int row = k / kPairs, at = k % kPairs, word = at / 16, bit = 2 * (at % 16);
      const unsigned sites = tile.sites[row * tile.words + bits.beside + word];
      const int before = tile.before[row * kWords + word], behind = tile.behind[row * kWords + word];
      tile.squares[k] = square_along_row(sites, bit, before, behind, bits.reach) |
                        square_along_row(sites, bit + 1, before, behind, bits.reach) << 16;
    }
    __syncthreads();
    find_least(tile, bits.reach, first, pair, least);
  } else {
    for (unsigned& squares : least) squares = ~0u;
  }
  for (int k = 0; k < kRows; ++k) distances.put(y0 + first + k, word0 * 32 + 2 * pair, least[k]);
}

}  // namespace

bool fits_block(int reach) {
  return reach <= NearDistance::kMostReach && Tile::bytes(reach) <= fathom::cuda::block_memory();
}

std::size_t near_scratch_bytes(Size part, int reach) {
  const Bits bits(part, reach);
  return static_cast<std::size_t>(bits.words * bits.rows) * sizeof(unsigned);
}

void find_near(const Patch& mask, const NearDistance& how, std::byte* scratch, const Patch& to, cudaStream_t stream) {
  const Bits bits(size_of(to.part), how.reach);
  auto* const packed = reinterpret_cast<unsigned*>(scratch);
  const std::int64_t warps = bits.words * bits.rows, at_once = kPacked / 32;
  pack_sites<<<static_cast<unsigned>((warps + at_once - 1) / at_once), kPacked, 0, stream>>>(
      mask, bits, to.part.y0 - how.reach, to.part.x0 - 32 * bits.beside, how.to_zero, packed);
  check_launch("packing a mask");
  const std::size_t bytes = Tile::bytes(how.reach);
  fathom::cuda::check(
      cudaFuncSetAttribute(find_in_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
      "setting up a kernel");
  const std::int64_t tiles = (bits.words - 2 * bits.beside) / kWords * ((bits.rows - 2 * how.reach) / kHigh);
  find_in_tiles<<<static_cast<unsigned>(tiles), kBlock, bytes, stream>>>(Distances{to, how}, bits, packed);
  check_launch("finding distances");
}

}  // namespace fathom::stream::cuda
