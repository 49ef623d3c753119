// The words of small images: sites along rows; of labels, ends of runs along rows, changes along columns, and label 0
// (volume/labels.cuh); with nearest sites changes along rows, too, in place of ends.
//
// Work mapping: warp = rows of an image that have up to 32 words, lane = element of one word after the other, and what
// is written of one word. Aligned bytes of masks: block = image, thread = half a word. Cost: every element is read
// once, of labels three times from the caches; an eighth of a byte is written for it, half a byte for a label.
#pragma once

#include "grid/cuda/input/classes.cuh"
#include "grid/cuda/input/mask.cuh"
#include "grid/cuda/volume/labels.cuh"

namespace fathom::grid::cuda::small {

using namespace volume;  // its windows, runs and writers

inline constexpr int kSmallAxis = 128;

/// Images as volumes of one plane, also as far as their labels go.
struct SmallImages {
  Volume volume;                  ///< y, x; depth 1
  std::uint32_t* bits = nullptr;  ///< [items][ny][words]

  __device__ std::uint32_t* words_of(std::int64_t item) const { return bits + item * volume.ny * volume.words; }
  /// Of labels, in words `w` of row y: changes along y, and the elements that need no search.
  __device__ uint2 runs(std::int64_t item, int w, int y) const {
    const Volume::Tile row{item, w, y};
    const uint2 pinned = volume.runs_along_z(row, volume.changes_along_z(row), 0);
    return make_uint2(__ldg(volume.changes_along_y({item, w, 0}) + y), pinned.y);
  }
};

/// The rows of an image that a warp packs: as many as have up to 32 words. All lanes read a word's elements, one after
/// the other, and each writes what has become of one of them.
struct PackedRows {
  const Volume& v;
  const Division place{(std::int64_t{blockIdx.x} * kSmallPackBlock + threadIdx.x) / 32, warps(v)};
  const std::int64_t item = place.quotient;
  const int first_row = static_cast<int>(place.remainder) * rows(v);
  const int count = min(rows(v), v.ny - first_row) * v.words;
  // The lane's own word.
  const bool has_word = lane_id() < count;
  const int word = lane_id() % v.words, row = first_row + lane_id() / v.words;

  static __host__ __device__ int rows(const Volume& volume) { return 32 / volume.words; }
  static __host__ __device__ int warps(const Volume& volume) { return (volume.ny + rows(volume) - 1) / rows(volume); }

  /// @param take  of word i and this lane's element of it: take(i, y, x), which may lie behind the row's end; also of
  ///              words behind the last, in the last row, for nothing
  template <class Take>
  __device__ void for_words(Take&& take) const {
    constexpr int kTogether = 8;  // what is read for so many is on its way together
    int w = 0, y = first_row;
    for (int i0 = 0; i0 < count; i0 += kTogether) {
#pragma unroll
      for (int i = i0; i < i0 + kTogether; ++i) {
        take(i, min(y, v.ny - 1), w * 32 + lane_id());
        if (++w == v.words) w = 0, ++y;
      }
    }
  }
};

/// Aligned bytes: thread = half a word; else warp = rows.
template <Reading kReading>
__global__ void __launch_bounds__(kSmallPackBlock)
    pack_small_images(const __grid_constant__ SmallImages images, const __grid_constant__ Mask mask) {
  const Volume& v = images.volume;
  const std::int64_t step = mask.input.rank == 1 ? 0 : mask.input.stride[0];
  if constexpr (kReading == Reading::aligned_bytes) {
    const std::int64_t first = mask.input.items.offset(v.first_item + blockIdx.x);
    auto* words = reinterpret_cast<std::uint16_t*>(images.words_of(blockIdx.x));
    const int halves = 2 * v.words;
    for (int i = static_cast<int>(threadIdx.x); i < v.ny * halves; i += kSmallPackBlock) {
      const int y = i / halves, x = i % halves * 16;
      unsigned sites = 0;
      if (x < v.nx) {
        sites = nonzero_bytes(__ldcs(reinterpret_cast<const uint4*>(mask.input.data + first + y * step + x)));
        if (mask.is_zero_site()) sites = ~sites;
      }
      words[i] = static_cast<std::uint16_t>(sites);
    }
  } else {
    const PackedRows rows{v};
    if (rows.item >= v.items) return;
    const std::int64_t first = mask.input.items.offset(v.first_item + rows.item);
    unsigned own = 0;
    rows.for_words([&](int i, int y, int x) {
      constexpr bool kBytes = kReading == Reading::bytes;
      const bool is_site = x < v.nx && mask.template is_site<kBytes>(first + y * step + x);
      const unsigned sites = __ballot_sync(kAllLanes, is_site);
      if (lane_id() == i) own = sites;
    });
    if (rows.has_word) images.words_of(rows.item)[rows.row * v.words + rows.word] = own;
  }
}

template <class T>
__global__ void __launch_bounds__(kSmallPackBlock)
    pack_small_labels(const __grid_constant__ SmallImages images, const __grid_constant__ Input input) {
  const Volume& v = images.volume;
  const PackedRows rows{v};
  if (rows.item >= v.items) return;
  const std::int64_t step = input.rank == 1 ? 0 : input.stride[0], item = rows.item;
  const T* first = reinterpret_cast<const T*>(input.data) + input.items.offset(v.first_item + item);
  unsigned begins = 0, changes = 0, background = 0;
  rows.for_words([&](int i, int y, int x) {
    const bool there = x < v.nx, has_left = there && x > 0, has_above = y > 0;
    const T* at = first + y * step + (there ? x : 0);
    const T label = *at, left = has_left ? at[-1] : label, above = has_above ? *(at - step) : label;
    const unsigned begin = __ballot_sync(kAllLanes, has_left && label != left);
    const unsigned change = __ballot_sync(kAllLanes, there && has_above && label != above);
    const unsigned zero = __ballot_sync(kAllLanes, there && label == T{});
    if (lane_id() == i) begins = begin, changes = change, background = zero;
  });
  const int w = rows.word, y = rows.row;
  const unsigned next = __shfl_down_sync(kAllLanes, begins, 1);
  if (!rows.has_word) return;
  // With nearest sites label 0, too, though the search does not ask for it: an image of it alone is not without bits.
  const unsigned ends = v.keeps_changes ? 0 : begins >> 1 | (w + 1 < v.words ? next << 31 : 0);
  const std::int64_t turned = (item * v.words + w) * v.ny + y;
  images.words_of(item)[y * v.words + w] = begins | ends | (v.pins ? background : 0);
  v.along_y[turned] = changes;
  v.along_z[turned] = make_uint2(0, background | ~first_bits(v.nx - w * 32));
}

}  // namespace fathom::grid::cuda::small
