// The words and carries of all rows along x (see volume/volume.cuh).
//
// Work mapping: block = one y, 32 z; warp = 4 rows, lane = word once they are packed, or one word of each segment of
// 1024 columns. The block turns 32 × 32 words in shared memory, so that the pass along z reads its lines coalesced.
// Cost: every element is read once, 1/4 byte is written.
#pragma once

#include "core/cuda/early_launch.cuh"
#include "grid/cuda/input/mask.cuh"
#include "grid/cuda/volume/bytes_within.cuh"
#include "grid/cuda/volume/volume.cuh"

namespace fathom::grid::cuda {

/// A row of bytes at any address, in blocks of sixteen at multiples of sixteen. Blocks reach over the row's ends; those
/// that reach over the array's are read byte by byte.
template <bool kAligned>
class ByteRow {
 public:
  __device__ ByteRow(const Mask& mask, const std::byte* data, int nx)
      : shift(kAligned ? 0 : static_cast<int>(reinterpret_cast<std::uintptr_t>(data) % 16)),
        mask_(mask),
        first_(data - shift),
        nx_(nx),
        inside_(kAligned || mask.array.holds(first_, data + nx + 15)) {}

  /// 0 behind the row.
  __device__ uint4 load(int j) const {
    if (16 * j - shift >= nx_) return {};
    const std::byte* at = first_ + 16 * j;
    return inside_ ? __ldcs(reinterpret_cast<const uint4*>(at)) : sixteen_within(at, mask_.array);
  }
  /// Sites among a word's 32 elements, of which those behind the row are none.
  /// @param nonzero  which of them are not 0; behind the row, whatever
  __device__ unsigned sites(unsigned nonzero, int first) const {
    const unsigned sites = mask_.is_zero_site() ? ~nonzero : nonzero;
    return sites & first_bits(nx_ - first);
  }

  const int shift;  ///< bytes from the first block's start to the row's

 private:
  const Mask& mask_;
  const std::byte* first_;
  const int nx_;
  const bool inside_;  ///< whether the blocks are, of the array
};

inline constexpr int kSegment = 1024;  ///< columns of a row that have a lane for each word
/// Blocks of a lane that hold a row.
inline int row_blocks(int nx) { return nx <= kSegment / 2 ? 1 : nx <= kSegment ? 2 : 4; }

/// The words of a lane, one of each segment of a row of up to kBlocks · 512 bytes that are zero or not. All that is
/// read is asked for before any of it is looked at, here and in the rows beside.
template <Reading kReading, int kBlocks>
class RowWords {
 public:
  static constexpr int kWords = (kBlocks + 1) / 2;

  /// @param offset  elements from the data to the row's first
  /// @param nx      0: there is no row
  __device__ RowWords(const Mask& mask, std::int64_t offset, int nx) : row_(mask, mask.input.data + offset, nx) {
#pragma unroll
    for (int k = 0; k < kBlocks; ++k) loaded_[k] = row_.load(k * 32 + lane_id());
    if (!kAligned && lane_id() == kRestLane) rest_ = row_.load(kBlocks * 32);
  }

  __device__ void get(unsigned (&word)[kWords]) const {
#pragma unroll
    for (int s = 0; s < kWords; ++s) word[s] = 0;
#pragma unroll
    for (int k = 0; k < kBlocks; ++k) {
      const unsigned block = nonzero_bytes(loaded_[k]);
      const unsigned low = __shfl_sync(kAllLanes, block, 2 * lane_id() % 32);
      const unsigned high = __shfl_sync(kAllLanes, block, (2 * lane_id() + 1) % 32);
      if (lane_id() / 16 == k % 2) word[k / 2] = low | high << 16;
    }
    if constexpr (!kAligned) shift_down(word);
#pragma unroll
    for (int s = 0; s < kWords; ++s) word[s] = row_.sites(word[s], s * kSegment + lane_id() * 32);
  }

 private:
  static constexpr bool kAligned = kReading == Reading::aligned_bytes;
  static constexpr int kRestLane = 31;  ///< which has the block behind the last

  /// Bit 0 of the first word becomes the row's first element.
  __device__ void shift_down(unsigned (&word)[kWords]) const {
    const unsigned rest = nonzero_bytes(rest_);
#pragma unroll
    for (int s = 0; s < kWords; ++s) {
      unsigned next = __shfl_down_sync(kAllLanes, word[s], 1);
      const unsigned behind = s + 1 < kWords ? __shfl_sync(kAllLanes, word[(s + 1) % kWords], 0) : rest;
      if (lane_id() == 31) next = behind;
      word[s] = __funnelshift_r(word[s], next, static_cast<unsigned>(row_.shift));
    }
  }

  const ByteRow<kAligned> row_;
  uint4 loaded_[kBlocks], rest_ = {};
};

/// The same of elements of any kind.
template <int kBlocks>
class RowWords<Reading::elements, kBlocks> {
 public:
  static constexpr int kWords = (kBlocks + 1) / 2;

  __device__ RowWords(const Mask& mask, std::int64_t offset, int nx) : mask_(mask), offset_(offset), nx_(nx) {}

  __device__ void get(unsigned (&word)[kWords]) const {
#pragma unroll
    for (int s = 0; s < kWords; ++s) {
      word[s] = 0;
      for (int w = 0; w < 32 && s * kSegment + w * 32 < nx_; ++w) {
        const int x = s * kSegment + w * 32 + lane_id();
        const unsigned bits = __ballot_sync(kAllLanes, x < nx_ && mask_.is_site(offset_ + x));
        if (lane_id() == w) word[s] = bits;
      }
    }
  }

