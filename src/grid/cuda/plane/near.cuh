// Everything that is nearer than 32, in 16-bit arithmetic on two elements at once; with nearest sites, or where columns
// lie more than a unit apart, in 32 bits.
//
// Work mapping: a block solves 32 rows × 256 words. A word pairs column x with column x + 256, so that a step sideways
// is a step of whole words; in 32 bits it holds one column (plane/near_words.cuh). Phase 1, thread = word: vertical
// distances of all rows from the band's words and those of the bands above and below, or, with unequal spacings, its
// carries, squared, into shared memory. Phase 2, warp = 2 rows × 64 words, lane = 4 words: candidates 1–2, 3–4, and
// then 4 more at a time on both sides, until the largest value of the warp says that nothing farther can matter. Cells
// of 32 × 32 elements that this does not settle are marked, for the kernels that follow; a block with too few sites
// around gives up at once. Of small images, two blocks share the rows of a tile.
//
// Source: separable passes (Hirata 1996); departs by searching outwards with an exact stop in place of an envelope.
// Cost: O(1) per element, a quarter of a byte read and four written for it.
#pragma once

#include <type_traits>

#include "grid/cuda/plane/near_exact.cuh"
#include "grid/cuda/plane/near_words.cuh"
#include "grid/cuda/plane/runs.cuh"

namespace fathom::grid::cuda::plane {

inline constexpr unsigned kAllSettled = 0xFFFFFFFFu;  ///< the squared distance from which on nothing is unsettled

/// Four neighbouring words of a row, and the words around them.
///
/// Word::kTies: the steps to a farther candidate must be more than the largest distance; else as many are enough.
template <class Word>
class NearSearch {
 public:
  __device__ NearSearch(const uint4* row, const Plane& plane) : row_(row), square_of_(plane) {
    load(best, 0, row[0]);
    load(left_, 0, row[-1]);
    load(left_, 4, row[0]);
    load(right_, 0, row[0]);
    load(right_, 4, row[1]);
  }

  /// Searches until the warp is done or gives up. From the returned squared distance on, results are not settled;
  /// kAllSettled: all are.
  __device__ unsigned run() {
    constexpr int kRounds = kReach / 4 - 1;
    const unsigned where_done = Word::Steps::kLimited ? square_of_.limit : kAllSettled;
    if (Word::kColumns == 1 && settled(1)) return where_done;  // all are sites
    offer<1, 2>(0);
    if (settled(9)) return where_done;
    offer<3, 4>(0);
    if (settled(25)) return where_done;
#pragma unroll
    for (int j = 1; j <= kRounds; ++j) {
      shift(j);
      offer<1, 4>(4 * j);
      if (j < kRounds && settled((4 * j + 5) * (4 * j + 5))) return where_done;
      // Too many lanes without a site within 8 columns and 32 rows: this is not the place for near sites.
      if (j == 1 && __popc(__ballot_sync(kAllLanes, exceed(square_of_.limit - 1))) >= kGiveUp)
        return min(square_of_(81) + 1 - Word::kTies, square_of_.limit);
    }
    return square_of_.limit;
  }

  unsigned best[4];

 private:
  __device__ bool exceed(unsigned square) const {
    if constexpr (Word::kColumns == 2) return Word::exceed(best, square);
    else return Word::largest(best, 0) > square;
  }
  /// @param square  of the steps to the next candidate
  __device__ bool settled(unsigned square) const {
    return !__any_sync(kAllLanes, exceed(square_of_(square) - Word::kTies));
  }

  static __device__ void load(unsigned* to, int at, uint4 four) {
    to[at] = four.x;
    to[at + 1] = four.y;
    to[at + 2] = four.z;
    to[at + 3] = four.w;
  }

