// The words and carries of all columns (see plane/plane.cuh).
//
// Source: the bit-packed rows of Man et al. 2011; departs by taking words across rows, so that a column's word is one
// coalesced read. Cost: every element is read once, 1/4 byte is written for it.
#pragma once

#include <algorithm>

#include "grid/cuda/input/mask.cuh"
#include "grid/cuda/plane/plane.cuh"

namespace fathom::grid::cuda::plane {

/// Any layout and type, or bytes that are zero or not. Thread = column of a band: neighbours read neighbours.
template <bool kBytes>
__global__ void __launch_bounds__(kPackBlock) pack_elements(Plane plane, const __grid_constant__ Mask mask) {
  const std::int64_t band = blockIdx.y;
  const int x = static_cast<int>(blockIdx.x) * kPackBlock + static_cast<int>(threadIdx.x);
  if (x >= plane.pitch) return;
  unsigned word = 0;
  if (x < plane.width) {
    const int y0 = plane.first_row(band), rows = min(kBand, plane.height - y0);
    const std::int64_t step = mask.input.stride[0];
    const std::int64_t first = mask.input.items.offset(plane.first_item + plane.item_of(band)) + y0 * step + x;
    word = mask.template sites_of_column<kBytes>(first, step, rows);
  }
  plane.bits[band * plane.pitch + x] = word;
  close_cell(plane, band, x);
}

/// Segments of an image's columns that are worked on at once, and warps of a block.
inline int carry_segments(int bands) {
  return std::clamp((bands + kSegmentWords - 1) / kSegmentWords, 1, kMostSegments);
}

inline constexpr int kCarryWidth = 32;  ///< columns of a block

// Rows from a word's end up to the nearest site, and from its begin down, with those of the word before or behind.
__device__ inline int rows_up(std::uint32_t word, int rows) {
  return word ? 1 + __clz(static_cast<int>(word)) : rows + kBand;
}
__device__ inline int rows_down(std::uint32_t word, int rows) {
  return word ? __clz(static_cast<int>(__brev(word))) : rows + kBand;
}

/// The carries of an image's columns. Block = 32 columns of an image, warp = segment of them. Phase 1: the first and
/// the last site of each segment. Phase 2: with those of the others, the carries of the segment's words.
/// @param open  the bands of an image that are being solved, from x to before y. Images are left out of which none of
///              these is open. (0, 0): all are worked on
__global__ void __launch_bounds__(kMostSegments * 32, resident_blocks(kMostSegments * 32, kCarryBlocks))
    carry(const __grid_constant__ Plane plane, int2 open) {
  __shared__ int to_last[kMostSegments][32], to_first[kMostSegments][32];
  plane.take_turn();
  const std::int64_t first_band = static_cast<std::int64_t>(blockIdx.y) * plane.bands;
  if (open.y > 0) {
    bool is_open = false;
    for (int b = open.x + static_cast<int>(threadIdx.x); b < open.y; b += static_cast<int>(blockDim.x))
      is_open |= plane.left.open_bands[first_band + b] != 0;
    if (!__syncthreads_or(is_open)) return;
  }
  constexpr int kNoSite = 1 << 17, kMost = kFar;  // rows; as far as that, or not much nearer
  const int segment = static_cast<int>(threadIdx.x) / 32, segments = static_cast<int>(blockDim.x) / 32;
  const int length = (plane.bands + segments - 1) / segments, lane = lane_id(),
            count = min(max(plane.bands - segment * length, 0), length);
  const std::int64_t first = (first_band + segment * length) * plane.pitch + blockIdx.x * kCarryWidth + lane;
  const auto place = [&](int k) { return first + static_cast<std::int64_t>(k) * plane.pitch; };
  const auto word = [&](int k) { return __ldg(plane.bits + place(k)); };
  int up = kNoSite, down = kNoSite;
#pragma unroll 8
  for (int k = 0; k < count; ++k) {
    up = rows_up(word(k), up);
    down = min(down, word(k) ? k * kBand + rows_down(word(k), 0) : kNoSite);
  }
  to_last[segment][lane] = up;
  to_first[segment][lane] = down;
  __syncthreads();
  up = down = kNoSite;
  // To a site of the next segment, or beyond.
  const auto through = [&](int of_next, int rows) { return of_next < kNoSite ? of_next : rows + length * kBand; };
  for (int s = 0; s < segment; ++s) up = through(to_last[s][lane], up);
  for (int s = segments - 1; s > segment; --s) down = through(to_first[s][lane], down);
#pragma unroll 8
  for (int k = 0; k < count; ++k) {
    plane.above[place(k)] = static_cast<std::uint16_t>(min(up + plane.beyond, kMost));
    up = rows_up(word(k), up);
  }
#pragma unroll 8
  for (int k = count - 1; k >= 0; --k) {
    plane.below[place(k)] = static_cast<std::uint16_t>(min(down + kBand + plane.beyond, kMost));
    down = rows_down(word(k), down);
  }
}

}  // namespace fathom::grid::cuda::plane
