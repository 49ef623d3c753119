// Images of few rows, and lines as images of one row, as long as they may be.
//
// Words of 32 bits along rows are packed first, and a summary of each 32 words, which says which of them have sites.
// Work mapping: block = 256 columns of an image. Phase 1, warp = row: its words there, and the nearest sites before and
// behind each, wherever in the row; summaries lead to them, 32 of these at a time. Phase 2, thread = column, with all
// rows in registers: the steps along each row, from its word; then rows farther and farther away are tried, until none
// can be nearer.
//
// A row whose steps are more than those of another by as many as there may be rows wins nowhere in the column. So
// squares are counted from that of the least steps: what is left of them fits 32 bits in rows of any length, with the
// row's number behind it, by which the lowest of several nearest sites wins.
//
// Source: separable passes (Hirata 1996); departs by the order of the axes, and by having all of the second one at
// hand. Cost: every element is read once, an eighth of a byte written and read for it, then its results are written; at
// most an operation for each pair of a column's rows.
#pragma once

#include "core/cuda/early_launch.cuh"
#include "core/root.hd.h"
#include "grid/cuda/emit.cuh"
#include "grid/cuda/mask.cuh"
#include "grid/cuda/plane.cuh"

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

  // What is solved, and where it goes if it is float distances.
  std::int32_t begin = 0, end = 1;         ///< columns of the region
  std::int32_t first_tile = 0, tiles = 1;  ///< that hold them, of kShallowBlock columns each
  Placed<float> distance;
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

/// A lane's word of 32 that begin at column x0 of a row, of any elements, read side by side.
template <Reading kReading>
__device__ unsigned word_of_elements(const Mask& mask, std::int64_t row, int x0, int width) {
  unsigned mine = 0;
#pragma unroll 8
  for (int i = 0; i < 32; ++i) {
    const int x = x0 + i * 32 + lane_id();
    bool is_site = x < width;
    if constexpr (kReading == Reading::elements) is_site = is_site && mask.is_site(row + x);
    else is_site = is_site && (mask.input.data[row + x] == std::byte{0}) == mask.is_zero_site();
    const unsigned sites = __ballot_sync(kAllLanes, is_site);
    if (lane_id() == i) mine = sites;
  }
  return mine;
}

/// Warp = 32 words of a row, and their summary. The images may be parts, of `height` rows.
template <Reading kReading>
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
  else word = word_of_elements<kReading>(mask, row, w0 * 32, images.width);
  if (w < images.words) images.bits[by_row.quotient * images.words + w] = word;
  const unsigned filled = __ballot_sync(kAllLanes, word != 0);
  if (lane_id() == 0) images.summary[warp] = filled;
}

/// A word of a row, and the columns of the nearest sites of other words.
struct WordInRow {
  static constexpr int kNoneBefore = -2 * kFarthestSite, kNoneBehind = 2 * kFarthestSite;
  std::uint32_t bits;
  std::int32_t before, behind;

  /// From column x of the word to the left (x) and to the right (y).
  __device__ int2 both(int x) const {
    const unsigned left = bits << (31 - x % 32), right = bits >> x % 32;
    return make_int2(left ? __clz(static_cast<int>(left)) : x - before,
                     right ? __ffs(static_cast<int>(right)) - 1 : behind - x);
  }
  __device__ int least(int x) const {
    const int2 steps = both(x);
    return min(steps.x, steps.y);
  }
  /// The column of the nearest site, the lower one of two.
  __device__ int site(int x) const {
    const int2 steps = both(x);
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

/// For the rows of a column: keys of their nearest sites.
///
/// kRows: at least as many as there are. kSites: whether it matters which of several is the nearest
template <int kRows, bool kSites>
class ShallowColumn {
 public:
  static constexpr int kRowBits = 5;
  static_assert(kShallowRows < 1 << kRowBits);

  /// @param words  of all rows; x lies in them
  __device__ ShallowColumn(const WordInRow (*words)[kShallowWarps], int rows, int x) : rows_(rows) {
    const int w = x / 32 % kShallowWarps;
    int steps[kRows];
    least_ = WordInRow::kNoneBehind;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      steps[r] = r < rows ? words[r][w].least(x) : WordInRow::kNoneBehind;
      least_ = min(least_, steps[r]);
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const auto more = static_cast<unsigned>(steps[r] - least_);
      const unsigned square = more * static_cast<unsigned>(steps[r] + least_);
      own_[r] = has_site() && more < kShallowRows ? square << kRowBits | static_cast<unsigned>(r) : kNothing;
      best_[r] = r < rows ? own_[r] : 0;  // what is not there keeps nobody busy
    }
  }

  /// By a whole warp.
  __device__ void search() {
#pragma unroll
    for (int k = 1; k < kRows; ++k) {
      if (k >= rows_) break;
      const bool asks = (k & (k - 1)) == 0;
      if (asks && settled(static_cast<unsigned>(k * k))) break;
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const auto square = static_cast<unsigned>(k * k) << kRowBits;
        if (r >= k) best_[r] = __viaddmin_u32(own_[r - k], square, best_[r]);
        if (r + k < kRows) best_[r] = __viaddmin_u32(own_[r + k], square, best_[r]);
      }
    }
  }

  __device__ bool has_site() const { return least_ < kFarthestSite; }
  /// Squares that fit 32 bits, whatever the row.
  __device__ bool is_near() const { return least_ < 65500; }
  __device__ unsigned key(int r) const { return best_[r]; }
  static __device__ int row_of(unsigned key) { return static_cast<int>(key & ((1u << kRowBits) - 1)); }
  __device__ std::uint32_t near_square(unsigned key) const {
    const auto steps = static_cast<std::uint32_t>(least_);
    return steps * steps + (key >> kRowBits);
  }
  __device__ std::uint64_t square(unsigned key) const {
    const auto steps = static_cast<std::uint64_t>(least_);
    return steps * steps + (key >> kRowBits);
  }

