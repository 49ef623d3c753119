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

/// What a block solves. V: the emitter's.
template <Writing kWriting, Spacing kSpaced, class V>
class NearTile : NearResults<kWriting, kSpaced, V> {
  using Results = NearResults<kWriting, kSpaced, V>;
  using Results::kWidth, Results::plane_, Results::m_, Results::band_, Results::x0_, Results::rows_, Results::whole_;
  using typename Results::Word;

 public:
  __device__ NearTile(const Plane& plane, const Emitter<V>& emitter, NearMemory<kWriting>& memory)
      : Results(plane, emitter, memory), open_cells_(plane.left.open_cells + band_ * plane.cells()) {}

  /// Words of all rows to shared memory, by all threads. @returns false where too few sites are around, and the tile is
  /// left to the far search
  __device__ bool load() const {
    const int t = static_cast<int>(threadIdx.x), x = x0_ - kReach + t;
    if (t == 0) this->find_rows();
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
    __syncthreads();
    return true;
  }

  __device__ void solve() {
    constexpr int kTasks = kBand / 2 * (kHalf / 64), kWarps = kNearWords / 32;
    const int first = static_cast<int>(blockIdx.z) * kWarps + Results::warp(),
              step = static_cast<int>(gridDim.z) * kWarps;
    for (int task = first; task < kTasks; task += step)
      if (x0_ + task % 4 * 64 < plane_.width) solve(task / 4 * 2, task % 4 * 64);
    if (is_open_) plane_.left.open_bands[band_] = 1;
  }

 private:
  /// 64 words of rows r and r + 1, from `word0` on.
  __device__ void solve(int r0, int word0) {
    const int r = r0 + lane_id() / 16, word = word0 + lane_id() % 16 * 4, x = x0_ + word;
    const auto* row = reinterpret_cast<const uint4*>(&m_.squares[r][kReach + word]);
    NearSearch<Word> search(row, plane_);
    if constexpr (is_of_labels(kWriting)) bound_by_runs(search.best, r, x);
    if (!whole_) {  // what lies outside the image must not keep the warp busy
#pragma unroll
      for (int k = 0; k < Word::kColumns; ++k)
#pragma unroll
        for (int q = 0; q < 4; ++q)
          if (r >= rows_ || x + k * kHalf >= plane_.width) search.best[q] = Word::without(search.best[q], k);
    }
    const unsigned unsettled = search.run();
    if (unsettled != kAllSettled) mark_open(search.best, x, unsettled);
    this->write(row, search.best, r0, word0, unsettled);
  }

  /// Four words of row r from column x on, with no more than the ends of their runs in the row are away. What is farther
  /// than the search reaches is left to far tiles.
  __device__ void bound_by_runs(unsigned* best, int r, int x) const {
#pragma unroll
    for (int k = 0; k < Word::kColumns; ++k) {
      const NearRuns runs(plane_, band_, r, (x + k * kHalf) / 32);
#pragma unroll
      for (int q = 0; q < 4; ++q) best[q] = Word::bounded(best[q], k, runs.steps(x % 32 + q), plane_);
    }
  }
  /// Marks the cells of four words from column x on, and those 256 columns behind, where results are not settled.
  __device__ void mark_open(const unsigned* best, int x, unsigned unsettled) {
#pragma unroll
    for (int k = 0; k < Word::kColumns; ++k, x += kHalf)
      if (Word::largest(best, k) >= unsettled && x < plane_.width) {
        open_cells_[x / 32] = 1;
        is_open_ = true;
      }
  }

  std::uint8_t* const open_cells_;
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
