// Labels in the engine for volumes: each element looks for the nearest element of another label, label 0 for none.
//
// A pass along an axis need not know which of its sources are of the same label: those beyond the ends of the run of
// equal labels around an element are not nearer than these ends, whatever they are taken for. So the passes are those
// of a mask, from the distances to the ends of runs along x, and each takes the ends of the runs along its own axis as
// a minimum, element by element (volume/runs.cuh).
//
// Work mapping: that of masks (volume/words.cuh), of bytes in rows of up to 512. Cost: every label is read two and a
// quarter times, with those beside it along y and z, from the caches but once; 5/8 byte is written for it.
#pragma once

#include "grid/cuda/input/classes.cuh"
#include "grid/cuda/volume/words.cuh"

namespace fathom::grid::cuda::volume {

/// What becomes of a row's labels, in a word.
struct RowChanges {
  unsigned along_x = 0;  ///< between an element and the one before, and label 0 where that is pinned
  unsigned along_y = 0;
  unsigned along_z = 0;
  unsigned background = 0xFFFFFFFFu;  ///< label 0. What lies beyond the volume counts as such: it keeps no search busy
};

/// A warp's four rows of labels and what lies beside them.
template <class T>
struct LabelRows {
  struct Source {
    Input input;
    MemoryRange array, before;  ///< the labels', and the dense plane above the first one, if that was packed earlier
  };
  static constexpr bool kIsOfLabels = true;

  const Volume& volume;
  const Slab slab;
  const std::int64_t z_stride, y_stride;
  const T* const first;  ///< of kPackedRows, as far as they are there
  const T* const above;  ///< the row before the first along z; null: there is none
  const int count, nx;

  __device__ LabelRows(const Volume& v, const Source& source, const Slab& own)
      : volume(v),
        slab(own),
        z_stride(source.input.stride[0]),
        y_stride(source.input.stride[1]),
        first(reinterpret_cast<const T*>(source.input.data) + own.offset(v, source.input, Slab::first_row())),
        above(!is_at_top()          ? first - z_stride
              : source.before.begin ? reinterpret_cast<const T*>(source.before.begin) + std::int64_t{own.y} * v.nx
                                    : nullptr),
        count(min(kPackedRows, own.rows(v))),
        nx(v.nx) {}

  /// Whether the first row is the volume's, there are rows along y, one stride before, and label 0 is marked along x.
  __device__ bool is_at_top() const { return slab.z0 + Slab::first_row() == 0; }
  __device__ bool has_neighbours() const { return slab.y > 0; }
  __device__ bool pins() const { return volume.pins && !volume.keeps_changes; }

  /// Stores this lane's word of a row: ends of runs along x, or changes, with carries; changes along z and label 0; and
  /// changes along y. By whole warps.
  /// @tparam Lanes  has_word(), word() and the lanes that hold the row
  template <class Lanes>
  __device__ void put(int row, const RowChanges& own, uint2* along_x, uint2* along_z) const {
    unsigned ends = own.along_x;
    const unsigned next = __shfl_down_sync(kAllLanes, ends, 1);
    const int w = Lanes::word(), beyond = volume.keeps_changes ? 0 : 1;
    if (!volume.keeps_changes) ends |= ends >> 1 | (w == Lanes::kWords - 1 ? 0 : next << 31);
    const unsigned carries = carries_of(ends, beyond, Lanes::of_row());
    if (!Lanes::has_word()) return;
    along_x[w] = make_uint2(
        ends, carries + static_cast<unsigned>(1 - beyond));  // of changes: on the left, sites lie one element beyond
    along_z[w] = make_uint2(own.along_z, own.background);
    if (row < count && w < volume.words) {
      const int z = slab.z0 + Slab::first_row() + row;
      volume.along_y[((slab.item * volume.words + w) * volume.depth + z) * volume.ny + slab.y] = own.along_y;
    }
  }
};

/// Labels of any type. Those of all rows stay in registers; the one before comes from the lane beside.
template <class T>
class LabelElements : public LabelRows<T>, public ElementLanes<unsigned> {
 public:
  static constexpr int kBlocks = sizeof(T) == 8 ? 3 : 4;  ///< per multiprocessor

