// Sites (or changes of class) along the lines of an axis, one bit per element, and where the nearest lies beyond each
// word.
//
// Source: the bit-packed rows of Man et al. 2011; departs by keeping carries instead of distances. Cost: every element
// is read once (twice for changes), 3/8 byte is written for it.
#include <algorithm>

#include "core/cuda/runtime.h"
#include "grid/cuda/general/line_words.h"
#include "grid/cuda/tuning.h"
#include "grid/cuda/warp.cuh"

namespace fathom::grid::cuda::general {

namespace {

/// Thread = word. Neighbouring threads read neighbouring lines, but along the last axis the next words of a row.
/// @param bytes         of an element
/// @param lines_before  of an item, before the axis
__global__ void __launch_bounds__(kGeneralBlock)
    fill_bits(const __grid_constant__ LineWords words, const __grid_constant__ Input input,
              const __grid_constant__ Classes classes, std::int64_t first_item, std::int64_t bytes,
              std::int64_t lines_before) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kGeneralBlock + threadIdx.x;
  if (i >= words.count()) return;
  const Lines& lines = words.lines;
  const Division by_inner(i, lines.inner), by_words(by_inner.quotient, words.words());
  const Division by_item(by_words.quotient, lines_before);
  const std::byte* item = input.data + input.items.offset(first_item + by_item.quotient) * bytes;
  const std::int64_t line =
      input.offset(0, lines.axis, by_item.remainder) + input.offset(lines.axis + 1, input.rank, by_inner.remainder);
  const auto x0 = static_cast<std::int32_t>(by_words.remainder * kWordElements);
  const std::int64_t stride = input.stride[lines.axis];
  const auto is_marked = [&](std::int32_t x) {
    const std::int64_t at = line + x * stride;
    if (!classes.boundaries) return fulfils(classes.site, item, at);
    if (x > 0) return classes.differ(item, at - stride, at);
    return words.periodic && classes.differ(item, line + (lines.extent - 1) * stride, at);
  };
  unsigned bits = 0, pinned = 0;
  for (std::int32_t j = 0; j < min(kWordElements, lines.extent - x0); ++j) {
    bits |= unsigned{is_marked(x0 + j)} << j;
    if (words.pinned) pinned |= unsigned{fulfils(classes.background, item, line + (x0 + j) * stride)} << j;
  }
  words.bits[i] = bits;
  if (words.pinned) words.pinned[i] = pinned;
}

constexpr std::int32_t kNone = INT32_MIN;

/// The largest value before each thread of the block, and over all of them.
template <int kThreads>
struct MaxScan {
  std::int32_t before, all;

  __device__ explicit MaxScan(std::int32_t value) {
    const int lane = lane_id(), warp = static_cast<int>(threadIdx.x) / 32;
    std::int32_t inclusive = value;
    for (int step = 1; step < 32; step *= 2) {
      const std::int32_t other = __shfl_up_sync(kAllLanes, inclusive, step);
      if (lane >= step) inclusive = max(inclusive, other);
    }
    before = __shfl_up_sync(kAllLanes, inclusive, 1);
    if (lane == 0) before = kNone;
    all = __shfl_sync(kAllLanes, inclusive, 31);
    if constexpr (kThreads > 32) {
      __shared__ std::int32_t of_warp[kThreads / 32];
      __syncthreads();
      if (lane == 0) of_warp[warp] = all;
      __syncthreads();
      for (int k = 0; k < kThreads / 32; ++k) {
        if (k < warp) before = max(before, of_warp[k]);
        all = max(all, of_warp[k]);
      }
    }
  }
};

/// Carries. A warp or a block = line, which it walks in steps of as many words as it has threads, there and back.
template <int kThreads>
__global__ void __launch_bounds__(std::max(kThreads, kGeneralBlock)) carry(LineWords words) {
  const std::int64_t line = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / kThreads;
  if (line >= words.lines.count()) return;
  const Division by_inner(line, words.lines.inner);
  const std::int64_t base = by_inner.quotient * words.words() * words.lines.inner + by_inner.remainder;
  const std::int32_t count = words.words(), me = static_cast<std::int32_t>(threadIdx.x % kThreads);
  const auto at = [&](std::int32_t w) { return base + w * words.lines.inner; };
  // Coordinate of a word's last site, as seen from the right; and minus that of its first one: so the nearest is the
  // largest, as on the other side.
  const auto bits = [&](std::int32_t w) { return w >= 0 && w < count ? words.bits[at(w)] : 0; };
  const auto last = [&](std::int32_t w) {
    return bits(w) ? w * kWordElements + highest_bit(bits(w)) - (words.changes ? 1 : 0) : kNone;
  };
  const auto first = [&](std::int32_t w) { return bits(w) ? -(w * kWordElements + lowest_bit(bits(w))) : kNone; };
  std::int32_t before = kNone, behind = kNone;
  for (std::int32_t w0 = 0; words.periodic && w0 < count; w0 += kThreads) {
    before = max(before, MaxScan<kThreads>(last(w0 + me)).all);
    behind = max(behind, MaxScan<kThreads>(first(w0 + me)).all);
  }
  std::int32_t carried = before == kNone ? kNone : before - words.lines.extent;
  for (std::int32_t w0 = 0; w0 < count; w0 += kThreads) {
    const MaxScan<kThreads> scan(last(w0 + me));
    if (w0 + me < count) words.left[at(w0 + me)] = max(carried, scan.before);
    carried = max(carried, scan.all);
  }
  carried = behind == kNone ? kNone : behind - words.lines.extent;
  for (std::int32_t w0 = count - 1; w0 >= 0; w0 -= kThreads) {
    const MaxScan<kThreads> scan(first(w0 - me));
    const std::int32_t nearest = max(carried, scan.before);
    if (w0 - me >= 0) words.right[at(w0 - me)] = nearest == kNone ? -1 : -nearest;
    carried = max(carried, scan.all);
  }
}

}  // namespace

void fill_line_words(const LineWords& words, const Input& input, const Classes& classes, std::int64_t first_item,
                     cudaStream_t stream) {
  std::int64_t lines_before = 1;
  for (int k = 0; k < words.lines.axis; ++k) lines_before *= input.extent[k];
  fill_bits<<<blocks_for(words.count(), kGeneralBlock), kGeneralBlock, 0, stream>>>(
      words, input, classes, first_item, static_cast<std::int64_t>(size_of(input.dtype)), lines_before);
  const std::int64_t lines = words.lines.count();
  if (words.words() < kLongRow) carry<32><<<blocks_for(lines * 32, kGeneralBlock), kGeneralBlock, 0, stream>>>(words);
  else carry<1024><<<static_cast<unsigned>(lines), 1024, 0, stream>>>(words);
  fathom::cuda::check_launch("finding sites along lines");
}

}  // namespace fathom::grid::cuda::general
