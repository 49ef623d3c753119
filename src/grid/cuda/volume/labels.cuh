// Labels in the engine for volumes: each element looks for the nearest element of another label, label 0 for none.
//
// A pass along an axis need not know which of its sources are of the same label: those beyond the ends of the run of
// equal labels around an element are not nearer than these ends, whatever they are taken for. So the passes are those
// of a mask, from the distances to the ends of runs along x, and each takes the ends of the runs along its own axis as
// a minimum, element by element (volume/runs.cuh).
//
// Work mapping: block = one y, 32 z; warp = 4 rows, lane = element of one word after the other; of bytes in rows of up to
// 512, a load takes several rows at once, so that no lane is idle: sixteen labels to a lane. As two of these make a
// word, the words of two loads fill a warp and get their carries together. Of these the rows beside along y and z are
// read, too: from the caches, but for those at the block's edges.
//
// Cost: every label is read two and a quarter times, from the caches but once; 5/8 byte is written for it.
#pragma once

#include "grid/cuda/input/label.h"
#include "grid/cuda/volume/words.cuh"

namespace fathom::grid::cuda::volume {

inline constexpr int kLabelRows = 4;  ///< of a warp, one behind the other along z

/// What becomes of a row's labels, lane = word.
struct RowChanges {
  unsigned along_x = 0;  ///< between an element and the one before, and label 0 where that is pinned
  unsigned along_y = 0;
  unsigned along_z = 0;
  unsigned background = 0xFFFFFFFFu;  ///< label 0. What lies beyond the volume counts as such: it keeps no search busy
};

/// Where changes along y in word `w` of a row of a slab belong.
__device__ inline std::uint32_t* changes_along_y(const Volume& volume, const Slab& slab, int w, int row) {
  return volume.along_y + ((slab.item * volume.words + w) * volume.depth + slab.z0 + row) * volume.ny + slab.y;
}

__device__ inline uint4 differing(uint4 a, uint4 b) { return make_uint4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w); }
/// Bytes one place on; the first is the last of the word before.
__device__ inline uint4 one_on(uint4 v, unsigned before) {
  return make_uint4(__funnelshift_l(before, v.x, 8), __funnelshift_l(v.x, v.y, 8), __funnelshift_l(v.y, v.z, 8),
                    __funnelshift_l(v.z, v.w, 8));
}

/// Rows of labels and what lies beside them.
template <class T>
struct LabelRows {
  const T* first;  ///< of kLabelRows, as far as they are there
  const T* above;  ///< the row before the first along z; null: there is none
  std::int64_t z_stride, y_stride;
  int count, nx;
  bool has_neighbours;  ///< along y, one stride before
  bool pins;            ///< label 0 is marked along x

  /// Of a slab, from a row of it on. @param before  as pack_labels_of() has it
  __device__ LabelRows(const Volume& volume, const Input& input, const T* before, const Slab& slab, int row)
      : first(reinterpret_cast<const T*>(input.data) + slab.offset(volume, input) + row * input.stride[0]),
        above(slab.z0 + row > 0 ? first - input.stride[0]
              : before          ? before + std::int64_t{slab.y} * volume.nx
                                : nullptr),
        z_stride(input.stride[0]),
        y_stride(input.stride[1]),
        count(min(kLabelRows, volume.nz - slab.z0 - row)),
        nx(volume.nx),
        has_neighbours(slab.y > 0),
        pins(volume.pins && !volume.keeps_changes) {}

