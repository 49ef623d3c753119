// Everything that is nearer than 32, in 16-bit arithmetic on two elements at once.
//
// Work mapping: a block solves 32 rows × 512 columns. A word pairs column x with column x + 256, so that a step
// sideways is a step of whole words. Phase 1, thread = word: vertical distances of all rows from the band's words and
// carries, squared, into shared memory. Phase 2, warp = 2 rows × 64 words, lane = 4 words: candidates 1–2, 3–4, and
// then 4 more at a time on both sides, until the largest value of the warp says that nothing farther can matter. Cells
// of 32 × 32 elements that this does not settle are marked, for the kernels that follow; a block with too few sites
// around gives up at once.
//
// Numbers are halves 1024 + d² in half2: below 2048 they are exact, their bits ascend with their values, additions run
// on the FMA units and minima on the integer units. "No site" is infinity.
//
// Source: separable passes (Hirata 1996); departs by searching outwards with an exact stop in place of an envelope.
// Cost: O(1) per element, a quarter of a byte read and four written for it.
#pragma once

#include <cuda_fp16.h>

#include <cstring>

#include "grid/cuda/plane.cuh"

namespace fathom::grid::cuda {

inline constexpr int kNearWidth = 512, kHalf = kNearWidth / 2, kReach = 32;
inline constexpr int kNearWords = kHalf + 2 * kReach;  ///< words of a row in shared memory, and threads
inline constexpr unsigned kBias = 0x64006400u;         ///< 1024 in both halves
inline constexpr unsigned kUnsettled = 0x6800u;        ///< 1024 + 32²: from here on, farther candidates may be nearer

__device__ inline __half2 as_halves(unsigned bits) {
  __half2 halves;
  memcpy(&halves, &bits, 4);
  return halves;
}
__device__ inline unsigned as_bits(__half2 halves) {
  unsigned bits;
  memcpy(&bits, &halves, 4);
  return bits;
}

/// Rows up to the nearest site outside the band, as a half; 2048 stands for all that is too far.
__device__ inline __half rows_outside(unsigned rows) { return __int2half_rn(static_cast<int>(min(rows, 2048u))); }

/// The two columns of a word.
struct NearWord {
  unsigned bits[2] = {0, 0}, above[2] = {kFar, kFar}, below[2] = {kFar, kFar};

  __device__ NearWord(const Plane& plane, std::int64_t band, int x) {
    for (int k = 0; k < 2; ++k, x += kHalf) {
      if (x < 0 || x >= plane.pitch) continue;
      const std::int64_t i = band * plane.pitch + x;
      bits[k] = plane.bits[i];
      above[k] = plane.above[i];
      below[k] = plane.below[i];
    }
  }

  /// Whether a site lies in one of the columns, at most 32 rows from the band.
  __device__ bool is_alive() const {
    return (bits[0] | bits[1]) != 0 || min(above[0], above[1]) <= 32 || min(below[0], below[1]) < 64;
  }

  /// 1024 + squared vertical distance of each row. The sweep upwards runs over reversed masks, lest the compiler keep
  /// all 32 masks of the sweep down.
  __device__ void squares(unsigned (*column)[kNearWords]) const {
    unsigned low = ~((bits[0] & 0xFFFFu) | (bits[1] << 16)), high = ~((bits[0] >> 16) | (bits[1] & 0xFFFF0000u));
    constexpr unsigned kOne = 0x3C00u;  // the half 1
    __half2 rows = __halves2half2(rows_outside(above[0] - 1), rows_outside(above[1] - 1));
#pragma unroll
    for (int r = 0; r < kBand; ++r) {
      const __half2 no_site = as_halves((((r < 16 ? low : high) >> (r & 15)) & 0x00010001u) * kOne);
      rows = __hfma2(rows, no_site, no_site);
      column[r][0] = as_bits(rows);
    }
    low = __byte_perm(__brev(low), 0, 0x1032);
    high = __byte_perm(__brev(high), 0, 0x1032);
    asm volatile("" ::: "memory");
    rows = __halves2half2(rows_outside(below[0] - 32), rows_outside(below[1] - 32));
#pragma unroll
    for (int r = kBand - 1; r >= 0; --r) {
      const __half2 no_site = as_halves((((r < 16 ? low : high) >> (15 - (r & 15))) & 0x00010001u) * kOne);
      rows = __hfma2(rows, no_site, no_site);
      const __half2 nearest = as_halves(__vminu2(column[r][0], as_bits(rows)));
      column[r][0] = as_bits(__hfma2(nearest, nearest, as_halves(kBias)));
    }
  }
};

/// Four neighbouring words of a row, and the words around them.
class NearSearch {
 public:
  __device__ explicit NearSearch(const uint4* row) : row_(row) {
    load(best, 0, row[0]);
    load(left_, 0, row[-1]);
    load(left_, 4, row[0]);
    load(right_, 0, row[0]);
    load(right_, 4, row[1]);
  }

