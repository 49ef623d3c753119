// The words of images of few rows (small/shallow_images.cuh): sites along rows, or where runs of one side or label
// begin, and where the nearest of these lie that a word does not hold.
//
// Work mapping: warp = 32 words of a row, and the summary that says which of them have bits. Cost: every element is
// read once, an eighth of a byte is written for it, a quarter with sides; what lies beside 256 columns is found from a
// few summaries, or in rows without bits from all of them.
#pragma once

#include "grid/cuda/mask.cuh"
#include "grid/cuda/tuning.h"
#include "grid/cuda/warp.cuh"
#include "grid/cuda/writing.cuh"

namespace fathom::grid::cuda {

inline constexpr int kShallowRows = 31;
inline constexpr int kShallowWarps = kShallowBlock / 32;  ///< and words of a row
inline constexpr int kFarthestSite = 1 << 28;             ///< steps; beyond: there is no site

struct ShallowImages {
  std::int32_t height = 1, width = 1;
  std::int32_t words = 0, summaries = 0;  ///< of a row
  std::int64_t items = 1, first_item = 0;
  std::uint32_t* bits = nullptr;     ///< [items][height][words]
  std::uint32_t* summary = nullptr;  ///< [items][height][summaries]
  // Where the words mark runs.
  std::uint32_t* sides = nullptr;  ///< [items][height][words], of a signed field: which elements are inside
  uint2* labels = nullptr;         ///< [items][height][words]: which differ from those above, and label 0
  bool pins = false;               ///< label 0 has distance 0; else it is one among others, for a sign

  // What is solved, and where it goes if it is float distances.
  std::int32_t begin = 0, end = 1;         ///< columns of the region
  std::int32_t first_tile = 0, tiles = 1;  ///< that hold them, of kShallowBlock columns each
  Placed<float> distance;
  Side side;

  /// Of a row of runs, as of labels: the elements outside are those of label 0. Behind its last word: nothing.
  __device__ uint2 run_word(std::int64_t item, int row, int w) const {
    if (w >= words) return make_uint2(0, 0);
    const std::int64_t place = (item * height + row) * words + w;
    if (!sides) return labels[place];
    const std::uint32_t own = sides[place], above = row > 0 ? sides[place - words] : own;
    return make_uint2(own ^ above, ~own);
  }
};

/// Word `w` of a row of bytes at multiples of 16, zero or not.
__device__ inline unsigned word_of_bytes(const Mask& mask, std::int64_t row, int w, int width) {
  const int x = w * 32, there = min(width - x, 32);
  if (there <= 0) return 0;
  const auto* bytes = reinterpret_cast<const uint4*>(mask.input.data + row + x);
  unsigned sites = nonzero_bytes(__ldcs(bytes));
  if (there > 16) sites |= nonzero_bytes(__ldcs(bytes + 1)) << 16;
  return (mask.is_zero_site() ? ~sites : sites) & (kAllLanes >> (32 - there));
}

/// For `count` of 32 words, and others that it looks at for nothing: take(word). What is read for several is on its way
/// together.
template <class Take>
__device__ void for_words(int count, Take&& take) {
  constexpr int kTogether = 8;
#pragma unroll 8
  for (int i = 0; i < 32; ++i) {
    if (i == kTogether && count <= kTogether) break;
    take(i);
  }
}

/// A lane's word of `count` that begin at column x0 of a row, of any elements, read side by side.
template <Reading kReading>
__device__ unsigned word_of_elements(const Mask& mask, std::int64_t row, int x0, int width, int count) {
  unsigned mine = 0;
  for_words(count, [&](int i) {
    const int x = x0 + i * 32 + lane_id();
    bool is_site = x < width;
    if constexpr (kReading == Reading::elements) is_site = is_site && mask.is_site(row + x);
    else is_site = is_site && (mask.input.data[row + x] == std::byte{0}) == mask.is_zero_site();
    const unsigned sites = __ballot_sync(kAllLanes, is_site);
    if (lane_id() == i) mine = sites;
  });
  return mine;
}

/// Where runs of ones and of zeros begin, but at the row's end.
///
/// @param word    the lane's, w of its row
/// @param before  the last bit before the warp's first word
__device__ inline unsigned beginnings(unsigned word, bool before, int w, int width) {
  unsigned last = __shfl_up_sync(kAllLanes, word, 1) >> 31;
  if (lane_id() == 0) last = w > 0 ? before : word & 1;
  const int there = width - w * 32;
  const unsigned in_row = there >= 32 ? kAllLanes : there > 0 ? lanes_before(there) : 0;
  return (word ^ (word << 1 | last)) & in_row;
}

/// Warp = 32 words of a row, and their summary. The images may be parts, of `height` rows.
///
/// kSides: of a signed field; the mask's sites are the elements inside
template <Reading kReading, bool kSides>
__global__ void __launch_bounds__(kShallowPackBlock)
    pack_shallow_images(const __grid_constant__ ShallowImages images, const __grid_constant__ Mask mask) {
  const std::int64_t warp = (std::int64_t{blockIdx.x} * kShallowPackBlock + threadIdx.x) / 32;
  const Division by_row(warp, images.summaries), by_item(by_row.quotient, images.height);
  if (by_item.quotient >= images.items) return;
  const std::int64_t step = mask.input.rank == 1 ? 0 : mask.input.stride[0];
  const std::int64_t row = mask.input.items.offset(images.first_item + by_item.quotient) + by_item.remainder * step;
  const int w0 = static_cast<int>(by_row.remainder) * 32, w = w0 + lane_id();
  unsigned word = 0;
  if constexpr (kReading == Reading::aligned_bytes) word = word_of_bytes(mask, row, w, images.width);
  else word = word_of_elements<kReading>(mask, row, w0 * 32, images.width, min(32, images.words - w0));
  if constexpr (kSides) {
    if (w < images.words) images.sides[by_row.quotient * images.words + w] = word;
    word = beginnings(word, w0 > 0 && mask.is_site(row + w0 * 32 - 1), w, images.width);
  }
  if (w < images.words) images.bits[by_row.quotient * images.words + w] = word;
  const unsigned filled = __ballot_sync(kAllLanes, word != 0);
  if (lane_id() == 0) images.summary[warp] = filled;
}

/// A word of a row, and the columns of the nearest sites of other words; or of the nearest beginnings of runs.
struct WordInRow {
  static constexpr int kNoneBefore = -2 * kFarthestSite, kNoneBehind = 2 * kFarthestSite;
  std::uint32_t bits;
  std::int32_t before, behind;

