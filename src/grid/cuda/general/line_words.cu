// Sites (or changes of class) along the lines of an axis, one bit per element, and where the nearest lies beyond each
// word.
//
// Source: the bit-packed rows of Man et al. 2011; departs by keeping carries instead of distances. Cost: every element
// is read once (twice for changes), 3/8 byte is written for it.
#include <algorithm>

#include "core/cuda/runtime.h"
#include "grid/cuda/general/line_words.h"
#include "grid/cuda/input/mask.cuh"
#include "grid/cuda/tuning.h"

namespace fathom::grid::cuda::general {

namespace {

constexpr unsigned kAll = 0xFFFFFFFFu;

/// What fills words needs to know of a line.
struct Source {
  Input input;
  Classes classes;
  std::int64_t first_item;
  std::int64_t lines_before;  ///< lines of an item before the axis

  /// Offset of a line's first element in its item, and the item.
  __device__ const std::byte* item(const Lines& lines, std::int64_t outer, std::int64_t inner,
                                   std::int64_t& offset) const {
    const Division by_item(outer, lines_before);
    offset = input.offset(0, lines.axis, by_item.remainder) + input.offset(lines.axis + 1, input.rank, inner);
    const std::int64_t elements = input.items.offset(first_item + by_item.quotient);
    return input.data + elements * static_cast<std::int64_t>(size_of_element());
  }

  /// The bit of element x of a line that starts at `line`.
  __device__ bool bit(const std::byte* item, std::int64_t line, const Lines& lines, bool periodic,
                      std::int32_t x) const {
    const std::int64_t stride = input.stride[lines.axis], at = line + x * stride;
    if (!classes.boundaries) return fulfils(classes.site, item, at);
    if (x > 0) return classes.differ(item, at - stride, at);
    return periodic && classes.differ(item, line + (lines.extent - 1) * stride, at);
  }

 private:
  __device__ std::size_t size_of_element() const {
    switch (input.dtype) {
      case DType::boolean:
      case DType::uint8:
      case DType::int8: return 1;
      case DType::uint16:
      case DType::int16: return 2;
      case DType::uint32:
      case DType::int32:
      case DType::float32: return 4;
      default: return 8;
    }
  }
};

constexpr int kWordsOfWarp = 4;  ///< so that finding the row costs less than reading it

/// The last axis. Warp = words that follow one another, lane = element: reads are coalesced.
__global__ void __launch_bounds__(kGeneralBlock) fill_bits_of_rows(LineWords words, Source source) {
  const std::int64_t first = (std::int64_t{blockIdx.x} * kGeneralBlock + threadIdx.x) / 32 * kWordsOfWarp;
  const Division by_row(first, words.words);
  std::int64_t row = by_row.quotient, line = 0;
  auto w = static_cast<std::int32_t>(by_row.remainder);
  const std::byte* item = source.item(words.lines, row, 0, line);
  for (std::int64_t i = first; i < min(first + kWordsOfWarp, words.count()); ++i, ++w) {
    if (w == words.words) {
      w = 0;
      item = source.item(words.lines, ++row, 0, line);
    }
    const std::int32_t x = w * kWordElements + static_cast<std::int32_t>(threadIdx.x % 32);
    const bool there = x < words.lines.extent;
    const unsigned bits = __ballot_sync(kAll, there && source.bit(item, line, words.lines, words.periodic, x));
    const bool pin = words.pinned && there && fulfils(source.classes.background, item, line + x);
    const unsigned pinned = __ballot_sync(kAll, pin);
    if (threadIdx.x % 32 != 0) continue;
    words.bits[i] = bits;
    if (words.pinned) words.pinned[i] = pinned;
  }
}

/// The same for bytes told apart by being zero, where all rows are whole words at multiples of 16. Thread = word.
__global__ void __launch_bounds__(kGeneralBlock) fill_bits_of_bytes(LineWords words, Source source) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kGeneralBlock + threadIdx.x;
  if (i >= words.count()) return;
  const Division by_row(i, words.words);
  std::int64_t line = 0;
  const std::byte* item = source.item(words.lines, by_row.quotient, 0, line);
  const auto* bytes = reinterpret_cast<const uint4*>(item + line) + 2 * by_row.remainder;
  const unsigned nonzero = nonzero_bytes(bytes[0]) | nonzero_bytes(bytes[1]) << 16;
  words.bits[i] = source.classes.site.kind == ElementRule::Kind::zero ? ~nonzero : nonzero;
}

/// Whether that serves.
bool has_words_of_bytes(const Input& input, const Classes& classes) {
  constexpr int kBytes = 16;
  const ElementRule::Kind kind = classes.site.kind;
  bool serves = !classes.boundaries && size_of(input.dtype) == 1 &&
                (kind == ElementRule::Kind::zero || kind == ElementRule::Kind::nonzero) &&
                reinterpret_cast<std::uintptr_t>(input.data) % kBytes == 0 &&
                input.extent[input.rank - 1] % kWordElements == 0;
  for (int k = 0; k + 1 < input.rank; ++k) serves &= input.stride[k] % kBytes == 0;
  for (int k = 0; k < input.items.rank; ++k) serves &= input.items.stride[k] % kBytes == 0;
  return serves;
}

/// Any other axis. Thread = word: neighbouring threads read neighbouring lines.
__global__ void __launch_bounds__(kGeneralBlock) fill_bits_of_columns(LineWords words, Source source) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kGeneralBlock + threadIdx.x;
  if (i >= words.count()) return;
  const Division by_inner(i, words.lines.inner), by_words(by_inner.quotient, words.words);
  const std::int64_t inner = by_inner.remainder;
  const auto x0 = static_cast<std::int32_t>(by_words.remainder * kWordElements);
  std::int64_t line = 0;
  const std::byte* item = source.item(words.lines, by_words.quotient, inner, line);
  const std::int32_t count = min(kWordElements, words.lines.extent - x0);
  const std::int64_t stride = source.input.stride[words.lines.axis];
  unsigned bits = 0, pinned = 0;
  for (std::int32_t j = 0; j < count; ++j) {
    const std::int32_t x = x0 + j;
    bits |= unsigned{source.bit(item, line, words.lines, words.periodic, x)} << j;
    if (words.pinned) pinned |= unsigned{fulfils(source.classes.background, item, line + x * stride)} << j;
  }
  words.bits[i] = bits;
  if (words.pinned) words.pinned[i] = pinned;
}