  /// Moves the words around by four outwards.
  __device__ void shift(int j) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      left_[4 + k] = left_[k];
      right_[k] = right_[4 + k];
    }
    load(left_, 0, row_[-j - 1]);
    load(right_, 4, row_[j + 1]);
  }

  /// Candidates kFirst … kLast words away, on both sides; `base` words more than the words around are shifted.
  template <int kFirst, int kLast>
  __device__ void offer(int base) {
#pragma unroll
    for (int step = kFirst; step <= kLast; ++step) {
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        const unsigned left = left_[4 + q - step], right = right_[q + step];
        // Some go to the other kind of units, which balances them.
        const bool balances =
            Word::kColumns == 2 ? base > 0 && (step == 4 || (step == 2 && q % 2 == 0)) : (step + q) % 3 != 0;
        best[q] = balances ? Word::template offer<true>(best[q], left, right, base + step, square_of_)
                           : Word::template offer<false>(best[q], left, right, base + step, square_of_);
      }
    }
  }

  const uint4* row_;
  const typename Word::Steps square_of_;
  unsigned left_[8], right_[8];
};

/// Floats of four words, from lanes to rows.
template <Writing kWriting, Spaced kSpaced>
struct NearWriter {
  const Plane& plane;
  float* rows;   ///< the band's first row
  float* stage;  ///< of the warp: 128 floats, where rows are not aligned

  /// @param squares  of columns x … x + 3, and of those 256 behind
  template <int kColumns>
  __device__ void write(int r, int x, const float (&squares)[kColumns][4], bool there, bool whole) const {
    float* row = rows + r * plane.row_stride + x;
#pragma unroll
    for (int h = 0; h < kColumns; ++h) {
      const int count = plane.width - x - h * kHalf;
      float roots[4];
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        if constexpr (kWriting == Writing::one_side) roots[q] = plane.side.near(squares[h][q]);
        else roots[q] = small_root(squares[h][q]);
        if constexpr (kSpaced != Spaced::none && kWriting != Writing::one_side) roots[q] *= plane.side.scale;
      }
      if constexpr (kWriting == Writing::one_side) {
        if (there) put_side(row + h * kHalf, squares[h], roots, count);
      } else {
        place(row, roots, count, h, there, whole);
      }
    }
  }

  /// The same from their roots, of columns x … x + 3.
  __device__ void write(int r, int x, const float (&roots)[4], bool there, bool whole) const {
    float* row = rows + r * plane.row_stride + x;
    const int count = plane.width - x;
    float distances[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) distances[q] = roots[q] * plane.side.scale;
    if constexpr (kWriting == Writing::one_side) {
      if (there) put_side(row, roots, distances, count);
    } else {
      place(row, distances, count, 0, there, whole);
    }
  }

 private:
  /// Whether rows are not aligned: where that is no kernel of its own, it is asked.
  __device__ bool spreads() const {
    if constexpr (kSpaced != Spaced::none || kWriting == Writing::labels) return !plane.is_aligned;
    else return kWriting == Writing::unaligned;
  }
  /// Columns x … x + 3 of a row, or those 256 behind.
  __device__ void place(float* row, const float* roots, int count, int h, bool there, bool whole) const {
    if (spreads()) spread(row, roots, count, h, there);
    else if (whole) put(row + h * kHalf, roots, 4);
    else if (there && count > 0) put(row + h * kHalf, roots, count);
  }
  /// One by one where some belong to the other side.
  __device__ void put_side(float* to, const float* squares, const float* distances, int count) const {
    const bool takes_all =
        plane.side.is_first || fminf(fminf(squares[0], squares[1]), fminf(squares[2], squares[3])) > 0;
    if (plane.is_aligned && takes_all && count >= 4) return put(to, distances, 4);
#pragma unroll
    for (int q = 0; q < 4; ++q)
      if (q < count && (takes_all || squares[q] > 0)) to[q] = distances[q];
  }
  static __device__ void put(float* to, const float* roots, int count) {
    if (count >= 4) {
      *reinterpret_cast<float4*>(to) = make_float4(roots[0], roots[1], roots[2], roots[3]);
    } else {
      for (int q = 0; q < 3; ++q)
        if (q < count) to[q] = roots[q];
    }
  }

  /// Through shared memory, so that neighbouring lanes write neighbouring floats. Half a warp holds 64 of one row.
  __device__ void spread(float* row, const float* roots, int count, int h, bool there) const {
    const int lane = lane_id(), place = lane % 16;
    float* half = stage + (lane / 16) * 64;
    __syncwarp();
    reinterpret_cast<float4*>(half)[place] = make_float4(roots[0], roots[1], roots[2], roots[3]);
    __syncwarp();
    if (!there) return;
    float* first = row - 4 * place + h * kHalf;
    const int end = count + 4 * place;  // columns from the half warp's first on
#pragma unroll
    for (int q = 0; q < 4; ++q)
      if (16 * q + place < end) first[16 * q + place] = half[16 * q + place];
  }
};

