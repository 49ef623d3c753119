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

#include "grid/cuda/plane/near_results.cuh"
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

/// Four words of row r of the band from column x on, with no more than the ends of their runs in the row are away. What
/// is farther than the search reaches is left to far tiles.
///
/// @param pinned  in which rows the words' elements are; without nearest sites the runs tell that
template <class Word>
__device__ void bound_by_runs(unsigned* best, const Plane& plane, std::int64_t band, int r, int x,
                              uint4 pinned = uint4{}) {
  const unsigned of_columns[4] = {pinned.x, pinned.y, pinned.z, pinned.w};
#pragma unroll
  for (int k = 0; k < Word::kColumns; ++k) {
    const NearRuns runs(plane, band, r, (x + k * kHalf) / 32);
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      best[q] = Word::bounded(best[q], k, runs.steps(x % 32 + q), plane);
      if (of_columns[q] >> r & 1) best[q] = Word::without(best[q], k);
    }
  }
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

template <Writing kWriting, Spacing kSpaced>
using NearWord = std::conditional_t<
    kSpaced == Spacing::any, NearKeys<RoughKeys, true, false, false>,
    std::conditional_t<finds_sites(kWriting) || kSpaced == Spacing::unit,
                       NearKeys<SiteKeys<kSpaced != Spacing::equal>, kSpaced != Spacing::equal, is_of_labels(kWriting),
                                finds_sites(kWriting) && is_of_labels(kWriting)>,
                       NearPairs<is_of_labels(kWriting), kSpaced == Spacing::unit_along_columns>>>;

/// Columns that a block solves.
template <Writing kWriting, Spacing kSpaced>
inline constexpr int kNearWidth = NearWord<kWriting, kSpaced>::kColumns* kHalf;

template <Writing kWriting>
struct NearMemory {
  static constexpr bool kPinned = finds_sites(kWriting) && is_of_labels(kWriting);
  static constexpr bool kStaged = kWriting != Writing::aligned && kWriting != Writing::one_side;
  std::uint32_t squares[kBand][kNearWords];
  unsigned pinned[kPinned ? kNearWords : 4];
  float stages[kStaged ? kNearWords / 32 : 1][kStaged ? 128 : 4];
  // Where the band's results begin: here, because registers are short.
  float* floats;
  SiteResults::Row sites;
  std::byte* values;  ///< null: results are not written four at a time
};

/// What a block solves. V: the emitter's.
template <Writing kWriting, Spacing kSpaced, class V>
class NearTile {
 public:
  __device__ NearTile(const Plane& plane, const Emitter<V>& emitter, NearMemory<kWriting>& memory)
      : plane_(plane),
        emitter_(emitter),
        m_(memory),
        band_(blockIdx.y),
        x0_(static_cast<int>(blockIdx.x) * kWidth),
        rows_(plane.height - plane.first_row(band_)),
        open_cells_(plane.left.open_cells + band_ * plane.cells()),
        whole_(x0_ + kWidth <= plane.width && rows_ >= kBand) {}

  /// Words of all rows to shared memory, by all threads. @returns false where too few sites are around, and the tile is
  /// left to the far search
  __device__ bool load() const {
    const int t = static_cast<int>(threadIdx.x), x = x0_ - kReach + t;
    if (t == 0) find_rows();
    const Word word(plane_, band_, x);
    const int there = min(kNearWords, plane_.width - x0_ + (x0_ == 0 ? 0 : kReach));
    if (__syncthreads_count(word.is_alive) * 4 < there) {
      const int cell = x0_ / 32 + t;
      if (t < kWidth / 32 && cell * 32 < plane_.width) open_cells_[cell] = 1;
      if (t == 0) plane_.left.open_bands[band_] = 1;
      return false;
    }
    // No search of an image that ends in this block reaches farther.
    if (x < plane_.width + kReach + 4) word.put(reinterpret_cast<unsigned(*)[kNearWords]>(&m_.squares[0][t]));
    if constexpr (NearMemory<kWriting>::kPinned) m_.pinned[t] = word.pinned;
    __syncthreads();
    return true;
  }

  __device__ void solve() {
    constexpr int kTasks = kBand / 2 * (kHalf / 64), kWarps = kNearWords / 32;
    const int first = static_cast<int>(blockIdx.z) * kWarps + warp(), step = static_cast<int>(gridDim.z) * kWarps;
    for (int task = first; task < kTasks; task += step)
      if (x0_ + task % 4 * 64 < plane_.width) solve(task / 4 * 2, task % 4 * 64);
    if (is_open_) plane_.left.open_bands[band_] = 1;
  }

 private:
  using Word = NearWord<kWriting, kSpaced>;
  static constexpr int kWidth = kNearWidth<kWriting, kSpaced>;
  static constexpr bool kLabels = is_of_labels(kWriting), kSites = finds_sites(kWriting);
  static constexpr bool kAny = kSpaced == Spacing::any, kValues = is_general(kWriting) && !kSites;

  __device__ int warp() const { return static_cast<int>(threadIdx.x) / 32; }

