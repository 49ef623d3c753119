// Labels in the engine for planes: each element looks for the nearest element of another label, label 0 for none.
//
// Of the elements of a column that differ from (y, x), those beyond the ends of the run of equal labels around (y, c)
// are nearest if (y, c) is of the same label, else (y, c) itself. In the run of the row around (y, x) all columns are
// of the first kind; the others lie beyond its ends, and none of their candidates is nearer than these, whatever it is
// taken for. So the engine searches all columns as for a mask whose sites are the ends of runs along columns, one
// element farther, and the ends of the run along the row are a minimum at last.
//
// Its pruning (plane_prune.cuh) holds, too. If a candidate wins at an element of a band from outside, no candidate is
// as near to where the way between them crosses the band's edge: an end of a run that is would put two different labels
// nearer to the element than what won, and at least one of them differs from it. Label 0 is marked everywhere: so it
// takes no search.
//
// Work mapping: see the kernels. Cost: every label is read once and a fifth, half a byte is written for it; every
// distance is read once more, and written where a row's run ends nearer.
#pragma once

#include <type_traits>

#include "grid/cuda/border_clamp.cuh"
#include "grid/cuda/engine.h"
#include "grid/cuda/plane.cuh"

namespace fathom::grid::cuda {

/// Whether the fast engines can do what a problem wants of labels, if it has any.
inline bool serves_labels(const Problem& p) {
  return !has_labels(p) || (is_plain_float(p, kNoAxis) && !p.signed_distance && !wants_site(p));
}

/// As what labels are told apart: floats as numbers, where NaN differs from everything; all else by its bits.
template <class T>
using Label = std::conditional_t<
    std::is_floating_point_v<T>, T,
    std::conditional_t<sizeof(T) == 1, std::uint8_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>>;

/// Words of columns and rows. Thread = column of a band, warp = a word of each of its rows.
///
/// @param before  the row above the first image's, where that was packed earlier; null: there is none
template <class T>
__global__ void __launch_bounds__(kPackBlock)
    pack_labels(Plane plane, const __grid_constant__ Input input, const T* before) {
  const std::int64_t band = blockIdx.y;
  const int x = static_cast<int>(blockIdx.x) * kPackBlock + static_cast<int>(threadIdx.x), lane = lane_id();
  const int y0 = plane.first_row(band), rows = min(kBand, plane.height - y0), column = min(x, plane.width - 1);
  const std::int64_t step = input.rank == 1 ? 0 : input.stride[0];
  const T* first = reinterpret_cast<const T*>(input.data) + input.items.offset(plane.first_item + plane.item_of(band)) +
                   y0 * step + column;
  const T* above = y0 > 0 ? first - step : before ? before + column : nullptr;
  const bool there = x < plane.width;
  T last = above ? *above : *first;
  // Left of the warp's columns, in the row that is the lane's.
  const T edge = x < 32 ? T{} : first[min(lane, rows - 1) * step - min(lane, plane.width - 1 - (x - lane)) - 1];
  unsigned ends = 0, own_changes = 0, own_background = 0;  // of a column; of the row that is the lane's
  constexpr int kTogether = 16;                            // loads in flight
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
    const bool is_background = there && r < rows && label == T{};
    const bool changes = there && r < rows && x > 0 && label != left;
    const unsigned background = __ballot_sync(kAllLanes, is_background);
    const unsigned row = __ballot_sync(kAllLanes, changes) | background;
    if (lane == r) own_changes = row, own_background = background;
    const bool differs = there && r < rows && (r > 0 || above) && label != last;
    ends |= unsigned{is_background || differs} << r;
    if (r > 0) ends |= unsigned{differs} << (r - 1);
    else if (differs && y0 == 0) plane.bits[x - plane.pitch] |= 1u << (kBand - 1);  // packed earlier
    last = label;
  }
  if (there && y0 + rows < plane.height && first[rows * step] != last) ends |= 1u << (rows - 1);
  plane.bits[band * plane.pitch + x] = ends;
  const std::int64_t word = (band * kBand + lane) * plane.cells() + x / 32;
  plane.changes[word] = own_changes;
  plane.background[word] = own_background;
}

/// 32 words of a row: lane = word. From changes to the nearest ones around each word.
struct RowRuns {
  static constexpr int kNoChange = 1 << 20;  ///< farther than any column
  unsigned changes, background;
  int left = -kNoChange, right = kNoChange;  ///< columns of the nearest changes before and behind the word

