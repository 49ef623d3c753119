// The words and carries of all rows along x (see volume/volume.cuh).
//
// Work mapping: block = one y, 32 z; warp = 4 rows. Rows of up to 1024 bytes that are zero or not, at any address: a load
// takes kTogether rows at once, so that few lanes are idle: lane = sixteen bytes at a multiple of sixteen, or twice as
// many. What a row has behind those of its lanes is loaded for the four rows at once, by eight lanes each. Bits are
// gathered to words, those of a load's rows together, and these shifted to where the row begins. Of anything else, lane =
// element of one word after the other. The block turns its words in shared memory, so that the pass along z reads its
// lines coalesced.
// Cost: every element is read once, 1/4 byte is written.
#pragma once

#include "core/cuda/early_launch.cuh"
#include "grid/cuda/input/mask.cuh"
#include "grid/cuda/volume/bytes_within.cuh"
#include "grid/cuda/volume/volume.cuh"

namespace fathom::grid::cuda::volume {

inline constexpr int kSegment = 1024;  ///< columns of a row that have a lane for each word

/// What a block packs: 32 rows, one behind the other along z.
struct Slab {
  std::int64_t item;
  std::int32_t y, z0;

  __device__ explicit Slab(const Volume& volume)
      : item(blockIdx.x / static_cast<unsigned>(volume.ny)),
        y(static_cast<std::int32_t>(blockIdx.x % static_cast<unsigned>(volume.ny))),
        z0(static_cast<std::int32_t>(blockIdx.y) * 32) {}
  static dim3 blocks(const Volume& volume, std::int64_t items) {
    return {static_cast<unsigned>(items * volume.ny), static_cast<unsigned>((volume.nz + 31) / 32)};
  }

  /// Of the input, elements to the slab's first row.
  __device__ std::int64_t offset(const Volume& volume, const Input& input) const {
    return input.items.offset(volume.first_item + item) + y * input.stride[1] + z0 * input.stride[0];
  }
  /// Words of all rows. By all threads of the block, after a barrier.
  /// @param turned  [row][word], from word `first` on
  template <int kWords>
  __device__ void write(const Volume& volume, uint2* to, const uint2 (&turned)[32][kWords], int first = 0) const {
    if (z0 + lane_id() >= padded_depth(volume.nz)) return;
    const int words = min(volume.words - first, 32);
    for (int w = static_cast<int>(threadIdx.x) / 32; w < words; w += kVolumePackBlock / 32)
      to[((item * volume.words + first + w) * volume.ny + y) * volume.depth + z0 + lane_id()] = turned[lane_id()][w];
  }
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

/// Bytes of a row that lanes and the rest hold together, wherever it begins.
constexpr int bytes_of_row(int together, int blocks) { return (32 / together * blocks + 8) * 16 - 15; }

/// A warp's four rows.
/// @tparam kTogether  rows that a load takes
/// @tparam kBlocks    sixteens of a lane; of rows that are loaded one by one 2, or else 1
template <int kTogether, int kBlocks>
class ByteRows {
 public:
  static constexpr int kLanes = 32 / kTogether;  ///< of a row: they have its sixteens, and then its words
  static constexpr int kLoads = 4 / kTogether;

  /// @param first  element of the first row
  /// @param rows   how many there are, from four on all
  __device__ ByteRows(const Mask& mask, const std::byte* first, std::int64_t stride, int rows, int nx)
      : shift_(static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(first))), step_(static_cast<unsigned>(stride)) {
    const std::byte* row = first + lane_id() / 8 * stride;
    const bool reaches_out = lane_id() / 8 < rows && !mask.array.holds(row - 15, row + nx + 15);
    if (!__any_sync(kAllLanes, reaches_out)) {  // all sixteens are of the array
      load_all(first, stride, rows, nx, [](const std::byte* at) { return __ldcs(reinterpret_cast<const uint4*>(at)); });
    } else {
      load_all(first, stride, rows, nx, [&](const std::byte* at) { return sixteen_within(at, mask.array); });
    }
    rest_bits_ = nonzero_bytes(rest_);
    rest_bits_ |= __shfl_down_sync(kAllLanes, rest_bits_, 1) << 16;
  }

  /// Which of the four rows this lane has a word of, from a load, and which word.
  static __device__ int row(int load) { return load * kTogether + lane_id() / kLanes; }
  static __device__ int word() { return lane_id() % kLanes; }
  /// The lanes with the words of the same row.
  static __device__ unsigned of_row() { return first_bits(kLanes) << (lane_id() / kLanes * kLanes); }

