// The words and carries of all rows along x (see volume.cuh).
//
// Work mapping: block = one y, 32 z; warp = 4 rows, lane = word once they are packed. The block turns its 32 × 32 words
// in shared memory, so that the pass along z reads its lines coalesced. Cost: every element is read once, 1/4 byte is
// written.
#pragma once

#include "grid/cuda/mask.cuh"
#include "grid/cuda/volume.cuh"

namespace fathom::grid::cuda {

/// How a row is read.
enum class Reading {
  aligned_bytes,  ///< zero or not, 16 at a time
  bytes,          ///< the same at any address
  elements,       ///< anything
};

/// Sixteen bytes, of which those outside [begin, end) count as zero and are not read. Not inlined: it is rare.
__device__ __noinline__ inline unsigned nonzero_bytes_within(const std::byte* at, const std::byte* begin,
                                                             const std::byte* end) {
  unsigned bits = 0;
  for (int k = 0; k < 16; ++k)
    if (at + k >= begin && at + k < end) bits |= unsigned{at[k] != std::byte{0}} << k;
  return bits;
}

/// A row of up to 1024 bytes at any address, in blocks of sixteen at multiples of sixteen.
class ByteRow {
 public:
  __device__ ByteRow(const Mask& mask, const std::byte* data, int nx)
      : shift(static_cast<int>(reinterpret_cast<std::uintptr_t>(data) % 16)),
        mask_(mask),
        first_(data - shift),
        nx_(nx) {}

  /// Which bytes of a block are sites, in bits. Blocks reach over the row's ends, but not over those of the array.
  template <bool kAligned>
  __device__ unsigned block(int j) const {
    const int begin = 16 * j - shift;  // element
    if (begin >= nx_) return 0;
    const std::byte* at = first_ + 16 * j;
    unsigned bits;
    if (kAligned || (at >= mask_.begin && at + 16 <= mask_.end))
      bits = nonzero_bytes(__ldcs(reinterpret_cast<const uint4*>(at)));
    else bits = nonzero_bytes_within(at, mask_.begin, mask_.end);
    if (mask_.is_zero_site()) bits = ~bits & 0xFFFFu;
    if constexpr (kAligned) return bits;
    if (begin < 0) bits &= 0xFFFFu << -begin;
    return nx_ - begin < 16 ? bits & ((1u << (nx_ - begin)) - 1) : bits;
  }

  const int shift;  ///< bytes from the first block's start to the row's

 private:
  const Mask& mask_;
  const std::byte* first_;
  const int nx_;
};

/// The word of this lane, of a row of up to 1024 bytes that are zero or not.
template <bool kAligned>
__device__ unsigned read_bytes(const Mask& mask, std::int64_t offset, int nx) {
  const ByteRow row(mask, mask.input.data + offset, nx);
  unsigned blocks[2], word = 0;
#pragma unroll
  for (int half = 0; half < 2; ++half) blocks[half] = row.block<kAligned>(half * 32 + lane_id());
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const unsigned low = __shfl_sync(kAllLanes, blocks[half], 2 * lane_id() % 32);
    const unsigned high = __shfl_sync(kAllLanes, blocks[half], (2 * lane_id() + 1) % 32);
    if (lane_id() / 16 == half) word = low | high << 16;
  }
  if constexpr (kAligned) return word;
  unsigned next = __shfl_down_sync(kAllLanes, word, 1);
  if (lane_id() == 31) next = row.block<kAligned>(64);
  return __funnelshift_r(word, next, static_cast<unsigned>(row.shift));
}

/// The word of this lane, of a row of up to 1024 elements that starts `offset` elements from the data.
template <Reading kReading>
__device__ unsigned read_word(const Mask& mask, std::int64_t offset, int nx) {
  if constexpr (kReading != Reading::elements) return read_bytes<kReading == Reading::aligned_bytes>(mask, offset, nx);
  unsigned word = 0;
  for (int x0 = 0; x0 < nx; x0 += 32) {
    const int x = x0 + lane_id();
    const unsigned bits = __ballot_sync(kAllLanes, x < nx && mask.is_site(offset + x));
    if (lane_id() == x0 / 32) word = bits;
  }
  return word;
}

/// The word with the steps from its ends to the nearest sites of the row outside, which lie `beyond` elements behind
/// the bits.
__device__ inline uint2 with_carries(unsigned word, int beyond = 0) {
  const int lane = lane_id();
  const unsigned filled = __ballot_sync(kAllLanes, word != 0);
  const unsigned before = filled & lanes_before(lane), behind = lane == 31 ? 0u : filled >> (lane + 1) << (lane + 1);
  const int from_before = before ? 31 - __clz(static_cast<int>(before)) : 0;
  const int from_behind = behind ? __ffs(static_cast<int>(behind)) - 1 : 0;
  const auto left_word = static_cast<int>(__shfl_sync(kAllLanes, word, from_before));
  const auto right_word = static_cast<int>(__shfl_sync(kAllLanes, word, from_behind));
  const int left = lane * 32 - (from_before * 32 + 31 - __clz(left_word)) + beyond;
  const int right = from_behind * 32 + __ffs(right_word) - 1 - (lane * 32 + 31) + beyond;
  return make_uint2(word, (before ? static_cast<unsigned>(left) : kNoneInWord) |
                              (behind ? static_cast<unsigned>(right) : kNoneInWord) << 16);
}

template <Reading kReading>
__global__ void __launch_bounds__(kVolumePackBlock, resident_blocks(kVolumePackBlock, kVolumePackBlocks))
    pack_volume(const __grid_constant__ Volume volume, const __grid_constant__ Mask mask) {
  __shared__ uint2 turned[32][33];
  const auto slabs = static_cast<unsigned>((volume.nz + 31) / 32), lines = static_cast<unsigned>(mask.input.extent[1]);
  const int lane = lane_id(), warp = static_cast<int>(threadIdx.x) / 32;
  const int z0 = static_cast<int>(blockIdx.x % slabs) * 32;
  const unsigned rest = blockIdx.x / slabs;
  const std::int64_t item = rest / lines;
  const auto y = static_cast<int>(rest % lines);
  const std::int64_t line = mask.input.items.offset(volume.first_item + item) + y * mask.input.stride[1];
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const int z = z0 + warp * 4 + r;
    const unsigned word = z < volume.nz ? read_word<kReading>(mask, line + z * mask.input.stride[0], volume.nx) : 0u;
    turned[warp * 4 + r][lane] = with_carries(word);
  }
  __syncthreads();
  for (int w = warp; w < volume.words; w += kVolumePackBlock / 32)
    volume.word[((item * volume.words + w) * volume.ny + y) * volume.depth + z0 + lane] = turned[lane][w];
}

}  // namespace fathom::grid::cuda
