// The words and carries of volume/words.cuh for rows of up to 512 bytes at multiples of sixteen, that are zero or not.
//
// Work mapping: block = one y, 32 z; warp = 4 rows, of which a load takes kTogether at once, so that no lane is idle:
// sixteen bytes to a lane. As two of these make a word, the words of two loads fill a warp and get their carries
// together. The block turns them in shared memory.
// Cost: as there.
#pragma once

#include "core/cuda/early_launch.cuh"
#include "grid/cuda/volume/words.cuh"

namespace fathom::grid::cuda::volume {

/// Rows that a warp reads at once; 0: rows are too long.
inline int rows_together(int nx) { return nx <= 128 ? 4 : nx <= 256 ? 2 : nx <= 512 ? 1 : 0; }

/// Which rows and words the lanes of a warp have of four rows: of sixteen bytes each, of which a load takes kTogether
/// rows, and then of a word each, of which a round has all that the warp has room for.
template <int kTogether>
struct ShortLanes {
  static constexpr int kWords = 16 / kTogether;  ///< of a row
  static constexpr int kRounds = kTogether == 1 ? 2 : 1;
  static constexpr int kLoadsOfRound = kTogether == 4 ? 1 : 2;

  /// Of a load: its rows' number in the four, and this lane's first column.
  static __device__ int row_of_load(int load) { return load * kTogether + lane_id() / kLanes; }
  static __device__ int column() { return lane_id() % kLanes * 16; }

  /// Which of the four rows this lane has a word of in a round, number word().
  static __device__ int row(int round) { return round * kRowsOfRound + lane_id() / kWords; }
  static __device__ int word() { return lane_id() % kWords; }
  static __device__ bool has_word() { return lane_id() / kWords < kRowsOfRound; }
  /// The lanes with the words of the same row.
  static __device__ unsigned of_row() { return ((1u << kWords) - 1) << (lane_id() / kWords * kWords); }

  /// This lane's word from the bits of sixteen bytes of each of a round's loads.
  static __device__ unsigned gather(const unsigned (&sixteen)[kLoadsOfRound]) {
    unsigned both = sixteen[0];
    if constexpr (kLoadsOfRound == 2) both |= sixteen[1] << 16;
    const int row = lane_id() / kWords, from = row % kTogether * kLanes + word() * 2;
    const unsigned even = __shfl_sync(kAllLanes, both, from), odd = __shfl_sync(kAllLanes, both, from + 1);
    return __byte_perm(even, odd, row / kTogether == 0 ? 0x5410 : 0x7632);
  }

 private:
  static constexpr int kLanes = 32 / kTogether, kRowsOfRound = 4 / kRounds;
};

/// A warp's four rows.
template <int kTogether>
class ShortRows : public ShortLanes<kTogether> {
  using Lanes = ShortLanes<kTogether>;

 public:
  /// @param first  element of the first row
  /// @param rows   how many there are, from four on all
  __device__ ShortRows(const std::byte* first, std::int64_t stride, int rows, int nx)
      : rows_(rows), columns_(nx - 32 * Lanes::word()) {
    const int row = Lanes::row_of_load(0), column = Lanes::column();
    const std::byte* from = first + row * stride + column;
#pragma unroll
    for (int k = 0; k < kLoads; ++k, from += kTogether * stride) {
      const bool there = column < nx && k * kTogether + row < rows;
      loaded_[k] = there ? __ldcs(reinterpret_cast<const uint4*>(from)) : uint4{};
    }
  }

  /// This lane's word of a round, with carries; of rows that are not there, without a site.
  __device__ uint2 carried(int round, bool zero_is_site) const {
    unsigned nonzero[Lanes::kLoadsOfRound];
#pragma unroll
    for (int k = 0; k < Lanes::kLoadsOfRound; ++k)
      nonzero[k] = nonzero_bytes(loaded_[round * Lanes::kLoadsOfRound + k]);
    unsigned bits = Lanes::gather(nonzero);
    if (zero_is_site) bits = ~bits;
    const int columns = Lanes::row(round) < rows_ ? columns_ : 0;
    if (columns < 32) bits &= first_bits(columns);
    return with_carries(bits, 0, Lanes::of_row());
  }

 private:
  static constexpr int kLoads = 4 / kTogether;

  const int rows_, columns_;  ///< the latter of a row from this lane's word on
  uint4 loaded_[kLoads];
};

/// @tparam kSides  2: of a signed field, both sides'
/// @param other    the other side, whose sites are the elements that are none here
template <int kTogether, int kSides>
__global__ void __launch_bounds__(kVolumePackBlock, resident_blocks(kVolumePackBlock, kVolumePackBlocks))
    pack_short_rows(const __grid_constant__ Volume volume, const __grid_constant__ Volume other,
                    const __grid_constant__ Mask mask) {
  using Rows = ShortRows<kTogether>;
  __shared__ uint2 turned[kSides][32][Rows::kWords + 1];
  fathom::cuda::let_next_begin();  // of those with unequal spacings
  volume.clear_counter(0);
  if constexpr (kSides == 2) other.clear_counter(0);
  const auto lines = static_cast<unsigned>(mask.input.extent[1]);
  const int warp = static_cast<int>(threadIdx.x) / 32, z0 = static_cast<int>(blockIdx.y) * 32, z = z0 + warp * 4;
  const std::int64_t item = blockIdx.x / lines;
  const auto y = static_cast<int>(blockIdx.x % lines);
  const std::byte* line = mask.input.data + mask.input.items.offset(volume.first_item + item) +
                          y * mask.input.stride[1] + z * mask.input.stride[0];
  const Rows rows(line, mask.input.stride[0], volume.nz - z, volume.nx);
#pragma unroll
  for (int round = 0; round < Rows::kRounds; ++round) {
#pragma unroll
    for (int side = 0; side < kSides; ++side) {
      const uint2 word = rows.carried(round, mask.is_zero_site() != (side == 1));
      if (Rows::has_word()) turned[side][warp * 4 + Rows::row(round)][Rows::word()] = word;
    }
  }
  __syncthreads();
  std::int64_t to = ((item * volume.words + warp) * volume.ny + y) * volume.depth + z0 + lane_id();
  const std::int64_t step = std::int64_t{kVolumePackBlock / 32} * volume.ny * volume.depth;
  const int words = z0 + lane_id() < padded_depth(volume.nz) ? volume.words : 0;
  for (int w = warp; w < words; w += kVolumePackBlock / 32, to += step) {
    volume.word[to] = turned[0][lane_id()][w];
    if constexpr (kSides == 2) other.word[to] = turned[1][lane_id()][w];
  }
  fathom::cuda::wait_for_last();  // tables of near sites may be filled meanwhile
}

}  // namespace fathom::grid::cuda::volume
