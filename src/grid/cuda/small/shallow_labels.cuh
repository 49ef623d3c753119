// The words of labels in images of few rows: where runs along rows begin, in place of sites; which elements differ from
// those above; and label 0.
//
// Work mapping: warp = 32 words of a row, lane = element of one after the other. Cost: every label is read three times,
// from the caches but once; three eighths of a byte are written for it.
#pragma once

#include "grid/cuda/label.h"
#include "grid/cuda/small/shallow_words.cuh"

namespace fathom::grid::cuda {

template <class T>
__global__ void __launch_bounds__(kShallowPackBlock)
    pack_shallow_labels(const __grid_constant__ ShallowImages images, const __grid_constant__ Input input) {
  const std::int64_t warp = (std::int64_t{blockIdx.x} * kShallowPackBlock + threadIdx.x) / 32;
  const Division by_row(warp, images.summaries), by_item(by_row.quotient, images.height);
  if (by_item.quotient >= images.items) return;
  const std::int64_t step = input.rank == 1 ? 0 : input.stride[0];
  const T* row = reinterpret_cast<const T*>(input.data) + input.items.offset(images.first_item + by_item.quotient) +
                 by_item.remainder * step;
  const bool has_above = by_item.remainder > 0;
  const T* above = has_above ? row - step : row;
  const int w0 = static_cast<int>(by_row.remainder) * 32, w = w0 + lane_id();
  unsigned begins = 0, changes = 0, background = 0;
  for_words(min(32, images.words - w0), [&](int i) {
    const int x = (w0 + i) * 32 + lane_id(), at = min(x, images.width - 1);
    const bool there = x < images.width;
    const T label = row[at];
    const unsigned begin = __ballot_sync(kAllLanes, there && x > 0 && label != row[max(at - 1, 0)]);
    const unsigned change = __ballot_sync(kAllLanes, there && has_above && label != above[at]);
    const unsigned zero = __ballot_sync(kAllLanes, there && label == T{});
    if (lane_id() == i) begins = begin, changes = change, background = zero;
  });
  if (w < images.words) {
    images.bits[by_row.quotient * images.words + w] = begins;
    images.labels[by_row.quotient * images.words + w] = make_uint2(changes, background);
  }
  const unsigned filled = __ballot_sync(kAllLanes, begins != 0);
  if (lane_id() == 0) images.summary[warp] = filled;
}

}  // namespace fathom::grid::cuda
