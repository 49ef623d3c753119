// The ends of runs of equal labels along rows, and label 0: what is still missing to distances along columns and across
// (see plane_labels.cuh).
//
// Floats have a kernel of their own, which lowers them where a run ends nearer; other results ask for the ends element
// by element as they are written. Cost: every float is read once more, and written where it changes; the words up to
// the ends of its run are read for every other element, from the caches.
#pragma once

#include "grid/cuda/plane.cuh"

namespace fathom::grid::cuda {

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

/// Steps from an element to the nearest one beyond the ends of its run in the row, as far as they are fewer than
/// `limit`; 0 where it is pinned.
///
/// @param place  of the element's word
/// @param w, bit  the word's number in the row, and the element in it
__device__ inline int steps_to_run_end(const Plane& plane, std::int64_t place, int w, int bit, int limit) {
  if (plane.pins && plane.background[place] >> bit & 1) return 0;
  const unsigned own = plane.changes[place], up_to = 0xFFFFFFFFu >> (31 - bit);
  int steps = limit;
  unsigned before = own & up_to, behind = own & ~up_to;
  for (int k = 0; (k - 1) * 32 + bit + 2 <= steps; ++k) {
    if (k > 0) before = w >= k ? plane.changes[place - k] : 0;
    if (before) steps = min(steps, k * 32 + bit - 30 + __clz(static_cast<int>(before)));
    if (before || w <= k) break;
  }
  for (int k = 0; k * 32 - bit <= steps; ++k) {
    if (k > 0) behind = w + k < plane.cells() ? plane.changes[place + k] : 0;
    if (behind) steps = min(steps, k * 32 + __ffs(static_cast<int>(behind)) - 1 - bit);
    if (behind || w + k + 1 >= plane.cells()) break;
  }
  return steps;
}

/// Writes one result in whatever form is asked for, from the squared distance along columns and across, or kNoSquare.
/// Not inlined: as write_general().
static __device__ __noinline__ void write_label(const Plane& plane, const Emitter<std::int64_t>& emitter,
                                                std::int64_t band, int r, std::int32_t x, std::uint32_t square) {
  const std::int64_t place = (band * kBand + r) * plane.cells() + x / 32;
  // What is farther than that does not count. Two more, because floats round.
  const float most = sqrtf(static_cast<float>(square) / static_cast<float>(plane.column_weight)) + 2;
  const int limit = most < static_cast<float>(plane.width) ? static_cast<int>(most) : plane.width;
  const int steps = steps_to_run_end(plane, place, x / 32, x % 32, limit);
  if (steps < limit) square = min(square, plane.across(static_cast<std::uint32_t>(steps)));
  const bool inside = !plane.pins && !(plane.background[place] >> (x % 32) & 1);
  const std::int64_t item = plane.item_of(band);
  const std::int32_t y = plane.first_row(band) + r;
  if (emitter.values.serves) return emitter.values.write(emitter.first_item + item, 0, y, x, square, inside);
  const std::int64_t at[kMaxSpaceRank] = {emitter.input.rank == 1 ? x : y, x};
  if (emitter.in_region(at)) emitter.emit(item, at, value_of(square), -1, inside);
}

/// Row r of the band, column x.
template <Writing kWriting>
__device__ void write_element(const Plane& plane, const Emitter<std::int64_t>& emitter, std::int64_t band, int r,
                              std::int32_t x, std::uint32_t square) {
  if constexpr (kWriting == Writing::general_labels) write_label(plane, emitter, band, r, x, square);
  else write_general(emitter, plane.item_of(band), plane.first_row(band) + r, x, square);
}

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
