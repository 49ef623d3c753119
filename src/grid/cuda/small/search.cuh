// Small images whole: axes of at most 128 elements, so that squared distances fit 16 bits however far the sites are.
//
// Work mapping: persistent blocks, an image after the other in shared memory, in tiles of 32 columns, with nearest
// sites of 16. Phase 1: distances along rows from the words (small/words.cuh), squared, thread = a quarter of a tile's
// row. Phase 2: the window of volume/window.cuh along columns, half warp = 8 rows of a tile, which is done at the
// latest when all rows are seen. Of labels, the ends of runs along columns are offered first, as in volumes.
//
// What is compared are the squares of two columns in a word; with nearest sites that of one, and behind it the way to
// the site, so that of equally near ones the first is least. Cost: an eighth of a byte is read for each element, half a
// byte of labels, then its result written: no search is left to other kernels.
#pragma once

#include "grid/cuda/small/words.cuh"
#include "grid/cuda/volume/nearest/sites.cuh"
#include "grid/cuda/volume/row_steps.cuh"
#include "grid/cuda/volume/window.cuh"
#include "grid/cuda/volume/writer.cuh"

namespace fathom::grid::cuda::small {

using namespace volume;  // its windows, runs and writers

using SmallSquares = EightOfRow<kCap16>;
static_assert(2 * (kSmallAxis - 1) * (kSmallAxis - 1) < kCap16 * kCap16, "a distance is no missing site");
static_assert(SmallSquares::most() + kSmallAxis * kSmallAxis < 1 << 16, "a step wraps nothing");

/// Words along columns, of all tiles of an image side by side.
template <bool kLabels>
using SmallRuns = RunWords<kLabels, kSmallAxis * kSmallAxis / 32>;

/// The runs of an image's columns, in words `w` of its rows.
template <bool kLabels>
__device__ RunEnds run_ends(SmallRuns<kLabels>& words, int rows, int w) {
  return RunEnds(words, rows, w * kSmallAxis);
}

/// A row's words, and the steps from their ends to the nearest sites of the others. In registers: it is asked for words
/// whose number is a constant.
struct SmallRow {
  static constexpr int kMostWords = kSmallAxis / 32;
  uint2 word[kMostWords];
  bool has_bits = false;

  /// @param on_left, on_right  elements that sites on these sides lie beyond the bits
  __device__ SmallRow(const std::uint32_t* row, int words, int on_left = 0, int on_right = 0) {
    unsigned before = kNoneInWord, behind = kNoneInWord;
#pragma unroll
    for (int w = 0; w < kMostWords; ++w) {
      const unsigned bits = w < words ? row[w] : 0;
      word[w] = make_uint2(bits, before);
      before =
          bits ? static_cast<unsigned>(1 + __clz(static_cast<int>(bits)) + on_left) : min(before + 32, kNoneInWord);
      has_bits |= bits != 0;
    }
#pragma unroll
    for (int w = kMostWords - 1; w >= 0; --w) {
      const unsigned bits = word[w].x;
      word[w].y |= behind << 16;
      behind = bits ? static_cast<unsigned>(__ffs(static_cast<int>(bits)) + on_right) : min(behind + 32, kNoneInWord);
    }
  }
};

/// What results are written by.
struct SmallResults {
  const SmallImages& images;
  const Emitter<std::int64_t>& emitter;
  const uint2* of_byte;  ///< a table, where one is asked for
};

/// Distances, squares, and signed ones.
template <Writing kWriting>
struct SmallDistances : SmallResults {
  using Compared = WindowPairs;
  static constexpr bool kLabels = is_of_labels(kWriting), kHasTable = true;
  static constexpr bool kIsLarge = kLabels || is_general(kWriting);  ///< it takes 64 registers
  static constexpr int kColumns = 32;                                ///< of a tile
  static constexpr int kOnRight = kLabels;
  static constexpr unsigned kHere = 0;