constexpr std::int32_t kNone = INT32_MIN;

/// Coordinate of a word's last site, as seen from the right.
__device__ std::int32_t last_site(const LineWords& words, std::int64_t i, std::int32_t w) {
  const std::uint32_t bits = words.bits[i];
  return bits ? w * kWordElements + highest_bit(bits) - (words.changes ? 1 : 0) : kNone;
}

/// Minus the coordinate of a word's first site: so the nearest is the largest, as on the other side.
__device__ std::int32_t minus_first_site(const LineWords& words, std::int64_t i, std::int32_t w) {
  const std::uint32_t bits = words.bits[i];
  return bits ? -(w * kWordElements + lowest_bit(bits)) : kNone;
}

__device__ std::int32_t right_of(std::int32_t minus_site) { return minus_site == kNone ? -1 : -minus_site; }

/// Carries along lines that lie side by side. Thread = line.
__global__ void __launch_bounds__(kGeneralBlock) carry_along_columns(LineWords words) {
  const std::int64_t line = std::int64_t{blockIdx.x} * kGeneralBlock + threadIdx.x;
  const Lines& lines = words.lines;
  if (line >= lines.count()) return;
  const Division by_inner(line, lines.inner);
  const std::int64_t base = by_inner.quotient * words.words * lines.inner + by_inner.remainder;
  std::int32_t before = kNone, behind = kNone;
  if (words.periodic)
    for (std::int32_t w = 0; w < words.words; ++w) {
      before = max(before, last_site(words, base + w * lines.inner, w));
      behind = max(behind, minus_first_site(words, base + w * lines.inner, w));
    }
  std::int32_t carry = before == kNone ? kNone : before - lines.extent;
  for (std::int32_t w = 0; w < words.words; ++w) {
    const std::int64_t i = base + w * lines.inner;
    words.left[i] = carry;
    carry = max(carry, last_site(words, i, w));
  }
  carry = behind == kNone ? kNone : behind - lines.extent;
  for (std::int32_t w = words.words - 1; w >= 0; --w) {
    const std::int64_t i = base + w * lines.inner;
    words.right[i] = right_of(carry);
    carry = max(carry, minus_first_site(words, i, w));
  }
}

