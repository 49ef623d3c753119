// The words of labels in small images: ends of runs along rows, changes along columns, and label 0 (see
// volume_labels.cuh).
//
// Work mapping: block = image, warp = word, lane = element. Cost: every label is read five times, from the caches but
// once; half a byte is written for it.
#pragma once

#include "grid/cuda/plane_labels.cuh"
#include "grid/cuda/small_images.cuh"

namespace fathom::grid::cuda {

template <class T>
__global__ void __launch_bounds__(kSmallPackBlock)
    pack_small_labels(const __grid_constant__ SmallImages images, const __grid_constant__ Input input) {
  const Volume& v = images.volume;
  const std::int64_t step = input.rank == 1 ? 0 : input.stride[0], item = blockIdx.x;
  const T* first = reinterpret_cast<const T*>(input.data) + input.items.offset(v.first_item + item);
  std::uint32_t* ends = images.words_of(item);
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x) / 32; i < v.ny * v.words; i += kSmallPackBlock / 32) {
    const int y = i / v.words, w = i % v.words, x = w * 32 + lane_id();
    const bool there = x < v.nx;
    const T* at = first + y * step + (there ? x : 0);
    const T label = *at;
    const bool is_background = label == T{};
    const bool is_end = there && ((x > 0 && label != at[-1]) || (x + 1 < v.nx && label != at[1]));
    const unsigned marked = __ballot_sync(kAllLanes, there && (is_end || (v.pins && is_background)));
    const unsigned changed = __ballot_sync(kAllLanes, there && y > 0 && label != *(at - step));
    const unsigned background = __ballot_sync(kAllLanes, !there || is_background);
    if (lane_id() != 0) continue;
    ends[i] = marked;
    v.along_y[(item * v.words + w) * v.ny + y] = changed;
    v.along_z[(item * v.words + w) * v.ny + y] = make_uint2(0, background);
  }
}

}  // namespace fathom::grid::cuda