/// Keys of 64 elements of two rows each, from lanes to results.
template <bool kSpaced, bool kLabels>
struct NearSites {
  const Plane& plane;
  const Emitter<std::int64_t>& emitter;
  const std::int64_t band;
  const std::int32_t y0;        ///< the band's first row, …
  const PlainSites::Row& rows;  ///< … and its results
  unsigned* stage;              ///< of the warp: 128 keys, so that neighbouring lanes write neighbours

  /// @param r, x       row of the band and column of the first word
  /// @param unsettled  squared distances from which the far search writes
  __device__ void write(int r, int x, const unsigned* best, unsigned unsettled) const {
    if (emitter.plain.serves && emitter.plain.is_aligned)
      return write_four(r + lane_id() / 16, x + lane_id() % 16 * 4, best, unsettled);
    __syncwarp();
    reinterpret_cast<uint4*>(stage)[lane_id()] = make_uint4(best[0], best[1], best[2], best[3]);
    __syncwarp();
    if (emitter.plain.serves) write_staged<true>(*this, r, x, unsettled);
    else write_staged<false>(*this, r, x, unsettled);
  }

 private:
  __device__ std::int32_t site_of(const NearKey& key, std::int32_t y, std::int32_t x) const {
    return (y + key.rows) * plane.width + x + key.columns;
  }
  __device__ float distance_of(const NearKey& key) const {
    const float root = small_root(small_float(key.square));
    return kSpaced ? root * plane.side.scale : root;
  }

  /// Not inlined: it takes registers from the search. Nor by reference: what has an address is in memory, and would be
  /// written there for each task. Plain results by themselves: with others they take more registers than there are.
  ///
  /// kPlain: emitter.plain serves
  template <bool kPlain>
  static __device__ __noinline__ void write_staged(NearSites near, int r, int x, unsigned unsettled) {
    for (int half = 0; half < 2; ++half) {
      const std::int32_t y = near.y0 + r + half;
      if (y >= near.plane.height) break;
      near.template write_row<kPlain>(r + half, y, x, near.stage + half * 64, unsettled);
    }
  }
  template <bool kPlain>
  __device__ void write_row(int r, std::int32_t y, int x, const unsigned* keys, unsigned unsettled) const {
    PlainSites::Row row{};
    if constexpr (kPlain) row = emitter.plain.down(rows, r);
    for (int k = lane_id(); k < 64; k += 32) {
      const NearKey key(keys[k]);
      if (x + k >= plane.width || key.square >= unsettled) continue;
      const std::int32_t site = site_of(key, y, x + k);
      if constexpr (kPlain) emitter.plain.write(row, x + k, distance_of(key), site);
      else
        emit_in_image(emitter, plane.item_of(band), y, x + k, value_of(key.square), site,
                      kLabels && is_inside(plane, band, r, x + k));
    }
  }

  /// The lane's own, one by one where some are not settled.
  __device__ void write_four(int r, int x, const unsigned* best, unsigned unsettled) const {
    const std::int32_t y = y0 + r;
    if (y >= plane.height) return;
    const PlainSites::Row row = emitter.plain.down(rows, r);
    float roots[4];
    std::int32_t sites[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const NearKey key(best[q]);
      roots[q] = distance_of(key);
      sites[q] = site_of(key, y, x + q);
    }
    if (NearKeys<kSpaced, kLabels>::largest(best, 0) < unsettled && x + 4 <= plane.width)
      return emitter.plain.write_four(row, x, roots, sites);
#pragma unroll
    for (int q = 0; q < 4; ++q)
      if (NearKey(best[q]).square < unsettled && x + q < plane.width)
        emitter.plain.write(row, x + q, roots[q], sites[q]);
  }
};