/// The largest value before each thread of the block, and over all of them.
template <int kThreads>
struct MaxScan {
  std::int32_t before, all;

  __device__ explicit MaxScan(std::int32_t value) {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    std::int32_t inclusive = value;
    for (int step = 1; step < 32; step *= 2) {
      const std::int32_t other = __shfl_up_sync(kAll, inclusive, step);
      if (lane >= step) inclusive = max(inclusive, other);
    }
    before = __shfl_up_sync(kAll, inclusive, 1);
    if (lane == 0) before = kNone;
    all = __shfl_sync(kAll, inclusive, 31);
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

/// Carries along rows. A warp or a block = row, which it walks in steps of as many words as it has threads, there and
/// back.
template <int kThreads>
__global__ void __launch_bounds__(std::max(kThreads, kGeneralBlock)) carry_along_rows(LineWords words) {
  const std::int64_t row = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / kThreads;
  if (row >= words.lines.count()) return;
  const std::int64_t base = row * words.words;
  const std::int32_t count = words.words, me = static_cast<std::int32_t>(threadIdx.x % kThreads);
  std::int32_t before = kNone, behind = kNone;
  for (std::int32_t w0 = 0; words.periodic && w0 < count; w0 += kThreads) {
    const std::int32_t w = w0 + me;
    before = max(before, MaxScan<kThreads>(w < count ? last_site(words, base + w, w) : kNone).all);
    behind = max(behind, MaxScan<kThreads>(w < count ? minus_first_site(words, base + w, w) : kNone).all);
  }
  std::int32_t carry = before == kNone ? kNone : before - words.lines.extent;
  for (std::int32_t w0 = 0; w0 < count; w0 += kThreads) {
    const std::int32_t w = w0 + me;
    const MaxScan<kThreads> scan(w < count ? last_site(words, base + w, w) : kNone);
    if (w < count) words.left[base + w] = max(carry, scan.before);
    carry = max(carry, scan.all);
  }
  carry = behind == kNone ? kNone : behind - words.lines.extent;
  for (std::int32_t w0 = 0; w0 < count; w0 += kThreads) {
    const std::int32_t w = count - 1 - w0 - me;
    const MaxScan<kThreads> scan(w >= 0 ? minus_first_site(words, base + w, w) : kNone);
    if (w >= 0) words.right[base + w] = right_of(max(carry, scan.before));
    carry = max(carry, scan.all);
  }
}

}  // namespace

void fill_line_words(const LineWords& words, const Input& input, const Classes& classes, std::int64_t first_item,
                     cudaStream_t stream) {
  Source source{input, classes, first_item, 1};
  for (int k = 0; k < words.lines.axis; ++k) source.lines_before *= input.extent[k];
  if (words.lines.axis == input.rank - 1) {
    if (has_words_of_bytes(input, classes))
      fill_bits_of_bytes<<<blocks_for(words.count(), kGeneralBlock), kGeneralBlock, 0, stream>>>(words, source);
    else
      fill_bits_of_rows<<<blocks_for((words.count() + kWordsOfWarp - 1) / kWordsOfWarp * 32, kGeneralBlock),
                          kGeneralBlock, 0, stream>>>(words, source);
    const std::int64_t rows = words.lines.count();
    if (words.words < kLongRow)
      carry_along_rows<32><<<blocks_for(rows * 32, kGeneralBlock), kGeneralBlock, 0, stream>>>(words);
    else carry_along_rows<1024><<<static_cast<unsigned>(rows), 1024, 0, stream>>>(words);
  } else {
    fill_bits_of_columns<<<blocks_for(words.count(), kGeneralBlock), kGeneralBlock, 0, stream>>>(words, source);
    carry_along_columns<<<blocks_for(words.lines.count(), kGeneralBlock), kGeneralBlock, 0, stream>>>(words);
  }
  fathom::cuda::check_launch("finding sites along lines");
}

}  // namespace fathom::grid::cuda::general
