// The words of labels in small images: ends of runs along rows, changes along columns, and label 0 (see
// volume_labels.cuh); with nearest sites changes along rows, too, in place of ends (volume_label_sites.cuh).
//
// Work mapping: warp = rows of an image that have up to 32 words, lane = element of one word after the other, and what
// is written of one word. Cost: every label is read three times, from the caches but once; half a byte is written for it.
#pragma once

#include "grid/cuda/plane_labels.cuh"
#include "grid/cuda/small_images.cuh"

namespace fathom::grid::cuda {

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
  const int w = rows.word(), y = rows.row();
  const unsigned next = __shfl_down_sync(kAllLanes, begins, 1);
  if (!rows.has_word()) return;
  unsigned marked = begins;
  if (!v.keeps_changes) marked |= begins >> 1 | (w + 1 < v.words ? next << 31 : 0);
  if (v.pins) marked |= background;
  images.words_of(item)[y * v.words + w] = marked;
  v.along_y[(item * v.words + w) * v.ny + y] = changes;
  v.along_z[(item * v.words + w) * v.ny + y] = make_uint2(0, background | ~first_bits(v.nx - w * 32));
}

}  // namespace fathom::grid::cuda