/// Squares of 64 elements of two rows each, from lanes to results that are no floats, through shared memory: so
/// neighbouring lanes write neighbours.
template <bool kLabels>
struct NearValues {
  const Plane& plane;
  const Emitter<std::int64_t>& emitter;
  const std::int64_t band;
  unsigned* stage;  ///< of the warp: 128 squares

  /// The lane's own, at once.
  ///
  /// @param rows  results of the band's first row
  /// @param r, x  row of the band and column of the lane's first word
  template <class Word>
  __device__ void write_fours(std::byte* rows, int r, int x, const unsigned* best) const {
#pragma unroll
    for (int k = 0; k < Word::kColumns; ++k, x += kHalf) {
      const unsigned squares[4] = {Word::square(best[0], k), Word::square(best[1], k), Word::square(best[2], k),
                                   Word::square(best[3], k)};
      unsigned inside = 0;
      if (kLabels && !plane.pins) inside = ~(plane.background[(band * kBand + r) * plane.row_words + x / 32] >> x % 32);
      emitter.values.write_four(rows + r * emitter.values.row_bytes() + std::int64_t{4} * x, squares, inside);
    }
  }
  /// @param r, x  row of the band and column of the first word
  template <class Word>
  __device__ void write(int r, int x, const unsigned* best) const {
#pragma unroll
    for (int k = 0; k < Word::kColumns; ++k) {
      __syncwarp();
      reinterpret_cast<uint4*>(stage)[lane_id()] = make_uint4(Word::square(best[0], k), Word::square(best[1], k),
                                                              Word::square(best[2], k), Word::square(best[3], k));
      __syncwarp();
      if (x + k * kHalf < plane.width) write_staged(r, x + k * kHalf);
    }
  }

 private:
  /// As LaneResults::inside.
  __device__ unsigned inside_of(int r, int x) const {
    const std::uint32_t* row = plane.background + (band * kBand + r) * plane.row_words + x / 32;
    unsigned words[4], inside = 0;  // all are read before any is looked at, so that the waits are one
#pragma unroll
    for (int i = 0; i < 4; ++i) words[i] = row[i / 2 * plane.row_words + i % 2];
#pragma unroll
    for (int i = 0; i < 4; ++i) inside |= (~words[i] >> lane_id() & 1) << i;
    return inside;
  }

  __device__ void write_staged(int r, int x) const {
    const std::int32_t y = plane.first_row(band) + r;
    LaneResults<2, 2> results{
        .item = plane.item_of(band), .z = 0, .y = y, .x = x + lane_id(), .rows = plane.height - y};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      results.squares[i / 2][i % 2] = stage[32 * i + lane_id()];
    }
    if (kLabels && !plane.pins) results.inside = inside_of(r, x);
    write_results(emitter, results);
  }
};

/// Four words of row r of the band from column x on, with no more than the ends of their runs in the row are away. What
/// is farther than the search reaches is left to far tiles.
template <class Word>
__device__ void bound_by_runs(unsigned* best, const Plane& plane, std::int64_t band, int r, int x) {
#pragma unroll
  for (int k = 0; k < Word::kColumns; ++k) {
    const NearRuns runs(plane, band, r, (x + k * kHalf) / 32);
#pragma unroll
    for (int q = 0; q < 4; ++q) best[q] = Word::bounded(best[q], k, runs.steps(x % 32 + q), plane);
  }
}
/// The same with nearest sites. @param pinned  in which rows the words' elements are
template <class Word>
__device__ void bound_by_runs(unsigned* best, const Plane& plane, std::int64_t band, int r, int x, uint4 pinned) {
  if (!((pinned.x & pinned.y & pinned.z & pinned.w) >> r & 1)) bound_by_runs<Word>(best, plane, band, r, x);
  const unsigned of_columns[4] = {pinned.x, pinned.y, pinned.z, pinned.w};
#pragma unroll
  for (int q = 0; q < 4; ++q)
    if (of_columns[q] >> r & 1) best[q] = Word::without(best[q], 0);
}