 private:
  static constexpr unsigned kNothing = 1u << 31;  ///< more than any key
  static_assert((std::uint64_t{kShallowRows} * 2 * kShallowColumns) << kRowBits <= kNothing);

  /// @param square  of the steps to the next rows
  __device__ bool settled(unsigned square) const {
    unsigned most = best_[0];
#pragma unroll
    for (int r = 1; r < kRows; ++r) most = max(most, best_[r]);
    return !__any_sync(kAllLanes, most >= (square + !kSites) << kRowBits);
  }

  const int rows_;
  int least_;  ///< steps along a row
  unsigned own_[kRows], best_[kRows];
};

/// One element. Not inlined: it is large.
__device__ __noinline__ inline void write_element(const Emitter<std::int64_t>& emitter, std::int64_t item, int y, int x,
                                                  std::int64_t square, std::int64_t site) {
  const std::int64_t at[kMaxSpaceRank] = {emitter.input.rank == 1 ? x : y, x};
  if (emitter.in_region(at)) emitter.emit(item, at, square, site);
}

/// The results of a column.
template <Writing kWriting, int kRows>
struct ShallowWriter {
  static constexpr bool kSites = finds_sites(kWriting);
  using Column = ShallowColumn<kRows, kSites>;

  const ShallowImages& images;
  const Emitter<std::int64_t>& emitter;
  const WordInRow (*words)[kShallowWarps];
  const std::int64_t item;
  const int x;

  __device__ void write_floats(const Column& column) const {
    if (column.is_near()) write_rows([&](int r) { return root_of(column.near_square(column.key(r))); });
    else if (column.has_site()) write_rows([&](int r) { return rounded_sqrt<float>(column.square(column.key(r))); });
    else write_rows([](int) { return no_value<float>(); });
  }

  /// Row by row, so that what writes them is there once. @param keys  of all rows, kShallowBlock apart
  __device__ void write_others(const Column& column, std::uint16_t* keys) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      if (r < images.height) keys[r * kShallowBlock] = static_cast<std::uint16_t>(column.key(r));
#pragma unroll 1
    for (int y = 0; y < images.height; ++y) {
      if constexpr (kSites) write_site(column, y, keys[y * kShallowBlock]);
      else write_value(column, y, keys[y * kShallowBlock]);
    }
  }

 private:
  template <class Distance>
  __device__ void write_rows(Distance&& distance) const {
    float* to = images.distance.row(images.first_item + item, 0, 0) + (x - images.begin);
#pragma unroll
    for (int r = 0; r < kRows; ++r, to += images.distance.y_stride)
      if (r < images.height) *to = distance(r);
  }

  __device__ void write_value(const Column& column, int y, unsigned key) const {
    const bool is_near = column.is_near(), there = column.has_site();
    if (emitter.values.serves && (is_near || !there)) {
      LaneResults<1, 1> result{.item = item, .z = 0, .y = y, .x = x, .rows = 1};
      result.squares[0][0] = there ? column.near_square(key) : kNoSquare;
      return emitter.values.write(emitter.first_item + item, result);
    }
    const auto square = static_cast<std::int64_t>(column.square(key));
    write_element(emitter, item, y, x, there ? square : no_value<std::int64_t>(), -1);
  }

  __device__ void write_site(const Column& column, int y, unsigned key) const {
    const bool there = column.has_site();
    const int row = Column::row_of(key);
    const std::int64_t site =
        there ? std::int64_t{row} * images.width + words[row][x / 32 % kShallowWarps].site(x) : -1;
    if (!emitter.plain.serves) {
      const auto square = static_cast<std::int64_t>(column.square(key));
      return write_element(emitter, item, y, x, there ? square : no_value<std::int64_t>(), site);
    }
    float root = no_value<float>();
    if (column.is_near()) root = root_of(column.near_square(key));
    else if (there) root = rounded_sqrt<float>(column.square(key));
    emitter.plain.write(emitter.plain.row(images.first_item + item, 0, y), x, root, site);
  }
};

/// Block = tile of an image. kRows: as many as there are, or more.
template <Writing kWriting, int kRows>
__global__ void __launch_bounds__(kShallowBlock, kRows > 16 ? kShallowBlocksOfMany : kShallowBlocks)
    solve_shallow_images(const __grid_constant__ ShallowImages images,
                         const __grid_constant__ Emitter<std::int64_t> emitter) {
  using Writer = ShallowWriter<kWriting, kRows>;
  constexpr bool kFloats = !is_general(kWriting);
  __shared__ WordInRow words[kRows][kShallowWarps];
  __shared__ std::uint16_t keys[kFloats ? 1 : kRows * kShallowBlock];
  const int t = static_cast<int>(threadIdx.x);
  const Division tile(blockIdx.x, images.tiles);
  const int x0 = (images.first_tile + static_cast<int>(tile.remainder)) * kShallowBlock;
  fathom::cuda::wait_for_last();
  for (int r = t / 32; r < images.height; r += kShallowWarps) {
    const WordInRow word = ShallowRow(images, tile.quotient * images.height + r).find(x0 / 32);
    if (lane_id() < kShallowWarps) words[r][lane_id()] = word;
  }
  __syncthreads();
  const int x = x0 + t;
  typename Writer::Column column(words, images.height, min(x, images.width - 1));
  column.search();
  if (x < images.begin || x >= images.end) return;
  const Writer writer{images, emitter, words, tile.quotient, x};
  if constexpr (kFloats) writer.write_floats(column);
  else writer.write_others(column, keys + t);
}

}  // namespace fathom::grid::cuda
