// The words and carries of all columns (see plane.cuh).
//
// Source: the bit-packed rows of Man et al. 2011; departs by taking words across rows, so that a column's word is one
// coalesced read. Cost: every element is read once, 1/4 byte is written for it.
#pragma once

#include "grid/cuda/mask.cuh"
#include "grid/cuda/plane.cuh"

namespace fathom::grid::cuda {

inline constexpr int kPackBlock = 128;

/// Any layout and type. Thread = column of a band: neighbours read neighbours.
__global__ void __launch_bounds__(kPackBlock) pack_elements(Plane plane, const __grid_constant__ Mask mask) {
  const int chunks = (plane.pitch + kPackBlock - 1) / kPackBlock;
  const std::int64_t band = blockIdx.x / chunks;
  const int x = static_cast<int>(blockIdx.x % chunks) * kPackBlock + static_cast<int>(threadIdx.x);
  if (x >= plane.pitch) return;
  unsigned word = 0;
  if (x < plane.width) {
    const int y0 = plane.first_row(band), rows = min(kBand, plane.height - y0);
    const std::int64_t step = mask.input.rank == 1 ? 0 : mask.input.stride[0];
    const std::int64_t first = mask.input.items.offset(plane.first_item + plane.item_of(band)) + y0 * step + x;
    for (int r = 0; r < rows; ++r) word |= unsigned{fulfils(mask.rule, mask.input.data, first + r * step)} << r;
  }
  plane.bits[band * plane.pitch + x] = word;
}

/// Bytes, zero or not. Thread = kColumns columns of a band, whose addresses are multiples of kColumns.
template <int kColumns>
__global__ void __launch_bounds__(kPackBlock) pack_bytes(Plane plane, const __grid_constant__ Mask mask) {
  static_assert(kColumns == 1 || kColumns == 4);
  const int chunks = (plane.pitch + kPackBlock * kColumns - 1) / (kPackBlock * kColumns);
  const std::int64_t band = blockIdx.x / chunks;
  const int x = (static_cast<int>(blockIdx.x % chunks) * kPackBlock + static_cast<int>(threadIdx.x)) * kColumns;
  if (x >= plane.pitch) return;
  unsigned words[kColumns] = {};
  if (x < plane.width) {
    const int y0 = plane.first_row(band), rows = min(kBand, plane.height - y0);
    const std::int64_t step = mask.input.rank == 1 ? 0 : mask.input.stride[0];
    const auto* element = reinterpret_cast<const std::uint8_t*>(mask.input.data) +
                          mask.input.items.offset(plane.first_item + plane.item_of(band)) + y0 * step + x;
#pragma unroll
    for (int r = 0; r < kBand; ++r) {
      if (r >= rows) break;
      if constexpr (kColumns == 1) {
        words[0] |= unsigned{element[r * step] != 0} << r;
      } else {
        const uchar4 four = *reinterpret_cast<const uchar4*>(element + r * step);
        words[0] |= unsigned{four.x != 0} << r;
        words[1] |= unsigned{four.y != 0} << r;
        words[2] |= unsigned{four.z != 0} << r;
        words[3] |= unsigned{four.w != 0} << r;
      }
    }
    const unsigned there = 0xFFFFFFFFu >> (kBand - rows);
#pragma unroll
    for (int k = 0; k < kColumns; ++k) {
      if (mask.flip) words[k] = ~words[k] & there;
      if (x + k >= plane.width) words[k] = 0;
    }
  }
  std::uint32_t* out = plane.bits + band * plane.pitch + x;
  if constexpr (kColumns == 1) out[0] = words[0];
  else *reinterpret_cast<uint4*>(out) = make_uint4(words[0], words[1], words[2], words[3]);
}

inline constexpr int kCarryBlock = 64;

/// The carries. Thread = column of an image, downwards or upwards, 16 words in flight.
__global__ void __launch_bounds__(kCarryBlock) carry(Plane plane) {
  constexpr int kAhead = 16;
  const int chunks = plane.pitch / kCarryBlock;
  const std::int64_t image = blockIdx.x / (2 * chunks);
  const int chunk = static_cast<int>(blockIdx.x % (2 * chunks));
  const bool down = chunk < chunks;
  const std::int64_t x = (down ? chunk : chunk - chunks) * kCarryBlock + static_cast<int>(threadIdx.x);
  const std::int64_t first = image * plane.bands * plane.pitch + x;
  unsigned rows = kFar;  // from the band's first row to the nearest site behind, or (upwards) before
  for (int b0 = 0; b0 < plane.bands; b0 += kAhead) {
    unsigned words[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      const int b = down ? b0 + k : plane.bands - 1 - b0 - k;
      words[k] = b0 + k < plane.bands ? plane.bits[first + static_cast<std::int64_t>(b) * plane.pitch] : 0;
    }
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      if (b0 + k >= plane.bands) break;
      const int b = down ? b0 + k : plane.bands - 1 - b0 - k;
      const std::int64_t i = first + static_cast<std::int64_t>(b) * plane.pitch;
      (down ? plane.above : plane.below)[i] = static_cast<std::uint16_t>(rows);
      if (rows != kFar) rows += kBand;
      if (!words[k]) continue;
      rows = down ? kBand - 31 + __clz(static_cast<int>(words[k])) : kBand + __ffs(static_cast<int>(words[k])) - 1;
    }
  }
}

}  // namespace fathom::grid::cuda
