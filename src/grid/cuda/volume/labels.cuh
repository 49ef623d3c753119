// Labels in the engine for volumes: each element looks for the nearest element of another label, label 0 for none.
//
// A pass along an axis need not know which of its sources are of the same label: those beyond the ends of the run of
// equal labels around an element are not nearer than these ends, whatever they are taken for. So the passes are those
// of a mask, from the distances to the ends of runs along x, and each takes the ends of the runs along its own axis as
// a minimum, element by element (volume/runs.cuh).
//
// Cost: every label is read two and a quarter times, from the caches but once; 5/8 byte is written for it.
#pragma once

#include "grid/cuda/input/label.h"
#include "grid/cuda/volume/words.cuh"

namespace fathom::grid::cuda {

inline constexpr int kLabelRows = 4;  ///< of a warp, one behind the other along z

/// What becomes of a row's labels, lane = word.
struct RowChanges {
  unsigned along_x = 0;  ///< between an element and the one before, and label 0 where that is pinned
  unsigned along_y = 0;
  unsigned along_z = 0;
  unsigned background = 0xFFFFFFFFu;  ///< label 0. What lies beyond the volume counts as such: it keeps no search busy
};

/// What a block packs: 32 rows, one behind the other along z.
struct LabelSlab {
  std::int64_t item;
  std::int32_t y, z0;

  __device__ explicit LabelSlab(const Volume& volume) {
    const auto slabs = static_cast<unsigned>((volume.nz + 31) / 32), lines = static_cast<unsigned>(volume.ny);
    const unsigned rest = blockIdx.x / slabs;
    item = rest / lines;
    y = static_cast<std::int32_t>(rest % lines);
    z0 = static_cast<std::int32_t>(blockIdx.x % slabs) * 32;
  }

  /// Where the words number `w` of the rows lie, the first of them.
  __device__ std::int64_t line(const Volume& volume, int w) const {
    return ((item * volume.words + w) * volume.ny + y) * volume.depth + z0;
  }
  /// Words, and changes along z, of all rows. By all threads of the block, after a barrier. @param turned  [row][word]
  template <int kWords>
  __device__ void write(const Volume& volume, const uint2 (&turned)[2][32][kWords]) const {
    if (z0 + lane_id() >= padded_depth(volume.nz)) return;
    for (int w = static_cast<int>(threadIdx.x) / 32; w < volume.words; w += kVolumePackBlock / 32) {
      const std::int64_t to = line(volume, w) + lane_id();
      volume.word[to] = turned[0][lane_id()][w];
      volume.along_z[to] = turned[1][lane_id()][w];
    }
  }
  /// Changes along y in word `w` of a row.
  __device__ std::uint32_t* along_y(const Volume& volume, int w, int row) const {
    return volume.along_y + ((item * volume.words + w) * volume.depth + z0 + row) * volume.ny + y;
  }
};

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

  /// Of a slab, from a row of it on. @param before  as pack_volume_labels() has it
  __device__ LabelRows(const Volume& volume, const Input& input, const T* before, const LabelSlab& slab, int row)
      : first(reinterpret_cast<const T*>(input.data) + input.items.offset(volume.first_item + slab.item) +
              slab.y * input.stride[1] + (slab.z0 + row) * input.stride[0]),
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

  /// The same of bytes at multiples of sixteen, sixteen to a lane, in two halves of a row.
  __device__ void find_by_sixteens(RowChanges* changes) const {
    static_assert(sizeof(T) == 1);
    uint4 upper[2] = {};
#pragma unroll
    for (int half = 0; half < 2; ++half)
      if (above) upper[half] = sixteen(above, half);
#pragma unroll
    for (int r = 0; r < kLabelRows; ++r) {
      if (r >= count) break;
      const T* row = first + r * z_stride;
      unsigned along_x_and_y[2], along_z_and_background[2], last = 0;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const bool there = place(half) < nx;
        const uint4 own = sixteen(row, half);
        const unsigned before = __shfl_sync(kAllLanes, lane_id() == 31 ? last : own.w, (lane_id() + 31) % 32);
        last = own.w;
        const unsigned background = there ? ~nonzero_bytes(own) & 0xFFFFu : 0xFFFFu;
        unsigned along_x = nonzero_bytes(differing(own, one_on(own, before)));
        if (place(half) == 0) along_x &= ~1u;
        const unsigned along_y = has_neighbours ? nonzero_bytes(differing(own, sixteen(row - y_stride, half))) : 0;
        const unsigned along_z = r > 0 || above ? nonzero_bytes(differing(own, upper[half])) : 0;
        along_x_and_y[half] = there ? (pins ? along_x | background : along_x) | along_y << 16 : 0;
        along_z_and_background[half] = (there ? along_z : 0) | background << 16;
        upper[half] = own;
      }
      const uint2 x_and_y = words_of(along_x_and_y), z_and_background = words_of(along_z_and_background);
      const int words = (nx + 31) / 32;
      if (lane_id() < words) changes[r] = {x_and_y.x, x_and_y.y, z_and_background.x, z_and_background.y};
    }
  }

 private:
  static __device__ int place(int half) { return (half * 32 + lane_id()) * 16; }
  __device__ uint4 sixteen(const T* row, int half) const {
    return place(half) < nx ? *reinterpret_cast<const uint4*>(row + place(half)) : make_uint4(0, 0, 0, 0);
  }
  /// From two kinds of sixteen bits of each lane, in two halves of a row, to the words of this lane.
  static __device__ uint2 words_of(const unsigned (&bits)[2]) {
    uint2 words = make_uint2(0, 0);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const unsigned low = __shfl_sync(kAllLanes, bits[half], 2 * lane_id() % 32);
      const unsigned high = __shfl_sync(kAllLanes, bits[half], (2 * lane_id() + 1) % 32);
      if (lane_id() / 16 == half) words = make_uint2(__byte_perm(low, high, 0x5410), __byte_perm(low, high, 0x7632));
    }
    return words;
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
/// Work mapping: as pack_volume().
///
/// @tparam kSixteens  labels are bytes, and sixteen can be read at once everywhere; where rows are short, that has a
///                    kernel of its own (volume/short_labels.cuh)
/// @param before      the plane above the first volume's, where that was packed earlier; null: there is none
template <class T, bool kSixteens>
__global__ void __launch_bounds__(kVolumePackBlock)
    pack_volume_labels(const __grid_constant__ Volume volume, const __grid_constant__ Input input, const T* before) {
  __shared__ uint2 turned[2][32][33];
  volume.clear_counter(0);
  const LabelSlab slab(volume);
  const int lane = lane_id(), warp = static_cast<int>(threadIdx.x) / 32;
  const LabelRows<T> rows(volume, input, before, slab, warp * kLabelRows);
  RowChanges changes[kLabelRows];
  if (rows.count > 0) {
    if constexpr (kSixteens) rows.find_by_sixteens(changes);
    else rows.find(changes);
  }
#pragma unroll
  for (int r = 0; r < kLabelRows; ++r) {
    const RowChanges& own = changes[r];
    const int row = warp * kLabelRows + r;
    if (r < rows.count && lane < volume.words) *slab.along_y(volume, lane, row) = own.along_y;
    turned[0][row][lane] = run_word(volume, own.along_x, lane == 31);
    turned[1][row][lane] = make_uint2(own.along_z, own.background);
  }
  __syncthreads();
  slab.write(volume, turned);
}

}  // namespace fathom::grid::cuda