  /// Searches until the warp is done or gives up. From the returned value on, results are not settled.
  __device__ unsigned run() {
    offer<1, 2>(0);
    if (!__any_sync(kAllLanes, largest() > 9)) return kUnsettled;
    offer<3, 4>(0);
    if (!__any_sync(kAllLanes, largest() > 25)) return kUnsettled;
#pragma unroll
    for (int j = 1; j <= 7; ++j) {
      shift(j);
      offer<1, 4>(4 * j);
      const int settled = (4 * j + 5) * (4 * j + 5), most = largest();
      if (!__any_sync(kAllLanes, most > settled)) return kUnsettled;
      // Too many lanes without a site within 8 columns and 32 rows: this is not the place for near sites.
      if (j == 1 && __popc(__ballot_sync(kAllLanes, most >= 1024)) >= kGiveUp) return (kBias & 0xFFFFu) + 82;
    }
    return kUnsettled;
  }

  __device__ int largest() const {
    const unsigned both = __vmaxu2(__vmaxu2(best[0], best[1]), __vmaxu2(best[2], best[3]));
    return static_cast<int>(max(both >> 16, both & 0xFFFFu)) - static_cast<int>(kBias & 0xFFFFu);
  }

  unsigned best[4];

 private:
  static __device__ void load(unsigned* to, int at, uint4 four) {
    to[at] = four.x;
    to[at + 1] = four.y;
    to[at + 2] = four.z;
    to[at + 3] = four.w;
  }

  /// Moves the words around by four outwards.
  __device__ void shift(int j) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      left_[4 + k] = left_[k];
      right_[k] = right_[4 + k];
    }
    load(left_, 0, row_[-j - 1]);
    load(right_, 4, row_[j + 1]);
  }

  /// Candidates kFirst … kLast words away, on both sides; `base` words more than the words around are shifted.
  template <int kFirst, int kLast>
  __device__ void offer(int base) {
#pragma unroll
    for (int step = kFirst; step <= kLast; ++step) {
      const int steps = base + step;
      const unsigned integer = static_cast<unsigned>(steps * steps) * 0x10001u;
      const __half2 square = __float2half2_rn(static_cast<float>(steps * steps));
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        const unsigned a = right_[q + step], b = left_[4 + q - step];
        // The third and fourth operation balance the two kinds of units.
        if (base > 0 && step == 4) {
          best[q] = __viaddmin_u16x2(a, integer, best[q]);
          best[q] = __viaddmin_u16x2(b, integer, best[q]);
        } else {
          best[q] =
              __vimin3_u16x2(best[q], as_bits(__hadd2(as_halves(a), square)), as_bits(__hadd2(as_halves(b), square)));
        }
      }
    }
  }

  const uint4* row_;
  unsigned left_[8], right_[8];
};

/// Squared distances of the four words: columns x … x + 3 and x + 256 … x + 259.
struct NearResult {
  float squares[2][4];

  __device__ explicit NearResult(const unsigned* best) {
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const float2 two = __half22float2(as_halves(best[q]));  // exact
      squares[0][q] = two.x - 1024.0f;
      squares[1][q] = two.y - 1024.0f;
    }
  }
};

/// Floats of four words, from lanes to rows.
template <Writing kWriting>
struct NearWriter {
  const Plane& plane;
  float* rows;   ///< the band's first row
  float* stage;  ///< of the warp: 128 floats, where rows are not aligned

  __device__ void write(int r, int x, const NearResult& result, bool there, bool whole) const {
    float* row = rows + r * plane.row_stride + x;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int count = plane.width - x - h * kHalf;
      if constexpr (kWriting == Writing::one_side) {
        if (there) put_side(row + h * kHalf, result.squares[h], count);
      } else {
        float roots[4];
#pragma unroll
        for (int q = 0; q < 4; ++q) roots[q] = small_root(result.squares[h][q]);
        if constexpr (kWriting == Writing::unaligned) spread(row, roots, count, h, there);
        else if (whole) put(row + h * kHalf, roots, 4);
        else if (there && count > 0) put(row + h * kHalf, roots, count);
      }
    }
  }

 private:
  /// One by one where some belong to the other side.
  __device__ void put_side(float* to, const float* squares, int count) const {
    const bool takes_all =
        plane.side.is_first || fminf(fminf(squares[0], squares[1]), fminf(squares[2], squares[3])) > 0;
    float distances[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) distances[q] = plane.side.near(squares[q]);
    if (plane.is_aligned && takes_all && count >= 4) return put(to, distances, 4);
#pragma unroll
    for (int q = 0; q < 4; ++q)
      if (q < count && (takes_all || squares[q] > 0)) to[q] = distances[q];
  }
  static __device__ void put(float* to, const float* roots, int count) {
    if (count >= 4) {
      *reinterpret_cast<float4*>(to) = make_float4(roots[0], roots[1], roots[2], roots[3]);
    } else {
      for (int q = 0; q < 3; ++q)
        if (q < count) to[q] = roots[q];
    }
  }

  /// Through shared memory, so that neighbouring lanes write neighbouring floats. Half a warp holds 64 of one row.
  __device__ void spread(float* row, const float* roots, int count, int h, bool there) const {
    const int lane = lane_id(), place = lane % 16;
    float* half = stage + (lane / 16) * 64;
    __syncwarp();
    reinterpret_cast<float4*>(half)[place] = make_float4(roots[0], roots[1], roots[2], roots[3]);
    __syncwarp();
    if (!there) return;
    float* first = row - 4 * place + h * kHalf;
    const int end = count + 4 * place;  // columns from the half warp's first on
#pragma unroll
    for (int q = 0; q < 4; ++q)
      if (16 * q + place < end) first[16 * q + place] = half[16 * q + place];
  }
};

