// The words and changes of volume_labels.cuh for rows of up to 512 labels of one byte at multiples of sixteen.
//
// Work mapping: block = one y, 32 z; warp = 4 rows, shared out to its lanes as in volume_short_rows.cuh. The rows
// beside along y and z are read, too: from the caches, but for those at the block's edges.
// Cost: as there.
#pragma once

#include "grid/cuda/volume_labels.cuh"
#include "grid/cuda/volume_short_rows.cuh"

namespace fathom::grid::cuda {

/// What becomes of a warp's four rows of labels.
template <int kTogether>
class ShortLabels : public ShortLanes<kTogether> {
  using Lanes = ShortLanes<kTogether>;

 public:
  __device__ explicit ShortLabels(const LabelRows<std::uint8_t>& rows) : rows_(rows) {}

  /// Of this lane's word of a round; of rows that are not there, as of label 0.
  __device__ RowChanges changes(int round) const {
    unsigned along_x[Lanes::kLoadsOfRound], along_y[Lanes::kLoadsOfRound], along_z[Lanes::kLoadsOfRound],
        background[Lanes::kLoadsOfRound];
#pragma unroll
    for (int k = 0; k < Lanes::kLoadsOfRound; ++k) {
      const int column = Lanes::column(), row = Lanes::row_of_load(round * Lanes::kLoadsOfRound + k);
      const bool there = column < rows_.nx && row<rows_.count, has_upper = row> 0 || rows_.above;
      const std::uint8_t* at = rows_.first + row * rows_.z_stride + column;
      const std::uint8_t* upper = row > 0 ? at - rows_.z_stride : rows_.above + column;
      const uint4 own = there ? sixteen(at) : uint4{};
      along_y[k] = there && rows_.has_neighbours ? nonzero_bytes(differing(own, sixteen(at - rows_.y_stride))) : 0;
      along_z[k] = there && has_upper ? nonzero_bytes(differing(own, sixteen(upper))) : 0;
      background[k] = ~nonzero_bytes(own) & 0xFFFFu;
      const unsigned left = __shfl_up_sync(kAllLanes, own.w, 1);
      along_x[k] = nonzero_bytes(differing(own, one_on(own, column > 0 && there ? left : own.x << 24)));
      if (rows_.pins && there) along_x[k] |= background[k];
    }
    return {Lanes::gather(along_x), Lanes::gather(along_y), Lanes::gather(along_z), Lanes::gather(background)};
  }

 private:
  static __device__ uint4 sixteen(const std::uint8_t* at) { return __ldg(reinterpret_cast<const uint4*>(at)); }

  const LabelRows<std::uint8_t>& rows_;
};

template <int kTogether>
__global__ void __launch_bounds__(kVolumePackBlock, resident_blocks(kVolumePackBlock, kVolumeBytesBlocks))
    pack_short_labels(const __grid_constant__ Volume volume, const __grid_constant__ Input input,
                      const std::uint8_t* before) {
  using Labels = ShortLabels<kTogether>;
  __shared__ uint2 turned[2][32][Labels::kWords + 1];
  volume.clear_counter(0);
  const LabelSlab slab(volume);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const LabelRows<std::uint8_t> rows(volume, input, before, slab, warp * kLabelRows);
  const Labels labels(rows);
#pragma unroll
  for (int round = 0; round < Labels::kRounds; ++round) {
    const RowChanges own = labels.changes(round);
    const int row = Labels::row(round), word = Labels::word();
    const uint2 along_x = run_word(volume, own.along_x, word == Labels::kWords - 1, Labels::of_row());
    if (!Labels::has_word()) continue;
    turned[0][warp * kLabelRows + row][word] = along_x;
    turned[1][warp * kLabelRows + row][word] = make_uint2(own.along_z, own.background);
    if (row < rows.count && word < volume.words) *slab.along_y(volume, word, warp * kLabelRows + row) = own.along_y;
  }
  __syncthreads();
  slab.write(volume, turned);
}

}  // namespace fathom::grid::cuda
