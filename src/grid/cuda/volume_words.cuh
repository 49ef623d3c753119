// The words and carries of all rows along x (see volume.cuh).
//
// Work mapping: block = one y, 32 z; warp = 4 rows, lane = word once they are packed. The block turns its 32 × 32 words in
// shared memory, so that the pass along z reads its lines coalesced. Cost: every element is read once, 1/4 byte is written.
#pragma once

#include "grid/cuda/mask.cuh"
#include "grid/cuda/volume.cuh"

namespace fathom::grid::cuda {

inline constexpr int kVolumePackBlock = 256;

/// How a row is read.
enum class Reading {
  vectors,   ///< bytes, zero or not, 16 at a time
  elements,  ///< anything
};

/// Four bytes that are not zero, as four bits.
__device__ inline unsigned nonzero_bytes(unsigned four) {
  const unsigned top = (((four & 0x7F7F7F7Fu) + 0x7F7F7F7Fu) | four) & 0x80808080u;
  return top * 0x00204081u >> 28;
}

/// The word of this lane, of a row of up to 1024 elements that starts `offset` elements from the data.
template <Reading kReading>
__device__ unsigned read_word(const Mask& mask, std::int64_t offset, int nx) {
  unsigned word = 0;
  if constexpr (kReading == Reading::vectors) {
    const auto* row = reinterpret_cast<const uint4*>(mask.input.data + offset);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int first = (half * 32 + lane_id()) * 16;
      const uint4 v = first < nx ? __ldcs(row + half * 32 + lane_id()) : make_uint4(0, 0, 0, 0);
      unsigned bits = nonzero_bytes(v.x) | nonzero_bytes(v.y) << 4 | nonzero_bytes(v.z) << 8 | nonzero_bytes(v.w) << 12;
      if (mask.flip) bits = first < nx ? ~bits & 0xFFFFu : 0;
      const unsigned low = __shfl_sync(kAllLanes, bits, 2 * lane_id() % 32);
      const unsigned high = __shfl_sync(kAllLanes, bits, (2 * lane_id() + 1) % 32);
      if (lane_id() / 16 == half) word = low | high << 16;
    }
  } else {
    for (int x0 = 0; x0 < nx; x0 += 32) {
      const int x = x0 + lane_id();
      const unsigned bits = __ballot_sync(kAllLanes, x < nx && fulfils(mask.rule, mask.input.data, offset + x));
      if (lane_id() == x0 / 32) word = bits;
    }
  }
  return word;
}

/// The word with the steps from its ends to the nearest sites of the row outside.
__device__ inline uint2 with_carries(unsigned word) {
  const int lane = lane_id();
  const unsigned filled = __ballot_sync(kAllLanes, word != 0);
  const unsigned before = filled & lanes_before(lane), behind = lane == 31 ? 0u : filled >> (lane + 1) << (lane + 1);
  const int from_before = before ? 31 - __clz(static_cast<int>(before)) : 0;
  const int from_behind = behind ? __ffs(static_cast<int>(behind)) - 1 : 0;
  const auto left_word = static_cast<int>(__shfl_sync(kAllLanes, word, from_before));
  const auto right_word = static_cast<int>(__shfl_sync(kAllLanes, word, from_behind));
  const int left = lane * 32 - (from_before * 32 + 31 - __clz(left_word));
  const int right = from_behind * 32 + __ffs(right_word) - 1 - (lane * 32 + 31);
  return make_uint2(word, (before ? static_cast<unsigned>(left) : kNoneInWord) |
                              (behind ? static_cast<unsigned>(right) : kNoneInWord) << 16);
}

template <Reading kReading>
__global__ void __launch_bounds__(kVolumePackBlock)
    pack_volume(const __grid_constant__ Volume volume, const __grid_constant__ Mask mask) {
  __shared__ uint2 turned[32][33];
  const int slabs = volume.depth / 32, lane = lane_id(), warp = static_cast<int>(threadIdx.x) / 32;
  const int z0 = static_cast<int>(blockIdx.x % slabs) * 32;
  const std::int64_t rest = blockIdx.x / slabs, item = rest / volume.ny;
  const auto y = static_cast<int>(rest % volume.ny);
  const std::int64_t line = mask.input.items.offset(volume.first_item + item) + y * mask.input.stride[1];
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const int z = z0 + warp * 4 + r;
    const unsigned word =
        z < volume.nz ? read_word<kReading>(mask, line + z * mask.input.stride[0], volume.nx) : 0u;
    turned[warp * 4 + r][lane] = with_carries(word);
  }
  __syncthreads();
  for (int w = warp; w < volume.words; w += kVolumePackBlock / 32)
    volume.word[((item * volume.words + w) * volume.ny + y) * volume.depth + z0 + lane] = turned[lane][w];
}

}  // namespace fathom::grid::cuda