  __device__ void find_rows() const {
    const int y = plane_.first_row(band_);
    const std::int64_t item = plane_.first_item + plane_.item_of(band_);
    if constexpr (kSites) {
      m_.sites = emitter_.sites.row(item, 0, y);
    } else if constexpr (kValues) {
      const auto& values = emitter_.values;
      const bool in_fours =
          kSpaced == Spacing::equal && values.serves && values.in_fours && values.holds(0, y, kBand, x0_, kWidth);
      m_.values = in_fours ? values.row(item, 0, y) : nullptr;
    } else {
      m_.floats = plane_.row(band_, y);
    }
  }

  /// 64 words of rows r and r + 1, from `word0` on.
  __device__ void solve(int r0, int word0) {
    const int r = r0 + lane_id() / 16, word = word0 + lane_id() % 16 * 4, x = x0_ + word;
    const auto* row = reinterpret_cast<const uint4*>(&m_.squares[r][kReach + word]);
    NearSearch<Word> search(row, plane_);
    if constexpr (kLabels && kSites)
      bound_by_runs<Word>(search.best, plane_, band_, r, x, *reinterpret_cast<const uint4*>(&m_.pinned[kReach + word]));
    else if constexpr (kLabels) bound_by_runs<Word>(search.best, plane_, band_, r, x);
    const bool there = whole_ || r < rows_;
    if (!whole_) {  // what lies outside the image must not keep the warp busy
#pragma unroll
      for (int k = 0; k < Word::kColumns; ++k)
#pragma unroll
        for (int q = 0; q < 4; ++q)
          if (!there || x + k * kHalf >= plane_.width) search.best[q] = Word::without(search.best[q], k);
    }
    const unsigned unsettled = search.run();
    if (unsettled != kAllSettled) is_open_ |= mark_open<Word>(plane_, open_cells_, search.best, x, unsettled);
    if constexpr (kAny) {
      write_measured(row, search.best, r, x, there);
    } else if constexpr (kSites) {
      const NearSites<kSpaced != Spacing::equal, kLabels> sites{
          plane_, emitter_, band_, plane_.height - rows_, m_.sites, reinterpret_cast<unsigned*>(m_.stages[warp()])};
      sites.write(r0, x0_ + word0, search.best, unsettled);
    } else if constexpr (kValues) {
      const NearValues<kLabels> values{plane_, emitter_, band_, reinterpret_cast<unsigned*>(m_.stages[warp()])};
      if (m_.values) values.template write_fours<Word>(m_.values, r, x, search.best);
      else values.template write<Word>(r0, x0_ + word0, search.best);
    } else {
      write_floats(search.best, r, x, there);
    }
  }

  __device__ NearFloats<kWriting, kSpaced> floats() const {
    return {plane_, m_.stages[NearMemory<kWriting>::kStaged ? warp() : 0]};
  }
  __device__ void write_floats(const unsigned (&best)[4], int r, int x, bool there) const {
    float* to = m_.floats + r * plane_.out.row_stride + x;
    float squares[Word::kColumns][4];
    Word::unpack(best, squares);
#pragma unroll
    for (int h = 0; h < Word::kColumns; ++h) {
      float distances[4];
#pragma unroll
      for (int q = 0; q < 4; ++q) distances[q] = floats().distance_of(squares[h][q]);
      floats().write(to + h * kHalf, plane_.width - x - h * kHalf, squares[h], distances, there, whole_);
    }
  }
  /// Without a unit. @param row  of keys, at the first of four
  __device__ void write_measured(const uint4* row, const unsigned (&best)[4], int r, int x, bool there) const {
    // All belong to the other side.
    if (kWriting == Writing::one_side && !plane_.out.side.is_first && !__any_sync(kAllLanes, Word::largest(best, 0)))
      return;
    Measured<kWriting> exact[4];
    NearExact<Measured<kWriting>>(plane_, row).measure_four(best, exact);
    if constexpr (kValues) {
#pragma unroll
      for (int q = 0; q < 4; ++q)
        if (there && x + q < plane_.width) write_exact(plane_, emitter_, band_, r, x + q, exact[q]);
    } else {
      float distances[4];
#pragma unroll
      for (int q = 0; q < 4; ++q) distances[q] = exact[q] * plane_.out.side.scale;
      floats().write(m_.floats + r * plane_.out.row_stride + x, plane_.width - x, exact, distances, there, whole_);
    }
  }

  const Plane& plane_;
  const Emitter<V>& emitter_;
  NearMemory<kWriting>& m_;
  const std::int64_t band_;
  const int x0_, rows_;
  std::uint8_t* const open_cells_;
  const bool whole_;      ///< all of it is inside the image
  bool is_open_ = false;  ///< the thread has left something to the far search
};

/// V: the emitter's.
template <Writing kWriting, Spacing kSpaced, class V = std::int64_t>
__global__ void __launch_bounds__(kNearWords,
                                  resident_blocks(kNearWords,
                                                  kWriting == Writing::aligned ? kNearBlocks : kNearBlocksSlow))
    solve_near(const __grid_constant__ Plane plane, const __grid_constant__ Emitter<V> emitter) {
  __shared__ __align__(16) NearMemory<kWriting> memory;
  plane.take_turn();
  NearTile<kWriting, kSpaced, V> tile(plane, emitter, memory);
  if (tile.load()) tile.solve();
}

}  // namespace fathom::grid::cuda::plane