  /// @param first  the row's words; `w0`: the first of the 32
  __device__ RowRuns(const Plane& plane, std::int64_t first, int w0) {
    const int cells = plane.cells(), w = w0 + lane_id();
    const auto word = [&](int at) { return at >= 0 && at < cells ? plane.changes[first + at] : 0u; };
    changes = word(w);
    background = w < cells ? plane.background[first + w] : 0u;
    unsigned others = 0;
    int from = w0;
    while (from > 0 && !__any_sync(kAllLanes, others)) others = word((from -= 32) + lane_id());
    const int before = last_change(others, from, kAllLanes);
    for (others = 0, from = w0; from + 32 < cells && !__any_sync(kAllLanes, others);)
      others = word((from += 32) + lane_id());
    const int behind = first_change(others, from, kAllLanes);
    left = max(before, last_change(changes, w0, lanes_before(lane_id())));
    right = min(behind, first_change(changes, w0, ~lanes_before(lane_id()) & ~(1u << lane_id())));
  }

 private:
  /// Of the words of some lanes; word 0 begins at column 32 · `w0`.
  static __device__ int last_change(unsigned word, int w0, unsigned lanes) {
    const unsigned filled = __ballot_sync(kAllLanes, word != 0) & lanes;
    const int lane = 31 - __clz(static_cast<int>(filled | 1u));
    const unsigned bits = __shfl_sync(kAllLanes, word, lane);
    return filled ? (w0 + lane) * 32 + 31 - __clz(static_cast<int>(bits)) : -kNoChange;
  }
  static __device__ int first_change(unsigned word, int w0, unsigned lanes) {
    const unsigned filled = __ballot_sync(kAllLanes, word != 0) & lanes;
    const int lane = __ffs(static_cast<int>(filled | 0x80000000u)) - 1;
    const unsigned bits = __shfl_sync(kAllLanes, word, lane);
    return filled ? (w0 + lane) * 32 + __ffs(static_cast<int>(bits)) - 1 : kNoChange;
  }
};

inline constexpr int kRunWords = 32;  ///< of a row, by one warp

/// The ends of runs along rows, and label 0. Warp = 1024 columns of a row, lane = word, then element of one word after
/// the other, eight of them at a time.
static __global__ void __launch_bounds__(kClampBlock) clamp_to_runs(const __grid_constant__ Plane plane) {
  constexpr int kTogether = 8;
  const auto warp = static_cast<unsigned>((std::int64_t{blockIdx.x} * kClampBlock + threadIdx.x) / 32);
  const auto chunks = static_cast<unsigned>((plane.cells() + kRunWords - 1) / kRunWords);
  const std::int64_t row = warp / chunks, band = row / kBand;
  if (band >= plane.all_bands) return;
  const int w0 = static_cast<int>(warp % chunks) * kRunWords, y = plane.first_row(band) + static_cast<int>(row % kBand);
  if (y >= plane.height) return;
  const RowRuns runs(plane, row * plane.cells(), w0);
  const float multiple = sqrtf(static_cast<float>(plane.column_weight));  // exact
  float* out = plane.row(band, y);
  for (int k0 = 0; k0 < kRunWords && (w0 + k0) * 32 < plane.width; k0 += kTogether) {
    const int x0 = (w0 + k0) * 32 + lane_id();
    float distance[kTogether];
#pragma unroll
    for (int k = 0; k < kTogether; ++k) distance[k] = x0 + 32 * k < plane.width ? out[x0 + 32 * k] : 0.0f;
#pragma unroll
    for (int k = 0; k < kTogether; ++k) {
      const int x = x0 + 32 * k;
      const unsigned changes = __shfl_sync(kAllLanes, runs.changes, k0 + k);
      const unsigned background = __shfl_sync(kAllLanes, runs.background, k0 + k);
      int left = __shfl_sync(kAllLanes, runs.left, k0 + k), right = __shfl_sync(kAllLanes, runs.right, k0 + k);
      const unsigned up_to = 0xFFFFFFFFu >> (31 - lane_id()), before = changes & up_to, behind = changes & ~up_to;
      if (before) left = x - lane_id() + 31 - __clz(static_cast<int>(before));
      if (behind) right = x - lane_id() + __ffs(static_cast<int>(behind)) - 1;
      int steps = min(x - left + 1, right - x);
      if (background >> lane_id() & 1) steps = 0;
      const float to_end = static_cast<float>(steps) * multiple * plane.side.scale;
      if (x < plane.width && steps < plane.width && to_end < distance[k]) out[x] = to_end;
    }
  }
}

}  // namespace fathom::grid::cuda