  /// A quarter of a row of tile `t`.
  __device__ uint4 along_row(uint2 word, int t, int quarter) const {
    return SmallSquares(word, quarter * 8, of_byte, kLabels)
        .within(pairs_inside(images.volume.nx - t * 32 - quarter * 8));
  }
  __device__ void offer_ends(const RunEnds& ends, int, int group, unsigned* best) const {
    ends.bound_pairs(group, lane_id() % 16, best);
  }
  __device__ void write(std::int64_t item, int t, int y, const unsigned (&best)[8]) const {
    const Volume::Tile place{item, t, 0};
    VolumeWriter<kWriting>{images.volume, emitter, place}.write_pairs(y, best);
  }
  __device__ void write_none(std::int64_t item, int t, int y0) const {
    const Volume::Tile place{item, t, 0};
    const VolumeWriter<kWriting> writer{images.volume, emitter, place};
    for (int y = y0; y < min(y0 + 16, images.volume.ny); y += 8) writer.write_none(y, t * 32 + lane_id());
  }
};

/// Nearest sites: square · 2⁹ + (steps along y + 128) · 2 + whether the site lies to the right.
struct SmallSite : WindowSites {
  static constexpr unsigned kSquare = 1u << 9;
  static constexpr unsigned kNone = kCap16 * kCap16 * kSquare + kHere;
  static_assert(kSmallAxis <= 128 && kCap16 * kCap16 + kSmallAxis * kSmallAxis < 1u << 23, "a step wraps nothing");

  static __device__ unsigned square(unsigned word) { return word >> 9; }
  /// Of a site some steps to the right, or to the left.
  static __device__ unsigned along_row(int steps) {
    return static_cast<unsigned>(steps * steps) * kSquare + kHere + unsigned{steps > 0};
  }
  /// Of a site some steps down, or up.
  static __device__ unsigned along_column(int steps) {
    return static_cast<unsigned>(steps * steps) * kSquare + kHere + static_cast<unsigned>(steps) * kStep;
  }

  static __device__ unsigned largest(const unsigned* eight) { return square(most(eight)); }
};

template <bool kHasLabels>
struct SmallSites : SmallResults {
  using Compared = SmallSite;
  static constexpr bool kLabels = kHasLabels, kHasTable = false, kIsLarge = true;
  static constexpr int kColumns = 16;
  static constexpr int kOnRight = 0;
  static constexpr unsigned kHere = SmallSite::kHere;

  /// Four neighbours; those beyond the last column keep no search busy.
  __device__ uint4 along_row(uint2 word, int t, int quarter) const {
    const int x = t * 16 + quarter * 4;
    unsigned sites[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int steps = kLabels ? steps_beyond_run(word, x % 32 + k) : steps_along_x(word, x % 32 + k);
      sites[k] = abs(steps) < static_cast<int>(kNoneInWord) ? SmallSite::along_row(steps) : SmallSite::kNone;
      if (x + k >= images.volume.nx) sites[k] = kHere;
    }
    return make_uint4(sites[0], sites[1], sites[2], sites[3]);
  }
  /// What lies beyond the ends of the runs of eight rows of this lane's column, and the elements that need no search.
  __device__ void offer_ends(const RunEnds& ends, int t, int group, unsigned* best) const {
    const int line = t % 2 * 16 + lane_id() % 16;
    int steps[8];
    ends.nearest(group, line, kSmallAxis, steps);
    const unsigned settled = ends.settled(group, line);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      if (steps[j]) best[j] = min(best[j], SmallSite::along_column(steps[j]));
      if (settled >> j & 1) best[j] = kHere;
    }
  }
  __device__ void write(std::int64_t item, int t, int y, const unsigned (&best)[8]) const {
    const SiteWriter writer = writer_of(item, t);
    const auto result = [&](int j) {
      return writer.result(y + j, SmallSite::square(best[j]), SmallSite::along_line(best[j]), 0, best[j] & 1);
    };
    writer.write_group(y, images.volume.ny - y, result, inside(item, t, y));
  }
  __device__ void write_none(std::int64_t item, int t, int y0) const {
    const int y = y0 + lane_id() / 16 * 8;
    const auto none = [](int) { return SiteWriter::Result{UINT32_MAX, -1}; };
    writer_of(item, t).write_group(y, images.volume.ny - y, none, inside(item, t, y));
  }

 private:
  __device__ SiteWriter writer_of(std::int64_t item, int t) const {
    return {images.volume, emitter, {item, t / 2, 0}, t * 16 + lane_id() % 16};
  }
  /// Of signed labels: which of eight rows of this lane's column are not label 0.
  __device__ unsigned inside(std::int64_t item, int t, int y) const {
    const Volume& v = images.volume;
    unsigned inside = 0;
    if (!kLabels || v.pins) return inside;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const Volume::Tile row{item, t / 2, min(y + j, v.ny - 1)};
      const unsigned background = __ldg(&v.changes_along_z(row)->y);
      inside |= (~background >> (t % 2 * 16 + lane_id() % 16) & 1) << j;
    }
    return inside;
  }
};