template <Writing kWriting>
__global__ void __launch_bounds__(kNearWords,
                                  resident_blocks(kNearWords,
                                                  kWriting == Writing::aligned ? kNearBlocks : kNearBlocksSlow))
    solve_near(Plane plane, const __grid_constant__ Emitter<std::int64_t> emitter) {
  __shared__ __align__(16) std::uint32_t squares[kBand][kNearWords];
  __shared__ __align__(16) float stages[kWriting == Writing::unaligned ? kNearWords / 32 : 1][128];
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  __shared__ float* first_row;  // there, because registers are short
  const std::int64_t band = blockIdx.y;
  const int x0 = static_cast<int>(blockIdx.x) * kNearWidth, rows = plane.height - plane.first_row(band);
  std::uint8_t* open_cells = plane.open_cells + band * plane.cells();
  if (kWriting != Writing::general && t == 0) first_row = plane.row(band, plane.first_row(band));
  {
    const NearWord word(plane, band, x0 - kReach + t);
    const int there = min(kNearWords, plane.width - x0 + (x0 == 0 ? 0 : kReach));
    if (__syncthreads_count(word.is_alive()) * 4 < there) {
      const int cell = x0 / 32 + t;
      if (t < kNearWidth / 32 && cell * 32 < plane.width) open_cells[cell] = 1;
      if (t == 0) plane.open_bands[band] = 1;
      return;
    }
    // No search of an image that ends in this block reaches farther.
    if (x0 - kReach + t < plane.width + kReach + 4)
      word.squares(reinterpret_cast<unsigned(*)[kNearWords]>(&squares[0][t]));
  }
  __syncthreads();
  bool open = false;
  const bool whole = x0 + kNearWidth <= plane.width && rows >= kBand;
  constexpr int kTasks = kBand / 2 * (kHalf / 64);
  for (int task = warp; task < kTasks; task += kNearWords / 32) {
    if (x0 + task % 4 * 64 >= plane.width) continue;
    const int r = task / 4 * 2 + lane / 16, word = task % 4 * 64 + lane % 16 * 4, x = x0 + word;
    NearSearch search(reinterpret_cast<const uint4*>(&squares[r][kReach + word]));
    const bool row_there = whole || r < rows;
    if (!whole) {  // what lies outside the image must not keep the warp busy
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        if (!row_there || x >= plane.width) search.best[q] = (search.best[q] & 0xFFFF0000u) | (kBias & 0xFFFFu);
        if (!row_there || x + kHalf >= plane.width) search.best[q] = (search.best[q] & 0xFFFFu) | (kBias & 0xFFFF0000u);
      }
    }
    const unsigned unsettled = search.run();
    if (search.largest() + static_cast<int>(kBias & 0xFFFFu) >= static_cast<int>(unsettled)) {
      const unsigned both =
          __vmaxu2(__vmaxu2(search.best[0], search.best[1]), __vmaxu2(search.best[2], search.best[3]));
      if ((both & 0xFFFFu) >= unsettled) open_cells[x / 32] = 1;
      if (both >> 16 >= unsettled) open_cells[(x + kHalf) / 32] = 1;
      open = true;
    }
    const NearResult result(search.best);
    if constexpr (kWriting == Writing::general) {
      for (int h = 0; h < 2; ++h)
        for (int q = 0; q < 4; ++q)
          if (row_there && x + h * kHalf + q < plane.width)
            write_general(emitter, plane.item_of(band), plane.first_row(band) + r, x + h * kHalf + q,
                          static_cast<std::int64_t>(result.squares[h][q]));
    } else {
      const NearWriter<kWriting> writer{plane, first_row, stages[kWriting == Writing::unaligned ? warp : 0]};
      writer.write(r, x, result, row_there, whole);
    }
  }
  if (open) plane.open_bands[band] = 1;
}

}  // namespace fathom::grid::cuda