  /// All that is read of a word's rows is asked for before any of it is looked at; in place of rows that are not there,
  /// the last one.
  __device__ LabelElements(const Volume& volume, const typename LabelRows<T>::Source& source, const Slab& slab)
      : LabelRows<T>(volume, source, slab) {
    const int lane = lane_id(), nx = this->nx, count = this->count;
    if (count <= 0) return;
    T last[kPackedRows] = {};  // labels of the words before
    for (int x0 = 0; x0 < nx; x0 += 32) {
      const int x = min(x0 + lane, nx - 1);
      const bool there = x0 + lane < nx;
      T label[kPackedRows], neighbour[kPackedRows];
#pragma unroll
      for (int r = 0; r < kPackedRows; ++r) {
        const T* at = this->first + min(r, count - 1) * this->z_stride + x;
        label[r] = *at;
        neighbour[r] = this->has_neighbours() ? *(at - this->y_stride) : T{};
      }
      T upper = this->above ? this->above[x] : T{};
#pragma unroll
      for (int r = 0; r < kPackedRows; ++r) {
        const T own = label[r];
        const auto left = static_cast<T>(__shfl_sync(kAllLanes, lane == 31 ? last[r] : own, (lane + 31) % 32));
        const RowChanges all = {
            .along_x = __ballot_sync(kAllLanes, there && ((this->pins() && own == T{}) || (x > 0 && own != left))),
            .along_y = __ballot_sync(kAllLanes, there && this->has_neighbours() && own != neighbour[r]),
            .along_z = __ballot_sync(kAllLanes, there && (r > 0 || this->above) && own != upper),
            .background = __ballot_sync(kAllLanes, !there || own == T{})};
        if (lane == x0 / 32 && r < count) changes_[r] = all;
        upper = last[r] = own;
      }
    }
  }

  __device__ const RowChanges& changes(int round) const { return changes_[round]; }

 private:
  RowChanges changes_[kPackedRows];
};

/// Of bytes. @tparam kLanes, kAligned  as MaskBytes has them
template <int kLanes, bool kAligned>
class LabelBytes : public LabelRows<std::uint8_t>, public SixteenLanes<kLanes> {
  using Lanes = SixteenLanes<kLanes>;

 public:
  static constexpr int kBlocks = kVolumeBytesBlocks;
  static_assert(kLanes <= 32);

  __device__ LabelBytes(const Volume& volume, const Source& source, const Slab& slab)
      : LabelRows(volume, source, slab),
        sixteen_(source.array, bytes(first) + min(std::int64_t{0}, (kPackedRows - 1) * z_stride) - beside(),
                 bytes(first) + max(std::int64_t{0}, (kPackedRows - 1) * z_stride) + beside() + nx),
        before_(source.before) {}

  /// Of this lane's word of a round, one after the other; of rows that are not there, as of label 0.
  __device__ RowChanges changes(int round) {
    unsigned along_x[Lanes::kLoads], along_y[Lanes::kLoads], along_z[Lanes::kLoads], background[Lanes::kLoads];
#pragma unroll
    for (int k = 0; k < Lanes::kLoads; ++k) {
      const int row = Lanes::row_of_load(round, k), column = Lanes::column(k), columns = nx - column;
      const bool there = columns > 0 && row < count;
      const std::byte* at = bytes(first) + row * z_stride + column;
      const uint4 own = there ? sixteen_(at) : uint4{};
      if (kLanes < 32 || (round == 0 && k == 0))  // else a load is a row, and this lane has had the one above
        last_ = there ? upper(at, row, column) : own;
      along_y[k] = there && has_neighbours() ? nonzero_bytes(differing(own, sixteen_(at - y_stride))) : 0;
      along_z[k] = there ? nonzero_bytes(differing(own, last_)) : 0;
      last_ = own;
      background[k] = ~nonzero_bytes(own) & 0xFFFFu;
      const unsigned left = __shfl_up_sync(kAllLanes, own.w, 1);
      along_x[k] = nonzero_bytes(differing(own, one_on(own, column > 0 && there ? left : own.x << 24)));
      if (pins() && there) along_x[k] |= background[k];
      if constexpr (!kAligned) {
        const unsigned in_row = first_bits(columns);
        along_x[k] &= in_row, along_y[k] &= in_row, along_z[k] &= in_row, background[k] |= ~in_row & 0xFFFFu;
      }
    }
    return {Lanes::gather(along_x), Lanes::gather(along_y), Lanes::gather(along_z), Lanes::gather(background)};
  }

 private:
  static __device__ const std::byte* bytes(const std::uint8_t* at) { return reinterpret_cast<const std::byte*>(at); }
  /// How far beside the four rows memory is read.
  __device__ std::int64_t beside() const { return max(abs(y_stride), abs(z_stride)); }

  /// Of the row above one of the four; of that itself where there is none.
  __device__ uint4 upper(const std::byte* at, int row, int column) const {
    if (row > 0 || !is_at_top()) return sixteen_(at - z_stride);
    return above ? SixteenBytes<kAligned>(before_, bytes(above), bytes(above) + nx)(bytes(above) + column)
                 : sixteen_(at);
  }

  static __device__ uint4 differing(uint4 a, uint4 b) { return make_uint4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w); }
  /// Bytes one place on; the first is the last of the word before.
  static __device__ uint4 one_on(uint4 v, unsigned before) {
    return make_uint4(__funnelshift_l(before, v.x, 8), __funnelshift_l(v.x, v.y, 8), __funnelshift_l(v.y, v.z, 8),
                      __funnelshift_l(v.z, v.w, 8));
  }

  const SixteenBytes<kAligned> sixteen_;
  const MemoryRange& before_;
  uint4 last_;  ///< of the row that was looked at last, in the lane's columns
};

}  // namespace fathom::grid::cuda::volume