/// An image's tiles in shared memory, side by side. Results: SmallDistances or SmallSites.
template <class Results>
struct SmallImage : Results {
  using Compared = typename Results::Compared;
  using Results::images, Results::kLabels;
  unsigned* memory;
  SmallRuns<kLabels>& run_words;
  const Volume& v = images.volume;
  const int tiles = (v.nx + Results::kColumns - 1) / Results::kColumns;

  /// Rows behind the last.
  __device__ void pad() const {
    for (int t = 0; t < tiles; ++t) tile(t).pad(v.ny);
  }

  /// By all threads of the block. @returns whether the thread has seen a site
  __device__ bool load(std::int64_t item) const {
    constexpr int kTilesOfWord = 32 / Results::kColumns;
    const std::uint32_t* bits = images.words_of(item);
    bool any = false;
    if constexpr (kLabels)
      for (int w = 0; w < v.words; ++w)
        any |= run_ends(run_words, v.ny, w).fill([&](int y) { return images.runs(item, w, y); });
    const int quarter = static_cast<int>(threadIdx.x) % 4;
    for (int y = static_cast<int>(threadIdx.x) / 4; y < v.ny; y += static_cast<int>(blockDim.x) / 4) {
      const SmallRow row(bits + y * v.words, v.words, kLabels, Results::kOnRight);
      any |= row.has_bits;
#pragma unroll
      for (int t = 0; t < kTilesOfWord * SmallRow::kMostWords; ++t) {
        if (t >= tiles) break;
        tile(t).put(y, quarter, this->along_row(row.word[t / kTilesOfWord], t, quarter));
      }
    }
    return any;
  }

  __device__ void solve(std::int64_t item) const {
    const int groups = row_groups(v.ny);
    for_jobs([&](int t, int q0) {
      const int q = q0 + lane_id() / 16, group = min(q, groups - 1);
      const auto rows = tile(t);
      Window<Compared> window(rows, group, lane_id() % 16);
      if constexpr (kLabels)
        this->offer_ends(run_ends(run_words, v.ny, t * Results::kColumns / 32), t, group, window.best);
#pragma unroll
      for (int j = 0; j < 8; ++j)  // rows behind the last must not keep the warp busy
        if (q * 8 + j >= v.ny) window.best[j] = Results::kHere;
      const int farthest = max(q0 + 1, groups - 1 - q0);  // group of rows, from the warp's
      window.search_while([&](int m) { return m < farthest; });
      this->write(item, t, q * 8, window.best);
    });
  }

  __device__ void write_none(std::int64_t item) const {
    for_jobs([&](int t, int q0) { Results::write_none(item, t, q0 * 8); });
  }

  /// Calls job(tile, group) for the warp's share: two groups of eight rows of a tile each.
  template <class Job>
  __device__ void for_jobs(Job&& job) const {
    const int jobs = (row_groups(v.ny) + 1) / 2 * tiles;
    for (int k = warp_number(); k < jobs; k += static_cast<int>(blockDim.x) / 32) job(k % tiles, k / tiles * 2);
  }
  __device__ WindowRows<Compared> tile(int t) const {
    return {memory + t * static_cast<int>(window_memory(v.ny) / sizeof(unsigned)), v.ny};
  }
};

/// Results: SmallDistances or SmallSites.
template <class Results>
__global__ void __launch_bounds__(kSmallBlock, search_blocks(kSmallBlock, Results::kIsLarge))
    solve_small_images(const __grid_constant__ SmallImages images,
                       const __grid_constant__ Emitter<std::int64_t> emitter) {
  extern __shared__ uint4 small_shared[];
  __shared__ uint2 of_byte[Results::kHasTable ? 256 : 1];
  __shared__ SmallRuns<Results::kLabels> run_words;
  const SmallImage<Results> image{{{images, emitter, of_byte}}, reinterpret_cast<unsigned*>(small_shared), run_words};
  if constexpr (Results::kHasTable) {
    const uint2* squares = Results::kLabels ? kByteSquaresBeyond.of : kByteSquares.of;
    for (int i = static_cast<int>(threadIdx.x); i < 256; i += static_cast<int>(blockDim.x)) of_byte[i] = squares[i];
  }
  image.pad();
  for (std::int64_t item = blockIdx.x; item < images.volume.items; item += gridDim.x) {
    __syncthreads();  // the table is there, the image before is done
    if (__syncthreads_or(image.load(item))) image.solve(item);
    else image.write_none(item);
  }
}

}  // namespace fathom::grid::cuda::small
