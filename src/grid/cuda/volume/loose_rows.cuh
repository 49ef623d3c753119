// The words and carries of volume/words.cuh for rows of up to 1024 bytes at any address, that are zero or not.
//
// Work mapping: block = one y, 32 z; warp = 4 rows, of which a load takes kTogether at once, so that few lanes are
// idle: lane = sixteen bytes at a multiple of sixteen, or twice as many. What a row has behind those of its lanes is
// loaded for the four rows at once, by eight lanes each. Bits are gathered to words, those of a load's rows together,
// and these shifted to where the row begins. The block turns them in shared memory. Cost: as there.
#pragma once

#include "core/cuda/early_launch.cuh"
#include "grid/cuda/volume/words.cuh"

namespace fathom::grid::cuda::volume {

/// Bytes of a row that lanes and the rest hold together, wherever it begins.
constexpr int loose_bytes(int together, int blocks) { return (32 / together * blocks + 8) * 16 - 15; }

/// A warp's four rows.
/// @tparam kTogether  rows that a load takes
/// @tparam kBlocks    sixteens of a lane; of rows that are loaded one by one 2, or else 1
template <int kTogether, int kBlocks>
class LooseRows {
 public:
  static constexpr int kLanes = 32 / kTogether;  ///< of a row: they have its sixteens, and then its words
  static constexpr int kLoads = 4 / kTogether;

  /// @param first  element of the first row
  /// @param rows   how many there are, from four on all
  __device__ LooseRows(const Mask& mask, const std::byte* first, std::int64_t stride, int rows, int nx)
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

template <int kTogether, int kBlocks>
__global__ void __launch_bounds__(kVolumePackBlock, resident_blocks(kVolumePackBlock, kBlocks == 1 ? 6 : 4))
    pack_loose_rows(const __grid_constant__ Volume volume, const __grid_constant__ Mask mask) {
  using Rows = LooseRows<kTogether, kBlocks>;
  __shared__ uint2 turned[32][Rows::kLanes + 1];
  fathom::cuda::let_next_begin();  // of those with unequal spacings
  volume.clear_counter(0);
  const auto lines = static_cast<unsigned>(mask.input.extent[1]);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = lane_id(), z0 = static_cast<int>(blockIdx.y) * 32;
  const std::int64_t item = blockIdx.x / lines;
  const auto y = static_cast<int>(blockIdx.x % lines);
  const int z = z0 + warp * 4;
  const Rows rows(mask,
                  mask.input.data + mask.input.items.offset(volume.first_item + item) + y * mask.input.stride[1] +
                      z * mask.input.stride[0],
                  mask.input.stride[0], volume.nz - z, volume.nx);
  const unsigned flip = mask.is_zero_site() ? 0xFFFFFFFFu : 0, columns = first_bits(volume.nx - Rows::word() * 32);
#pragma unroll
  for (int load = 0; load < Rows::kLoads; ++load) {
    const int row = Rows::row(load);
    const unsigned there = z + row < volume.nz ? columns : 0;
    turned[warp * 4 + row][Rows::word()] = with_carries((rows.nonzero(load) ^ flip) & there, 0, Rows::of_row());
  }
  __syncthreads();
  std::int64_t to = ((item * volume.words + warp) * volume.ny + y) * volume.depth + z0 + lane;
  const std::int64_t step = std::int64_t{kVolumePackBlock / 32} * volume.ny * volume.depth;
  const int words = z0 + lane < padded_depth(volume.nz) ? volume.words : 0;
  for (int w = warp; w < words; w += kVolumePackBlock / 32, to += step) volume.word[to] = turned[lane][w];
  fathom::cuda::wait_for_last();  // tables of near sites may be filled meanwhile
}

}  // namespace fathom::grid::cuda::volume
