// The words and changes of volume/labels.cuh for rows of up to 512 labels of one byte.
//
// Work mapping: block = one y, 32 z; warp = 4 rows, shared out to its lanes as in volume/short_rows.cuh. The rows
// beside along y and z are read, too: from the caches, but for those at the block's edges.
// Cost: as there; where rows begin anywhere, two loads for each sixteen labels.
#pragma once

#include "grid/cuda/volume/labels.cuh"
#include "grid/cuda/volume/short_rows.cuh"

namespace fathom::grid::cuda::volume {

/// What becomes of a warp's four rows of labels.
/// @tparam kAligned  whether sixteen can be read at once everywhere; else rows begin anywhere
template <int kTogether, bool kAligned>
class ShortLabels : public ShortLanes<kTogether> {
  using Lanes = ShortLanes<kTogether>;

 public:
  /// @param array  of the rows, and of what lies beside them
  /// @param kept   of the row above the first one, if that was packed earlier; else empty
  __device__ ShortLabels(const LabelRows<std::uint8_t>& rows, const MemoryRange& array, const MemoryRange& kept)
      : rows_(rows), array_(array), kept_(kept), are_inside_(!kAligned && !kept.begin && lie_inside()) {}

  /// Of this lane's word of a round; of rows that are not there, as of label 0. Rounds come one after the other.
  __device__ RowChanges changes(int round) {
    unsigned along_x[Lanes::kLoadsOfRound], along_y[Lanes::kLoadsOfRound], along_z[Lanes::kLoadsOfRound],
        background[Lanes::kLoadsOfRound];
#pragma unroll
    for (int k = 0; k < Lanes::kLoadsOfRound; ++k) {
      const int load = round * Lanes::kLoadsOfRound + k, row = Lanes::row_of_load(load);
      const int column = Lanes::column(), columns = rows_.nx - column;
      const bool there = columns > 0 && row < rows_.count;
      const std::uint8_t* at = rows_.first + row * rows_.z_stride + column;
      const uint4 own = there ? sixteen(at, array_) : uint4{};
      if (kTogether > 1 || load == 0)  // else a load is a row, and this lane has had the one above
        last_ = there ? upper(at, row, column) : own;
      along_y[k] =
          there && rows_.has_neighbours ? nonzero_bytes(differing(own, sixteen(at - rows_.y_stride, array_))) : 0;
      along_z[k] = there ? nonzero_bytes(differing(own, last_)) : 0;
      last_ = own;
      background[k] = ~nonzero_bytes(own) & 0xFFFFu;
      const unsigned left = __shfl_up_sync(kAllLanes, own.w, 1);
      along_x[k] = nonzero_bytes(differing(own, one_on(own, column > 0 && there ? left : own.x << 24)));
      if (rows_.pins && there) along_x[k] |= background[k];
      if constexpr (!kAligned) {
        const unsigned in_row = first_bits(columns);
        along_x[k] &= in_row, along_y[k] &= in_row, along_z[k] &= in_row, background[k] |= ~in_row & 0xFFFFu;
      }
    }
    return {Lanes::gather(along_x), Lanes::gather(along_y), Lanes::gather(along_z), Lanes::gather(background)};
  }

 private:
  /// Of the row above one of the four; of that itself where there is none.
  __device__ uint4 upper(const std::uint8_t* at, int row, int column) const {
    const std::uint8_t* from = row > 0 ? at - rows_.z_stride : rows_.above ? rows_.above + column : at;
    return sixteen(from, row == 0 && kept_.begin ? kept_ : array_);
  }
  static __device__ uint4 at_multiple(const std::byte* at) { return __ldg(reinterpret_cast<const uint4*>(at)); }
  /// @param array  of which these labels are
  __device__ uint4 sixteen(const std::uint8_t* labels, const MemoryRange& array) const {
    const auto* at = reinterpret_cast<const std::byte*>(labels);
    if constexpr (kAligned) return at_multiple(at);
    const auto before = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(at) % 16);
    const std::byte *low = at - before, *high = low + 16;
    return are_inside_ ? sixteen_from(at_multiple(low), at_multiple(high), before)
                       : sixteen_from(sixteen_within<false>(low, array), sixteen_within<false>(high, array), before);
  }
  /// Whether all that is read lies in the array, with what fills up sixteens: of four rows, and of those beside them.
  __device__ bool lie_inside() const {
    const auto* first = reinterpret_cast<const std::byte*>(rows_.first);
    const std::int64_t to_last = (kLabelRows - 1) * rows_.z_stride, zero = 0;
    const std::int64_t beside = max(abs(rows_.y_stride), abs(rows_.z_stride));
    // From the last column on, there are up to 15 bytes to the end of its sixteen, and those of the next.
    return array_.holds(first + min(zero, to_last) - beside - 15, first + max(zero, to_last) + beside + rows_.nx + 31);
  }

  const LabelRows<std::uint8_t>& rows_;
  const MemoryRange &array_, &kept_;
  const bool are_inside_;
  uint4 last_;  ///< of the row that was looked at last, in the lane's columns
};

/// @param before  as pack_volume_labels() has it
/// @param array   the labels' memory
template <int kTogether, bool kAligned>
__global__ void __launch_bounds__(kVolumePackBlock, resident_blocks(kVolumePackBlock, kVolumeBytesBlocks))
    pack_short_labels(const __grid_constant__ Volume volume, const __grid_constant__ Input input,
                      const std::uint8_t* before, const __grid_constant__ MemoryRange array) {
  using Labels = ShortLabels<kTogether, kAligned>;
  __shared__ uint2 turned[2][32][Labels::kWords + 1];
  volume.clear_counter(0);
  const LabelSlab slab(volume);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const LabelRows<std::uint8_t> rows(volume, input, before, slab, warp * kLabelRows);
  MemoryRange kept;
  if (before && slab.z0 + warp == 0) {
    kept.begin = reinterpret_cast<const std::byte*>(before);
    kept.end = kept.begin + std::int64_t{volume.ny} * volume.nx;
  }
  Labels labels(rows, array, kept);
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

}  // namespace fathom::grid::cuda::volume