  /// From column x of the word to the left (x) and to the right (y). kRuns: to the elements beyond the run's ends
  template <bool kRuns>
  __device__ int2 both(int x) const {
    const unsigned left = bits << (31 - x % 32), right = bits >> x % 32 & (kRuns ? ~1u : ~0u);
    return make_int2((left ? __clz(static_cast<int>(left)) : x - before) + kRuns,
                     right ? __ffs(static_cast<int>(right)) - 1 : behind - x);
  }
  template <bool kRuns>
  __device__ int least(int x) const {
    const int2 steps = both<kRuns>(x);
    return min(steps.x, steps.y);
  }
  /// The column of the nearest one, the lower one of two.
  template <bool kRuns>
  __device__ int site(int x) const {
    const int2 steps = both<kRuns>(x);
    return steps.x <= steps.y ? x - steps.x : x + steps.y;
  }
};

/// A row's words and their summaries, as a warp looks for sites in them.
struct ShallowRow {
  const std::uint32_t *bits, *summary;
  const int words, summaries;

  __device__ ShallowRow(const ShallowImages& images, std::int64_t row)
      : bits(images.bits + row * images.words),
        summary(images.summary + row * images.summaries),
        words(images.words),
        summaries(images.summaries) {}

  /// Column of the last site before word `end`.
  __device__ int last_site(int end) const {
    for (int last = end / 32; last >= 0; last -= 32) {
      const int s = last - lane_id();
      unsigned filled = s >= 0 ? summary[s] : 0;
      if (s == end / 32) filled &= lanes_before(end % 32);
      const unsigned found = __ballot_sync(kAllLanes, filled != 0);
      if (!found) continue;
      const int lane = __ffs(static_cast<int>(found)) - 1;
      return last_of((last - lane) * 32, __shfl_sync(kAllLanes, filled, lane));
    }
    return WordInRow::kNoneBefore;
  }
  /// Column of the first site from word `begin` on.
  __device__ int first_site(int begin) const {
    for (int first = begin / 32; first < summaries; first += 32) {
      const int s = first + lane_id();
      unsigned filled = s < summaries ? summary[s] : 0;
      if (s == begin / 32) filled &= ~lanes_before(begin % 32);
      const unsigned found = __ballot_sync(kAllLanes, filled != 0);
      if (!found) continue;
      const int lane = __ffs(static_cast<int>(found)) - 1;
      return first_of((first + lane) * 32, __shfl_sync(kAllLanes, filled, lane));
    }
    return WordInRow::kNoneBehind;
  }

  /// The words from `first` on that a block's columns lie in, one to a lane of the first kShallowWarps.
  __device__ WordInRow find(int first) const {
    const int lane = lane_id();
    const bool there = lane < kShallowWarps && first + lane < words;
    const unsigned word = there ? bits[first + lane] : 0;
    const int before = last_site(first), behind = first_site(first + kShallowWarps);
    const unsigned filled = __ballot_sync(kAllLanes, word != 0);
    const unsigned lower = filled & lanes_before(lane), upper = filled & ~lanes_before(lane) & ~(1u << lane);
    const int below = lower ? 31 - __clz(static_cast<int>(lower)) : lane,
              above = upper ? __ffs(static_cast<int>(upper)) - 1 : lane;
    const unsigned left = __shfl_sync(kAllLanes, word, below), right = __shfl_sync(kAllLanes, word, above);
    return {word, lower ? last_in(first + below, left) : before, upper ? first_in(first + above, right) : behind};
  }

 private:
  static __device__ int last_in(int w, unsigned word) { return w * 32 + 31 - __clz(static_cast<int>(word)); }
  static __device__ int first_in(int w, unsigned word) { return w * 32 + __ffs(static_cast<int>(word)) - 1; }
  /// Of 32 words that have sites as their summary says, the first of them being w0.
  __device__ int last_of(int w0, unsigned filled) const {
    const int w = w0 + 31 - __clz(static_cast<int>(filled));
    return last_in(w, bits[w]);
  }
  __device__ int first_of(int w0, unsigned filled) const {
    const int w = w0 + __ffs(static_cast<int>(filled)) - 1;
    return first_in(w, bits[w]);
  }
};

}  // namespace fathom::grid::cuda
