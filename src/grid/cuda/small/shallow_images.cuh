// Images of few rows, and lines as images of one row, as long as they may be.
//
// Words of 32 bits along rows are packed first, and a summary of each 32 words, which says which of them have sites. Of
// labels (small/shallow_labels.cuh), and of signed fields, whose sides are as two labels, they mark where runs begin.
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
// hand. Cost: every element is read once, an eighth of a byte written and read for it, two with a sign and three of
// labels, then its results are written; at most an operation for each pair of a column's rows.
#pragma once

#include "core/cuda/early_launch.cuh"
#include "core/root.hd.h"
#include "grid/cuda/emit.cuh"
#include "grid/cuda/small/shallow_column.cuh"

namespace fathom::grid::cuda {

/// The results of a column.
template <Writing kWriting, int kRows>
struct ShallowWriter {
  static constexpr bool kSites = finds_sites(kWriting), kRuns = is_of_runs(kWriting);
  using Column = ShallowColumn<kRows, kSites, kRuns>;

  const ShallowImages& images;
  const Emitter<std::int64_t>& emitter;
  const WordInRow (*words)[kShallowWarps];
  const std::int64_t item;
  const int x;
  const unsigned inside;  ///< rows whose distance is negative, in bits

  __device__ void write_floats(const Column& column) const {
    if constexpr (kWriting == Writing::both_sides) write_sides(column);
    else if (column.is_near()) write_unpinned(column, [&](unsigned key) { return root_of(column.near_square(key)); });
    else if (column.has_site())
      write_unpinned(column, [&](unsigned key) { return rounded_sqrt<float>(column.square(key)); });
    else write_unpinned(column, [](unsigned) { return no_value<float>(); });
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
  __device__ void write_sides(const Column& column) const {
    const Side& side = images.side;
    if (column.is_near()) write_signed([&](int r) { return side.far(column.near_square(column.key(r))); });
    else if (column.has_site())
      write_signed([&](int r) { return root_to_face(column.square(column.key(r)), side.half); });
    else write_signed([&](int) { return side.none(); });
  }
  static __device__ float root_to_face(std::uint64_t square, double half) {
    return static_cast<float>(sqrt(static_cast<double>(square)) - half);
  }
  template <class Distance>
  __device__ void write_signed(Distance&& distance) const {
    write_rows([&](int r) {
      const float magnitude = distance(r);
      return inside >> r & 1 ? -magnitude : magnitude;
    });
  }
  template <class Distance>
  __device__ void write_unpinned(const Column& column, Distance&& distance) const {
    write_rows([&](int r) { return column.is_pinned(r) ? 0 : distance(column.key(r)); });
  }
  template <class Distance>
  __device__ void write_rows(Distance&& distance) const {
    float* to = images.distance.row(images.first_item + item, 0, 0) + (x - images.begin);
#pragma unroll
    for (int r = 0; r < kRows; ++r, to += images.distance.y_stride)
      if (r < images.height) *to = distance(r);
  }

  __device__ void write_value(const Column& column, int y, unsigned key) const {
    const bool is_pinned = column.is_pinned(y), is_near = column.is_near() || is_pinned;
    const bool there = column.has_site() || is_pinned;
    if (emitter.values.serves && (is_near || !there)) {
      LaneResults<1, 1> result{.item = item, .z = 0, .y = y, .x = x, .rows = 1};
      result.squares[0][0] = is_pinned ? 0 : there ? column.near_square(key) : kNoSquare;
      if constexpr (kRuns) result.inside = inside >> y & 1;
      return emitter.values.write(emitter.first_item + item, result);
    }
    write_element(column, y, key, -1);
  }

  __device__ void write_site(const Column& column, int y, unsigned key) const {
    const bool is_pinned = column.is_pinned(y), there = column.has_site() || is_pinned;
    const int2 at = is_pinned ? make_int2(x, y) : there ? column.site(words, y, x, key) : make_int2(-1, 0);
    const std::int64_t site = std::int64_t{at.y} * images.width + at.x;
    if (!emitter.plain.serves) return write_element(column, y, key, site);
    float root = no_value<float>();
    if (is_pinned) root = 0;
    else if (column.is_near()) root = root_of(column.near_square(key));
    else if (there) root = rounded_sqrt<float>(column.square(key));
    emitter.plain.write(emitter.plain.row(images.first_item + item, 0, y), x, root, site);
  }

  __device__ void write_element(const Column& column, int y, unsigned key, std::int64_t site) const {
    std::int64_t square = no_value<std::int64_t>();
    if (column.is_pinned(y)) square = 0;
    else if (column.has_site()) square = static_cast<std::int64_t>(column.square(key));
    emit_in_image(emitter, item, y, x, square, site, inside >> y & 1);
  }
};

/// Block = tile of an image. kRows: as many as there are, or more.
template <Writing kWriting, int kRows>
__global__ void __launch_bounds__(kShallowBlock, kRows > 16 ? kShallowBlocksOfMany : kShallowBlocks)
    solve_shallow_images(const __grid_constant__ ShallowImages images,
                         const __grid_constant__ Emitter<std::int64_t> emitter) {
  using Writer = ShallowWriter<kWriting, kRows>;
  constexpr bool kFloats = !is_general(kWriting), kRuns = is_of_runs(kWriting);
  __shared__ WordInRow words[kRows][kShallowWarps];
  __shared__ uint2 run_words[kRuns ? kRows : 1][kShallowWarps];
  __shared__ std::uint16_t keys[kFloats ? 1 : kRows * kShallowBlock];
  const int t = static_cast<int>(threadIdx.x);
  const Division tile(blockIdx.x, images.tiles);
  const int x0 = (images.first_tile + static_cast<int>(tile.remainder)) * kShallowBlock;
  fathom::cuda::wait_for_last();
  for (int r = t / 32; r < images.height; r += kShallowWarps) {
    const WordInRow word = ShallowRow(images, tile.quotient * images.height + r).find(x0 / 32);
    if (lane_id() >= kShallowWarps) continue;
    words[r][lane_id()] = word;
    if constexpr (kRuns) run_words[r][lane_id()] = images.run_word(tile.quotient, r, x0 / 32 + lane_id());
  }
  __syncthreads();
  const int x = x0 + t, at = min(x, images.width - 1);
  if ((x | 31) < images.begin || (x & ~31) >= images.end) return;  // so do all lanes of a warp
  ColumnRuns runs;
  unsigned background = 0;
  if constexpr (kRuns)
    for (int r = 0; r < images.height; ++r) {
      const uint2 word = run_words[r][at / 32 % kShallowWarps];
      runs.changes |= (word.x >> at % 32 & 1) << r;
      background |= (word.y >> at % 32 & 1) << r;
    }
  if (images.pins) runs.pinned = background;
  typename Writer::Column column(words, runs, images.height, at);
  column.search();
  if (x < images.begin || x >= images.end) return;
  const Writer writer{images, emitter, words, tile.quotient, x, kRuns && !images.pins ? ~background : 0};
  if constexpr (kFloats) writer.write_floats(column);
  else writer.write_others(column, keys + t);
}

}  // namespace fathom::grid::cuda