 private:
  const Mask& mask_;
  const std::int64_t offset_;
  const int nx_;
};

/// The word with the steps from its ends to the nearest sites of the row outside, which lie `beyond` elements behind
/// the bits.
///
/// @param lanes  that hold the row
__device__ inline uint2 with_carries(unsigned word, int beyond = 0, unsigned lanes = kAllLanes) {
  const int lane = lane_id();
  const unsigned filled = __ballot_sync(kAllLanes, word != 0) & lanes;
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

/// The words of a lane, one of each segment of a row, with carries from all segments.
template <int kSegments>
__device__ void with_carries(const unsigned (&word)[kSegments], uint2 (&carried)[kSegments]) {
  const auto none = static_cast<int>(kNoneInWord);
  const int lane = lane_id();
  unsigned filled[kSegments];
  int from_before = none, from_behind = none;  // steps from the segment's ends to the nearest site outside
#pragma unroll
  for (int s = 0; s < kSegments; ++s) {
    carried[s] = with_carries(word[s]);
    filled[s] = __ballot_sync(kAllLanes, word[s] != 0);
    if (s > 0 && (filled[s] & lanes_before(lane)) == 0)
      carried[s].y = (carried[s].y & 0xFFFF0000u) | static_cast<unsigned>(min(from_before + lane * 32, none));
    if (s == kSegments - 1) break;
    const int last = filled[s] ? 31 - __clz(static_cast<int>(filled[s])) : 0;
    const auto last_word = static_cast<int>(__shfl_sync(kAllLanes, word[s], last));
    from_before = filled[s] ? kSegment - last * 32 - (31 - __clz(last_word)) : min(from_before + kSegment, none);
  }
#pragma unroll
  for (int s = kSegments - 1; s >= 0; --s) {
    if (s < kSegments - 1 && filled[s] >> lane <= 1)
      carried[s].y = (carried[s].y & 0xFFFFu) | static_cast<unsigned>(min(from_behind + (31 - lane) * 32, none)) << 16;
    if (s == 0) break;
    const int first = filled[s] ? __ffs(static_cast<int>(filled[s])) - 1 : 0;
    const auto first_word = static_cast<int>(__shfl_sync(kAllLanes, word[s], first));
    from_behind = filled[s] ? first * 32 + __ffs(first_word) : min(from_behind + kSegment, none);
  }
}

/// Blocks of packing per multiprocessor: where bytes are read, what is on its way takes registers.
constexpr int packing_blocks(Reading reading, int blocks) {
  const int of_bytes = blocks > 2 ? kVolumeBytesBlocks / 2 : kVolumeBytesBlocks;
  return resident_blocks(kVolumePackBlock, reading == Reading::elements ? kVolumePackBlocks : of_bytes);
}

template <Reading kReading, int kBlocks>
__global__ void __launch_bounds__(kVolumePackBlock, packing_blocks(kReading, kBlocks))
    pack_volume(const __grid_constant__ Volume volume, const __grid_constant__ Mask mask) {
  using Row = RowWords<kReading, kBlocks>;
  __shared__ uint2 turned[32][33];
  fathom::cuda::let_next_begin();  // of those with unequal spacings
  volume.clear_counter(0);
  const auto slabs = static_cast<unsigned>((volume.nz + 31) / 32), lines = static_cast<unsigned>(mask.input.extent[1]);
  const int lane = lane_id(), warp = static_cast<int>(threadIdx.x) / 32;
  const int z0 = static_cast<int>(blockIdx.x % slabs) * 32;
  const unsigned rest = blockIdx.x / slabs;
  const std::int64_t item = rest / lines;
  const auto y = static_cast<int>(rest % lines);
  const std::int64_t line = mask.input.items.offset(volume.first_item + item) + y * mask.input.stride[1];
  const auto row_of = [&](int r) {
    const int z = z0 + warp * 4 + r;
    return z < volume.nz ? Row(mask, line + z * mask.input.stride[0], volume.nx) : Row(mask, line, 0);
  };
  uint2 carried[4][Row::kWords];
  const auto finish = [&](int r, const Row& row) {
    unsigned word[Row::kWords];
    row.get(word);
    with_carries(word, carried[r]);
    if constexpr (Row::kWords == 1) turned[warp * 4 + r][lane] = carried[r][0];
  };
  constexpr bool kFour = kBlocks <= 2;
  if constexpr (kFour) {  // rows that are on their way together
    const Row a = row_of(0), b = row_of(1), c = row_of(2), d = row_of(3);
    finish(0, a), finish(1, b), finish(2, c), finish(3, d);
  } else {
#pragma unroll
    for (int r = 0; r < 4; r += 2) {
      const Row a = row_of(r), b = row_of(r + 1);
      finish(r, a), finish(r + 1, b);
    }
  }
#pragma unroll
  for (int s = 0; s < Row::kWords; ++s) {
    if (s > 0) __syncthreads();
    if constexpr (Row::kWords > 1)
#pragma unroll
      for (int r = 0; r < 4; ++r) turned[warp * 4 + r][lane] = carried[r][s];
    __syncthreads();
    const int words = z0 + lane < padded_depth(volume.nz) ? min(volume.words - s * 32, 32) : 0;
    for (int w = warp; w < words; w += kVolumePackBlock / 32)
      volume.word[((item * volume.words + s * 32 + w) * volume.ny + y) * volume.depth + z0 + lane] = turned[lane][w];
  }
  fathom::cuda::wait_for_last();  // tables of near sites may be filled meanwhile
}

}  // namespace fathom::grid::cuda