  /// This lane's word of row(load): which elements are not 0. Behind the row, whatever.
  __device__ unsigned nonzero(int load) const {
    unsigned sixteens = nonzero_bytes(loaded_[load][0]);
    if constexpr (kBlocks == 2) sixteens |= nonzero_bytes(loaded_[load][1]) << 16;
    const int own = lane_id() / kLanes * kLanes, even = 2 * word() % kLanes;
    const unsigned low = __shfl_sync(kAllLanes, sixteens, own + even);
    const unsigned high = __shfl_sync(kAllLanes, sixteens, own + even + 1);
    const unsigned rest = __shfl_sync(kAllLanes, rest_bits_, row(load) * 8 + (kBlocks == 1 ? even % 8 : 0));
    const unsigned bits = word() < kLanes / 2 ? __byte_perm(low, high, 0x5410)
                          : kBlocks == 2      ? __byte_perm(low, high, 0x7632)
                                              : rest;
    unsigned next = __shfl_down_sync(kAllLanes, bits, 1);
    if (kBlocks == 2 && lane_id() == 31) next = rest;
    return __funnelshift_r(bits, next, shift(row(load)));
  }

 private:
  /// Bytes from a multiple of sixteen to a row's first element.
  __device__ unsigned shift(int r) const { return (shift_ + static_cast<unsigned>(r) * step_) % 16; }

  template <class Load>
  __device__ void load_all(const std::byte* first, std::int64_t stride, int rows, int nx, Load&& load_sixteen) {
    const auto sixteen = [&](int r, int block) {
      const int from = 16 * block - static_cast<int>(shift(r));  // elements behind the row's first
      return r < rows && from < nx ? load_sixteen(first + r * stride + from) : uint4{};
    };
#pragma unroll
    for (int load = 0; load < kLoads; ++load)
#pragma unroll
      for (int k = 0; k < kBlocks; ++k) loaded_[load][k] = sixteen(row(load), k * 32 + word());
    rest_ = sixteen(lane_id() / 8, kBlocks * kLanes + lane_id() % 8);
  }

  const unsigned shift_, step_;
  uint4 loaded_[kLoads][kBlocks], rest_;
  unsigned rest_bits_;
};

/// For rows of bytes that are zero or not, of up to bytes_of_row().
template <int kTogether, int kBlocks>
__global__ void __launch_bounds__(kVolumePackBlock, resident_blocks(kVolumePackBlock, kBlocks == 1 ? 6 : 4))
    pack_bytes(const __grid_constant__ Volume volume, const __grid_constant__ Mask mask) {
  using Rows = ByteRows<kTogether, kBlocks>;
  __shared__ uint2 turned[32][Rows::kLanes + 1];
  fathom::cuda::let_next_begin();  // of those with any spacings
  volume.clear_counter(0);
  const Slab slab(volume);
  const int first = static_cast<int>(threadIdx.x) / 32 * 4, z = slab.z0 + first;
  const std::int64_t stride = mask.input.stride[0];
  const Rows rows(mask, mask.input.data + slab.offset(volume, mask.input) + first * stride, stride, volume.nz - z,
                  volume.nx);
  const unsigned flip = mask.is_zero_site() ? 0xFFFFFFFFu : 0, columns = first_bits(volume.nx - Rows::word() * 32);
#pragma unroll
  for (int load = 0; load < Rows::kLoads; ++load) {
    const int row = Rows::row(load);
    const unsigned there = z + row < volume.nz ? columns : 0;
    turned[first + row][Rows::word()] = with_carries((rows.nonzero(load) ^ flip) & there, 0, Rows::of_row());
  }
  __syncthreads();
  slab.write(volume, volume.word, turned);
  fathom::cuda::wait_for_last();  // tables of near sites may be filled meanwhile
}

/// For rows of elements of any kind. @tparam kSegments  of a row: a lane has a word of each
template <int kSegments>
__global__ void __launch_bounds__(kVolumePackBlock, resident_blocks(kVolumePackBlock, kVolumePackBlocks))
    pack_elements(const __grid_constant__ Volume volume, const __grid_constant__ Mask mask) {
  __shared__ uint2 turned[kSegments][32][33];
  fathom::cuda::let_next_begin();  // of those with any spacings
  volume.clear_counter(0);
  const Slab slab(volume);
  const int first = static_cast<int>(threadIdx.x) / 32 * 4, rows = volume.nz - slab.z0;
  const std::int64_t offset = slab.offset(volume, mask.input);
  for (int row = first; row < first + 4; ++row) {
    const std::int64_t of_row = offset + row * mask.input.stride[0];
    unsigned word[kSegments] = {};
#pragma unroll
    for (int s = 0; s < kSegments; ++s)
      for (int w = 0; w < 32 && s * kSegment + w * 32 < volume.nx; ++w) {
        const int x = s * kSegment + w * 32 + lane_id();
        const unsigned bits = __ballot_sync(kAllLanes, row < rows && x < volume.nx && mask.is_site(of_row + x));
        if (lane_id() == w) word[s] = bits;
      }
    uint2 carried[kSegments];
    with_carries(word, carried);
#pragma unroll
    for (int s = 0; s < kSegments; ++s) turned[s][row][lane_id()] = carried[s];
  }
  __syncthreads();
#pragma unroll
  for (int s = 0; s < kSegments; ++s) slab.write(volume, volume.word, turned[s], s * 32);
  fathom::cuda::wait_for_last();  // tables of near sites may be filled meanwhile
}

}  // namespace fathom::grid::cuda::volume
