// The words of labels in small images: ends of runs along rows, changes along columns, and label 0 (see
// volume/labels.cuh); with nearest sites changes along rows, too, in place of ends (volume/spaced/label_sites.cuh).
//
// Work mapping: warp = rows of an image that have up to 32 words, lane = element of one word after the other, and what
// is written of one word. Aligned bytes: block = image, thread = half a word. Cost: every label is read three times, or
// twice, from the caches but once; half a byte is written for it.
#pragma once

#include "grid/cuda/label.h"
#include "grid/cuda/small/small_images.cuh"
#include "grid/cuda/volume/labels.cuh"

namespace fathom::grid::cuda::small {

template <class T>
__global__ void __launch_bounds__(kSmallPackBlock)
    pack_small_labels(const __grid_constant__ SmallImages images, const __grid_constant__ Input input) {
  const Volume& v = images.volume;
  const PackedRows rows(v);
  if (!rows.are_there()) return;
  const std::int64_t step = input.rank == 1 ? 0 : input.stride[0], item = rows.item();
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
  const int w = rows.word();
  const unsigned next = __shfl_down_sync(kAllLanes, begins, 1);
  if (!rows.has_word()) return;
  const unsigned ends = begins >> 1 | (w + 1 < v.words ? next << 31 : 0);
  images.put_labels({item, w, rows.row()}, begins, ends, changes, background);
}

/// The same of bytes at multiples of sixteen, in rows of such.
static __global__ void __launch_bounds__(kSmallPackBlock)
    pack_small_bytes_of_labels(const __grid_constant__ SmallImages images, const __grid_constant__ Input input) {
  const Volume& v = images.volume;
  const std::int64_t step = input.rank == 1 ? 0 : input.stride[0];
  const auto* first = reinterpret_cast<const std::uint8_t*>(input.data) + input.items.offset(v.first_item + blockIdx.x);
  const int halves = 2 * v.words, all = v.ny * halves;
  for (int i = static_cast<int>(threadIdx.x); i - lane_id() < all; i += kSmallPackBlock) {  // by whole warps
    const int y = i / halves, half = i % halves, x = half * 16;
    unsigned begins = 0, ends = 0, changes = 0, background = 0;
    if (i < all && x < v.nx) {
      const std::uint8_t* at = first + y * step + x;
      const uint4 own = *reinterpret_cast<const uint4*>(at);
      const uint4 above = y > 0 ? *reinterpret_cast<const uint4*>(at - step) : own;
      const unsigned last = own.w >> 24, before = x > 0 ? at[-1] : own.x & 255, next = x + 16 < v.nx ? at[16] : last;
      begins = nonzero_bytes(differing(own, one_on(own, before << 24)));
      ends = begins >> 1 | unsigned{next != last} << 15;
      changes = nonzero_bytes(differing(own, above));
      background = ~nonzero_bytes(own) & 0xFFFFu;
    }
    const auto word_of = [](unsigned own) { return own | __shfl_down_sync(kAllLanes, own, 1) << 16; };
    const unsigned word[] = {word_of(begins), word_of(ends), word_of(changes), word_of(background)};
    if (i < all && half % 2 == 0)
      images.put_labels({std::int64_t{blockIdx.x}, half / 2, y}, word[0], word[1], word[2], word[3]);
  }
}

}  // namespace fathom::grid::cuda::small
