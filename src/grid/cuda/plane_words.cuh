// The words and carries of all columns (see plane.cuh).
//
// Source: the bit-packed rows of Man et al. 2011; departs by taking words across rows, so that a column's word is one
// coalesced read. Cost: every element is read once, 1/4 byte is written for it.
#pragma once

#include <algorithm>

#include "grid/cuda/mask.cuh"
#include "grid/cuda/plane.cuh"

namespace fathom::grid::cuda {

/// Any layout and type. Thread = column of a band: neighbours read neighbours.
__global__ void __launch_bounds__(kPackBlock) pack_elements(Plane plane, const __grid_constant__ Mask mask) {
  const std::int64_t band = blockIdx.y;
  const int x = static_cast<int>(blockIdx.x) * kPackBlock + static_cast<int>(threadIdx.x);
  if (x >= plane.pitch) return;
  unsigned word = 0;
  if (x < plane.width) {
    const int y0 = plane.first_row(band), rows = min(kBand, plane.height - y0);
    const std::int64_t step = mask.input.rank == 1 ? 0 : mask.input.stride[0];
    const std::int64_t first = mask.input.items.offset(plane.first_item + plane.item_of(band)) + y0 * step + x;
    for (int r = 0; r < rows; ++r) word |= unsigned{mask.is_site(first + r * step)} << r;
  }
  plane.bits[band * plane.pitch + x] = word;
}

/// Four bytes of a row at any address, by the two words around them.
__device__ inline unsigned four_bytes(const std::uint8_t* at) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  const auto* words = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
  return __funnelshift_r(words[0], words[1], static_cast<unsigned>(address & 3) * 8);
}

/// Four bytes at the end of a row, of which `there` are inside; the last is repeated.
__device__ inline unsigned last_bytes(const std::uint8_t* at, int there) {
  unsigned four = 0;
  for (int k = 0; k < 4; ++k) four |= unsigned{at[min(k, there - 1)]} << (8 * k);
  return four;
}

/// Four columns of words. Beyond the image's last row it is read again, so that no branch keeps the loads from being in
/// flight together.
template <class Read>
__device__ void pack_rows(unsigned* words, int rows, Read&& read) {
#pragma unroll
  for (int r = 0; r < kBand; ++r) {
    const unsigned four = read(min(r, rows - 1));
#pragma unroll
    for (int k = 0; k < 4; ++k) words[k] |= unsigned{(four >> (8 * k) & 0xFFu) != 0} << r;
  }
}

/// Bytes, zero or not. Thread = 4 columns of a band; kAligned: their addresses are multiples of 4.
template <bool kAligned>
__global__ void __launch_bounds__(kPackBlock) pack_bytes(Plane plane, const __grid_constant__ Mask mask) {
  const std::int64_t band = blockIdx.y;
  const int x = (static_cast<int>(blockIdx.x) * kPackBlock + static_cast<int>(threadIdx.x)) * 4;
  if (x >= plane.pitch) return;
  unsigned words[4] = {};
  if (x < plane.width) {
    const int y0 = plane.first_row(band), rows = min(kBand, plane.height - y0);
    const std::int64_t step = mask.input.rank == 1 ? 0 : mask.input.stride[0];
    const auto* element = reinterpret_cast<const std::uint8_t*>(mask.input.data) +
                          mask.input.items.offset(plane.first_item + plane.item_of(band)) + y0 * step + x;
    const int columns = plane.width - x;
    if constexpr (kAligned)
      pack_rows(words, rows, [&](int r) { return *reinterpret_cast<const std::uint32_t*>(element + r * step); });
    else if (x > 0 && columns >= 8) pack_rows(words, rows, [&](int r) { return four_bytes(element + r * step); });
    else pack_rows(words, rows, [&](int r) { return last_bytes(element + r * step, columns); });
    const unsigned there = 0xFFFFFFFFu >> (kBand - rows);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (mask.is_zero_site()) words[k] = ~words[k];
      words[k] = k < columns ? words[k] & there : 0;
    }
  }
  *reinterpret_cast<uint4*>(plane.bits + band * plane.pitch + x) = make_uint4(words[0], words[1], words[2], words[3]);
}