/// Marks the cells of four words, and those 256 columns behind, where results are not settled. @returns whether there
/// are any
///
/// @param x  column of the first word
template <class Word>
__device__ bool mark_open(const Plane& plane, std::uint8_t* open_cells, const unsigned* best, int x,
                          unsigned unsettled) {
  bool open = false;
#pragma unroll
  for (int k = 0; k < Word::kColumns; ++k, x += kHalf)
    if (Word::largest(best, k) >= unsettled && x < plane.width) {
      open_cells[x / 32] = 1;
      open = true;
    }
  return open;
}

template <Writing kWriting, Spaced kSpaced>
using NearWord = std::conditional_t<
    finds_sites(kWriting), NearKeys<kSpaced != Spaced::none, is_of_labels(kWriting)>,
    std::conditional_t<kSpaced == Spaced::real, NearReals,
                       std::conditional_t<kSpaced == Spaced::any, NearSquares<is_of_labels(kWriting)>,
                                          NearPairs<is_of_labels(kWriting), kSpaced == Spaced::along_columns>>>>;

/// Columns that a block solves.
template <Writing kWriting, Spaced kSpaced>
inline constexpr int kNearWidth = NearWord<kWriting, kSpaced>::kColumns* kHalf;

/// V: the emitter's.
template <Writing kWriting, Spaced kSpaced, class V = std::int64_t>
__global__ void __launch_bounds__(kNearWords,
                                  resident_blocks(kNearWords,
                                                  kWriting == Writing::aligned ? kNearBlocks : kNearBlocksSlow))
    solve_near(const __grid_constant__ Plane plane, const __grid_constant__ Emitter<V> emitter) {
  __shared__ __align__(16) std::uint32_t squares[kBand][kNearWords];
  constexpr bool kLabels = is_of_labels(kWriting);
  constexpr bool kValues = kWriting == Writing::general || kWriting == Writing::general_labels;
  constexpr bool kStaged = kWriting != Writing::aligned && kWriting != Writing::one_side;
  constexpr bool kLabelSites = kLabels && finds_sites(kWriting);
  __shared__ __align__(16) unsigned pinned[kLabelSites ? kNearWords : 1];
  __shared__ __align__(16) float stages[kStaged ? kNearWords / 32 : 1][128];
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  __shared__ float* first_row;  // there, because registers are short
  __shared__ PlainSites::Row first_site_row;
  __shared__ std::byte* first_value_row;  ///< null: results are not written four at a time
  const std::int64_t band = blockIdx.y;
  using Word = NearWord<kWriting, kSpaced>;
  constexpr int kWidth = kNearWidth<kWriting, kSpaced>;
  const int x0 = static_cast<int>(blockIdx.x) * kWidth, rows = plane.height - plane.first_row(band);
  plane.take_turn();
  std::uint8_t* open_cells = plane.open_cells + band * plane.cells();
  if (!is_general(kWriting) && t == 0) first_row = plane.row(band, plane.first_row(band));
  if (finds_sites(kWriting) && t == 0)
    first_site_row = emitter.plain.row(plane.first_item + plane.item_of(band), 0, plane.first_row(band));
  if (kValues && t == 0) {
    const bool in_fours = kSpaced == Spaced::none && emitter.values.serves && emitter.values.in_fours &&
                          emitter.values.holds(0, plane.height - rows, kBand, x0, kWidth);
    first_value_row =
        in_fours ? emitter.values.row(plane.first_item + plane.item_of(band), 0, plane.height - rows) : nullptr;
  }
  {
    const Word word(plane, band, x0 - kReach + t);
    const int there = min(kNearWords, plane.width - x0 + (x0 == 0 ? 0 : kReach));
    if (__syncthreads_count(word.is_alive) * 4 < there) {
      const int cell = x0 / 32 + t;
      if (t < kWidth / 32 && cell * 32 < plane.width) open_cells[cell] = 1;
      if (t == 0) plane.open_bands[band] = 1;
      return;
    }
    // No search of an image that ends in this block reaches farther.
    if (x0 - kReach + t < plane.width + kReach + 4) word.put(reinterpret_cast<unsigned(*)[kNearWords]>(&squares[0][t]));
    if constexpr (kLabelSites) pinned[t] = word.pinned;
  }
  __syncthreads();
  bool open = false;
  const bool whole = x0 + kWidth <= plane.width && rows >= kBand;
  constexpr int kTasks = kBand / 2 * (kHalf / 64);
  constexpr int kWarps = kNearWords / 32;
  const int first_task = static_cast<int>(blockIdx.z) * kWarps + warp, step = static_cast<int>(gridDim.z) * kWarps;
  for (int task = first_task; task < kTasks; task += step) {
    if (x0 + task % 4 * 64 >= plane.width) continue;
    const int r = task / 4 * 2 + lane / 16, word = task % 4 * 64 + lane % 16 * 4, x = x0 + word;
    const auto* first = reinterpret_cast<const uint4*>(&squares[r][kReach + word]);
    NearSearch<Word> search(first, plane);
    if constexpr (kLabelSites)
      bound_by_runs<Word>(search.best, plane, band, r, x, *reinterpret_cast<const uint4*>(pinned + kReach + word));
    else if constexpr (kLabels) bound_by_runs<Word>(search.best, plane, band, r, x);
    const bool row_there = whole || r < rows;
    if (!whole) {  // what lies outside the image must not keep the warp busy
#pragma unroll
      for (int k = 0; k < Word::kColumns; ++k)
#pragma unroll
        for (int q = 0; q < 4; ++q)
          if (!row_there || x + k * kHalf >= plane.width) search.best[q] = Word::without(search.best[q], k);
    }
    const unsigned unsettled = search.run();
    if (unsettled != kAllSettled) open |= mark_open<Word>(plane, open_cells, search.best, x, unsettled);
    if constexpr (kSpaced == Spaced::real) {
      // All belong to the other side.
      if (kWriting == Writing::one_side && !plane.side.is_first &&
          !__any_sync(kAllLanes, Word::largest(search.best, 0)))
        continue;
      Measured<kWriting> exact[4];
      const NearExact<Measured<kWriting>> sites(plane, first);
      sites.measure_four(search.best, exact);
      if constexpr (kValues) {
#pragma unroll
        for (int q = 0; q < 4; ++q)
          if (row_there && x + q < plane.width) write_exact(plane, emitter, band, r, x + q, exact[q]);
      } else {
        const NearWriter<kWriting, kSpaced> writer{plane, first_row, stages[kStaged ? warp : 0]};
        writer.write(r, x, exact, row_there, whole);
      }
    } else if constexpr (finds_sites(kWriting)) {
      const NearSites<kSpaced != Spaced::none, kLabels> sites{
          plane, emitter, band, plane.height - rows, first_site_row, reinterpret_cast<unsigned*>(stages[warp])};
      sites.write(task / 4 * 2, x0 + task % 4 * 64, search.best, unsettled);
    } else if constexpr (kValues) {
      const NearValues<kLabels> values{plane, emitter, band, reinterpret_cast<unsigned*>(stages[warp])};
      if (first_value_row) values.template write_fours<Word>(first_value_row, r, x, search.best);
      else values.template write<Word>(task / 4 * 2, x0 + task % 4 * 64, search.best);
    } else {
      float nearest[Word::kColumns][4];
      Word::unpack(search.best, nearest);
      const NearWriter<kWriting, kSpaced> writer{plane, first_row, stages[kStaged ? warp : 0]};
      writer.write(r, x, nearest, row_there, whole);
    }
  }
  if (open) plane.open_bands[band] = 1;
}

}  // namespace fathom::grid::cuda::plane
