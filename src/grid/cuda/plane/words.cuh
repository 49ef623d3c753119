// The words and carries of all columns (see plane/plane.cuh).
//
// Source: the bit-packed rows of Man et al. 2011; departs by taking words across rows, so that a column's word is one
// coalesced read. Cost: every element is read once, 1/4 byte is written for it.
#pragma once

#include <algorithm>

#include "grid/cuda/input/mask.cuh"
#include "grid/cuda/plane/plane.cuh"

namespace fathom::grid::cuda::plane {

/// Any layout and type, or bytes that are zero or not. Thread = column of a band: neighbours read neighbours. Beyond the
/// image's last row bytes are read again, so that no branch keeps the loads from being in flight together.
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
    if constexpr (kBytes) {
#pragma unroll
      for (int r = 0; r < kBand; ++r)
        word |= unsigned{mask.input.data[first + min(r, rows - 1) * step] != std::byte{0}} << r;
      word = (mask.is_zero_site() ? ~word : word) & 0xFFFFFFFFu >> (kBand - rows);
    } else {
      for (int r = 0; r < rows; ++r) word |= unsigned{mask.is_site(first + r * step)} << r;
    }
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

/// The carries of a segment of a column.
class CarrySegment {
 public:
  /// @param first_band  of the image
  __device__ CarrySegment(const Plane& plane, std::int64_t first_band)
      : plane_(plane),
        segment_(static_cast<int>(threadIdx.x) / 32),
        segments_(static_cast<int>(blockDim.x) / 32),
        length_((plane.bands + segments_ - 1) / segments_),
        count_(min(max(plane.bands - segment_ * length_, 0), length_)),
        first_((first_band + segment_ * length_) * plane.pitch + blockIdx.x * kCarryWidth + lane_id()) {}

  /// The rows from its end up to its last site, and from its begin down to its first, to shared memory.
  __device__ void look(int (*to_last)[32], int (*to_first)[32]) const {
    int up = kNoSite, down = kNoSite;
#pragma unroll 8
    for (int k = 0; k < count_; ++k) {
      up = rows_up(word(k), up);
      down = min(down, word(k) ? k * kBand + rows_down(word(k), 0) : kNoSite);
    }
    to_last[segment_][lane_id()] = up;
    to_first[segment_][lane_id()] = down;
  }

  /// Its carries, from what all segments found.
  __device__ void carry(const int (*to_last)[32], const int (*to_first)[32]) const {
    int up = kNoSite, down = kNoSite;
    for (int s = 0; s < segment_; ++s) up = beyond(to_last[s][lane_id()], up);
    for (int s = segments_ - 1; s > segment_; --s) down = beyond(to_first[s][lane_id()], down);
#pragma unroll 8
    for (int k = 0; k < count_; ++k) {
      plane_.above[place(k)] = carried(up + plane_.beyond);
      up = rows_up(word(k), up);
    }
#pragma unroll 8
    for (int k = count_ - 1; k >= 0; --k) {
      plane_.below[place(k)] = carried(down + kBand + plane_.beyond);
      down = rows_down(word(k), down);
    }
  }

 private:
  static constexpr int kNoSite = 1 << 17;  ///< rows; as far as that, or not much nearer

  __device__ std::int64_t place(int k) const { return first_ + static_cast<std::int64_t>(k) * plane_.pitch; }
  __device__ std::uint32_t word(int k) const { return __ldg(plane_.bits + place(k)); }
  /// Rows to a site of the next segment, or beyond.
  __device__ int beyond(int of_next, int rows) const { return of_next < kNoSite ? of_next : rows + length_ * kBand; }
  static __device__ std::uint16_t carried(int rows) {
    constexpr int kMost = kFar;
    return static_cast<std::uint16_t>(min(rows, kMost));
  }

  const Plane& plane_;
  const int segment_, segments_, length_, count_;
  const std::int64_t first_;
};

/// The carries of an image's columns. Block = 32 columns of an image, warp = segment of them. Phase 1: the first and
/// the last site of each segment. Phase 2: with those of the others, the carries of the segment's words.
///
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
  CarrySegment segment(plane, first_band);
  segment.look(to_last, to_first);
  __syncthreads();
  segment.carry(to_last, to_first);
}

}  // namespace fathom::grid::cuda::plane
