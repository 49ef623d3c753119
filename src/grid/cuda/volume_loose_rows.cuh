// The words and carries of volume_words.cuh for rows of up to 1024 bytes at any address, that are zero or not.
//
// Work mapping: block = one y, 32 z; warp = 4 rows, lane = sixteen bytes at a multiple of sixteen, or twice as many.
// What a row has behind those of all lanes is loaded for the four rows at once, by eight lanes each. Bits are gathered
// to words, and these shifted to where the row begins. The block turns them in shared memory.
// Cost: as there.
#pragma once

#include "grid/cuda/volume_words.cuh"

namespace fathom::grid::cuda {

/// Sixteens of a lane that hold a row, but for its rest; 0: rows are too long.
inline int loose_blocks(int nx) { return nx <= 640 - 15 ? 1 : nx <= kSegment ? 2 : 0; }

/// A warp's four rows.
template <int kBlocks>
class LooseRows {
 public:
  /// @param first  element of the first row
  /// @param rows   how many there are, from four on all
  __device__ LooseRows(const Mask& mask, const std::byte* first, std::int64_t stride, int rows, int nx)
      : shift_(static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(first))), step_(static_cast<unsigned>(stride)) {
    const std::byte* row = first + lane_id() / 8 * stride;
    const bool reaches_out = lane_id() / 8 < rows && (row - 15 < mask.begin || row + nx + 15 > mask.end);
    if (!__any_sync(kAllLanes, reaches_out)) {  // all sixteens are of the array
      load(first, stride, rows, nx, [](const std::byte* at) { return __ldcs(reinterpret_cast<const uint4*>(at)); });
    } else {
      load(first, stride, rows, nx, [&](const std::byte* at) { return load_within(at, mask.begin, mask.end); });
    }
    rest_bits_ = nonzero_bytes(rest_);
    rest_bits_ |= __shfl_down_sync(kAllLanes, rest_bits_, 1) << 16;
  }

  /// This lane's word of a row: which elements are not 0. Behind the row, whatever.
  __device__ unsigned nonzero(int r) const {
    unsigned sixteens = nonzero_bytes(loaded_[r][0]);
    if constexpr (kBlocks == 2) sixteens |= nonzero_bytes(loaded_[r][1]) << 16;
    const int lane = lane_id();
    const unsigned low = __shfl_sync(kAllLanes, sixteens, 2 * lane % 32);
    const unsigned high = __shfl_sync(kAllLanes, sixteens, (2 * lane + 1) % 32);
    const unsigned rest = __shfl_sync(kAllLanes, rest_bits_, r * 8 + (kBlocks == 1 ? 2 * lane % 8 : 0));
    const unsigned word = lane < 16      ? __byte_perm(low, high, 0x5410)
                          : kBlocks == 2 ? __byte_perm(low, high, 0x7632)
                                         : rest;
    unsigned next = __shfl_down_sync(kAllLanes, word, 1);
    if (kBlocks == 2 && lane == 31) next = rest;
    return __funnelshift_r(word, next, shift(r));
  }

 private:
  static constexpr int kRows = 4;

  /// Bytes from a multiple of sixteen to a row's first element.
  __device__ unsigned shift(int r) const { return (shift_ + static_cast<unsigned>(r) * step_) % 16; }

  template <class Load>
  __device__ void load(const std::byte* first, std::int64_t stride, int rows, int nx, Load&& load_sixteen) {
    const auto sixteen = [&](int r, int block) {
      const int from = 16 * block - static_cast<int>(shift(r));  // elements behind the row's first
      return r < rows && from < nx ? load_sixteen(first + r * stride + from) : uint4{};
    };
#pragma unroll
    for (int r = 0; r < kRows; ++r)
#pragma unroll
      for (int k = 0; k < kBlocks; ++k) loaded_[r][k] = sixteen(r, k * 32 + lane_id());
    rest_ = sixteen(lane_id() / 8, kBlocks * 32 + lane_id() % 8);
  }

  const unsigned shift_, step_;
  uint4 loaded_[kRows][kBlocks], rest_;
  unsigned rest_bits_;
};

template <int kBlocks>
__global__ void __launch_bounds__(kVolumePackBlock, resident_blocks(kVolumePackBlock, kBlocks == 1 ? 6 : 4))
    pack_loose_rows(const __grid_constant__ Volume volume, const __grid_constant__ Mask mask) {
  __shared__ uint2 turned[32][33];
  volume.clear_counter(0);
  const auto lines = static_cast<unsigned>(mask.input.extent[1]);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = lane_id(), z0 = static_cast<int>(blockIdx.y) * 32;
  const std::int64_t item = blockIdx.x / lines;
  const auto y = static_cast<int>(blockIdx.x % lines);
  const int z = z0 + warp * 4, columns = volume.nx - lane * 32;
  const LooseRows<kBlocks> rows(mask,
                                mask.input.data + mask.input.items.offset(volume.first_item + item) +
                                    y * mask.input.stride[1] + z * mask.input.stride[0],
                                mask.input.stride[0], volume.nz - z, volume.nx);
  const unsigned flip = mask.is_zero_site() ? 0xFFFFFFFFu : 0;
#pragma unroll
  for (int r = 0; r < 4; ++r)
    turned[warp * 4 + r][lane] = with_carries((rows.nonzero(r) ^ flip) & (z + r < volume.nz ? first_bits(columns) : 0));
  __syncthreads();
  if (z0 + lane >= padded_depth(volume.nz)) return;
  std::int64_t to = ((item * volume.words + warp) * volume.ny + y) * volume.depth + z0 + lane;
  const std::int64_t step = std::int64_t{kVolumePackBlock / 32} * volume.ny * volume.depth;
  for (int w = warp; w < volume.words; w += kVolumePackBlock / 32, to += step) volume.word[to] = turned[lane][w];
}

}  // namespace fathom::grid::cuda
