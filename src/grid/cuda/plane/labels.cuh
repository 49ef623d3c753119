// Labels in the engine for planes: each element looks for the nearest element of another label, label 0 for none.
//
// Of the elements of a column that differ from (y, x), those beyond the ends of the run of equal labels around (y, c)
// are nearest if (y, c) is of the same label, else (y, c) itself. In the run of the row around (y, x) all columns are
// of the first kind; the others lie beyond its ends, and none of their candidates is nearer than these, whatever it is
// taken for. So the engine searches all columns as for a mask whose sites are the ends of runs along columns, one
// element farther, and the ends of the run along the row are a minimum besides (plane/runs.cuh).
//
// Its pruning (plane/prune.cuh) holds, too. If a candidate wins at an element of a band from outside, no candidate is
// as near to where the way between them crosses the band's edge: an end of a run that is would put two different labels
// nearer to the element than what won, and at least one of them differs from it. Label 0 is marked everywhere, so it
// takes no search; what lies inside its runs is farther than their ends, and wins nowhere else. In signed fields it is a
// label like the others.
//
// Nearest sites follow from the same: the nearest marked element above or below tells the first one beyond it. Only
// where an element is marked itself, the site may lie on either side, and words of their own say so. No candidate from
// outside the run along the row is as near as that run's end: so ties are between this and candidates from inside, in
// rows above or below.
//
// Work mapping: see the kernel. Cost: every label is read once and a fifth, half a byte is written for it.
#pragma once

#include "grid/cuda/engine.h"
#include "grid/cuda/input/classes.cuh"
#include "grid/cuda/plane/plane.cuh"

namespace fathom::grid::cuda::plane {

/// Words of columns and rows. Thread = column of a band, warp = a word of each of its rows.
/// @param before  the row above the first image's, where that was packed earlier; null: there is none
template <class T>
__global__ void __launch_bounds__(kPackBlock)
    pack_labels(Plane plane, const __grid_constant__ Input input, const T* before) {
  const std::int64_t band = blockIdx.y;
  const int x = static_cast<int>(blockIdx.x) * kPackBlock + static_cast<int>(threadIdx.x), lane = lane_id();
  const int y0 = plane.first_row(band), rows = min(kBand, plane.height - y0), column = min(x, plane.width - 1);
  const std::int64_t step = input.stride[0];
  const T* first = reinterpret_cast<const T*>(input.data) + input.items.offset(plane.first_item + plane.item_of(band)) +
                   y0 * step + column;
  const T* above = y0 > 0 ? first - step : before ? before + column : nullptr;
  const bool there = x < plane.width;
  T last = above ? *above : *first;
  // Left of the warp's columns, in the row that is the lane's.
  const T edge = x < 32 ? T{} : first[min(lane, rows - 1) * step + min(x - lane, plane.width) - 1 - column];
  unsigned ends = 0, upper = 0;                  // of a column
  unsigned own_changes = 0, own_background = 0;  // of the row that is the lane's
  constexpr int kTogether = 16;                  // rows on their way; behind the last one it is read again
  T labels[kTogether];
#pragma unroll
  for (int r = 0; r < kBand; ++r) {
    if (r % kTogether == 0) {
#pragma unroll
      for (int k = 0; k < kTogether; ++k) labels[k] = first[min(r + k, rows - 1) * step];
    }
    const T label = labels[r % kTogether];
    const auto beside = static_cast<T>(__shfl_up_sync(kAllLanes, label, 1));
    const auto outside = static_cast<T>(__shfl_sync(kAllLanes, edge, r));
    const T left = lane == 0 ? outside : beside;
    const bool is_background = there && r < rows && label == T{}, is_pinned = is_background && plane.runs.pins;
    const bool changes = there && r < rows && x > 0 && label != left;
    const unsigned background = __ballot_sync(kAllLanes, is_background);
    const unsigned row = __ballot_sync(kAllLanes, changes || is_pinned);
    if (lane == r) own_changes = row, own_background = background;
    const bool differs = there && r < rows && (r > 0 || above) && label != last;
    ends |= unsigned{is_pinned || differs} << r;
    upper |= unsigned{differs} << r;
    if (r > 0) ends |= unsigned{differs} << (r - 1);
    else if (differs && y0 == 0) plane.bits[x - plane.pitch] |= 1u << (kBand - 1);  // packed earlier
    last = label;
  }
  if (there && y0 + rows < plane.height && first[rows * step] != last) ends |= 1u << (rows - 1);
  plane.bits[band * plane.pitch + x] = ends;
  close_cell(plane, band, x);
  if (plane.runs.upper) plane.runs.upper[band * plane.pitch + x] = upper;
  if (x / 32 >= plane.runs.row_words) return;
  const std::int64_t word = (band * kBand + lane) * plane.runs.row_words + x / 32;
  plane.runs.changes[word] = own_changes;
  plane.runs.background[word] = own_background;
}

}  // namespace fathom::grid::cuda::plane