  /// Lane = element. Labels of all rows stay in registers; the one before comes from the lane beside. All that is read
  /// of a word's rows is asked for before any of it is looked at; in place of rows that are not there, the last one.
  __device__ void find(RowChanges* changes) const {
    const int lane = lane_id();
    T last[kLabelRows] = {};  // labels of the words before
    for (int x0 = 0; x0 < nx; x0 += 32) {
      const int x = min(x0 + lane, nx - 1);
      const bool there = x0 + lane < nx;
      T label[kLabelRows], neighbour[kLabelRows];
#pragma unroll
      for (int r = 0; r < kLabelRows; ++r) {
        const T* at = first + min(r, count - 1) * z_stride + x;
        label[r] = *at;
        neighbour[r] = has_neighbours ? *(at - y_stride) : T{};
      }
      T upper = above ? above[x] : T{};
#pragma unroll
      for (int r = 0; r < kLabelRows; ++r) {
        const T own = label[r];
        const auto left = static_cast<T>(__shfl_sync(kAllLanes, lane == 31 ? last[r] : own, (lane + 31) % 32));
        const RowChanges all = {
            .along_x = __ballot_sync(kAllLanes, there && ((pins && own == T{}) || (x > 0 && own != left))),
            .along_y = __ballot_sync(kAllLanes, there && has_neighbours && own != neighbour[r]),
            .along_z = __ballot_sync(kAllLanes, there && (r > 0 || above) && own != upper),
            .background = __ballot_sync(kAllLanes, !there || own == T{})};
        if (lane == x0 / 32 && r < count) changes[r] = all;
        upper = last[r] = own;
      }
    }
  }
};

/// A word of ends of runs along x, or of changes, with its carries.
///
/// @param along_x  changes
/// @param is_last  whether it is the row's last
/// @param lanes    that hold the row
__device__ inline uint2 run_word(const Volume& volume, unsigned along_x, bool is_last, unsigned lanes = kAllLanes) {
  if (volume.keeps_changes) {
    uint2 word = with_carries(along_x, 0, lanes);
    ++word.y;  // on the left, sites lie one element beyond
    return word;
  }
  const unsigned next = __shfl_down_sync(kAllLanes, along_x, 1);
  return with_carries(along_x | along_x >> 1 | (is_last ? 0 : next << 31), 1, lanes);
}

/// Words and carries of runs along x, changes along z and y, and label 0.
///
/// @param before  the plane above the first volume's, where that was packed earlier; null: there is none
template <class T>
__global__ void __launch_bounds__(kVolumePackBlock)
    pack_labels_of(const __grid_constant__ Volume volume, const __grid_constant__ Input input, const T* before) {
  __shared__ uint2 turned[2][32][33];
  volume.clear_counter(0);
  const Slab slab(volume);
  const int lane = lane_id(), warp = static_cast<int>(threadIdx.x) / 32;
  const LabelRows<T> rows(volume, input, before, slab, warp * kLabelRows);
  RowChanges changes[kLabelRows];
  if (rows.count > 0) rows.find(changes);
#pragma unroll
  for (int r = 0; r < kLabelRows; ++r) {
    const RowChanges& own = changes[r];
    const int row = warp * kLabelRows + r;
    if (r < rows.count && lane < volume.words) *changes_along_y(volume, slab, lane, row) = own.along_y;
    turned[0][row][lane] = run_word(volume, own.along_x, lane == 31);
    turned[1][row][lane] = make_uint2(own.along_z, own.background);
  }
  __syncthreads();
  slab.write(volume, volume.word, turned[0]);
  slab.write(volume, volume.along_z, turned[1]);
}

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

/// @param before  as pack_labels_of() has it
/// @param array   the labels' memory
template <int kTogether, bool kAligned>
__global__ void __launch_bounds__(kVolumePackBlock, resident_blocks(kVolumePackBlock, kVolumeBytesBlocks))
    pack_short_labels(const __grid_constant__ Volume volume, const __grid_constant__ Input input,
                      const std::uint8_t* before, const __grid_constant__ MemoryRange array) {
  using Labels = ShortLabels<kTogether, kAligned>;
  __shared__ uint2 turned[2][32][Labels::kWords + 1];
  volume.clear_counter(0);
  const Slab slab(volume);
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
    if (row < rows.count && word < volume.words)
      *changes_along_y(volume, slab, word, warp * kLabelRows + row) = own.along_y;
  }
  __syncthreads();
  slab.write(volume, volume.word, turned[0]);
  slab.write(volume, volume.along_z, turned[1]);
}

}  // namespace fathom::grid::cuda::volume