/// Segments of an image's columns that are worked on at once, and warps of a block.
inline int carry_segments(int bands) {
  return std::clamp((bands + kSegmentWords - 1) / kSegmentWords, 1, kMostSegments);
}

/// The carries. Block = 32 columns of an image, warp = segment of them. Phase 1: the first and the last site of each
/// segment. Phase 2: with those of the others, the carries of the segment's words, downwards and upwards. By the way,
/// what says that cells and bands are open is cleared: a fill by itself would be a launch more.
__global__ void __launch_bounds__(kMostSegments * 32) carry(Plane plane) {
  __shared__ std::int32_t first_row[kMostSegments][32], last_row[kMostSegments][32];
  constexpr int kAhead = 8;
  constexpr std::int32_t kBefore = -1, kBehind = INT32_MAX;  // no site
  plane.take_turn();
  const int lane = lane_id(), segment = static_cast<int>(threadIdx.x) / 32,
            segments = static_cast<int>(blockDim.x) / 32;
  const int length = (plane.bands + segments - 1) / segments;
  const int begin = segment * length, end = min(begin + length, plane.bands);
  const std::int64_t first_band = static_cast<std::int64_t>(blockIdx.y) * plane.bands;
  const std::int64_t column = first_band * plane.pitch + blockIdx.x * 32 + lane;
  const auto place = [&](int b) { return column + static_cast<std::int64_t>(b) * plane.pitch; };
  for (int b = begin + lane; b < end; b += 32) {
    plane.open_cells[(first_band + b) * plane.cells() + blockIdx.x] = 0;
    if (blockIdx.x == 0) plane.open_bands[first_band + b] = 0;
  }
  const auto load = [&](unsigned* words, int b0) {
#pragma unroll
    for (int k = 0; k < kAhead; ++k) words[k] = b0 + k >= begin && b0 + k < end ? plane.bits[place(b0 + k)] : 0;
  };
  std::int32_t first = kBehind, last = kBefore;
  for (int b0 = begin; b0 < end; b0 += kAhead) {
    unsigned words[kAhead];
    load(words, b0);
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      if (!words[k]) continue;
      first = min(first, (b0 + k) * kBand + __ffs(static_cast<int>(words[k])) - 1);
      last = (b0 + k) * kBand + 31 - __clz(static_cast<int>(words[k]));
    }
  }
  first_row[segment][lane] = first;
  last_row[segment][lane] = last;
  __syncthreads();
  std::int32_t before = kBefore, behind = kBehind;
  for (int s = 0; s < segments; ++s) {
    if (s < segment) before = max(before, last_row[s][lane]);
    if (s > segment) behind = min(behind, first_row[s][lane]);
  }
  for (int b0 = begin; b0 < end; b0 += kAhead) {
    unsigned words[kAhead];
    load(words, b0);
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      if (b0 + k >= end) break;
      const int y = (b0 + k) * kBand;
      plane.above[place(b0 + k)] = static_cast<std::uint16_t>(before == kBefore ? kFar : y - before + plane.beyond);
      if (words[k]) before = y + 31 - __clz(static_cast<int>(words[k]));
    }
  }
  for (int b0 = end - kAhead; b0 > begin - kAhead; b0 -= kAhead) {
    unsigned words[kAhead];
    load(words, b0);
#pragma unroll
    for (int k = kAhead - 1; k >= 0; --k) {
      if (b0 + k < begin) break;
      const int y = (b0 + k) * kBand;
      plane.below[place(b0 + k)] = static_cast<std::uint16_t>(behind == kBehind ? kFar : behind - y + plane.beyond);
      if (words[k]) behind = y + __ffs(static_cast<int>(words[k])) - 1;
    }
  }
}

}  // namespace fathom::grid::cuda
