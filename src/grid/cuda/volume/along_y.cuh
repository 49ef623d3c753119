// The pass along y where sites are near, which writes results: the search of volume/window.cuh.
//
// Work mapping: block = tile. Tiles with few rows that have sites are solved by these alone; those whose search would
// be long are left to the envelope (volume/envelope.cuh), by a list. Blocks behind those of a signed field's first side
// turn its words to the other's (volume/sides.cuh).
#pragma once

#include "grid/cuda/volume/gaps.cuh"
#include "grid/cuda/volume/rows_with_sites.cuh"
#include "grid/cuda/volume/sides.cuh"
#include "grid/cuda/volume/writer.cuh"

namespace fathom::grid::cuda::volume {

/// A tile along y. All functions are called by all threads of the block.
template <int kThreads, Writing kWriting>
class SearchAlongY {
 public:
  static constexpr bool kLabels = is_of_labels(kWriting), kSide = kWriting == Writing::one_side;

  struct Shared {
    int work, wide_rows, filled_rows;             ///< the latter: those of wide tiles in the upper half
    unsigned wide_pairs[kLongestAxis / 16 / 32];  ///< of groups: which have wide rows
    unsigned foreseen_of_warps[kThreads / 32], near_of_warps[kThreads / 32];
    RunWords<kLabels> run_words;
  };

  __device__ SearchAlongY(const Volume& v, const Emitter<std::int64_t>& emitter, const Volume::Tile& tile,
                          Shared& shared, uint4* memory)
      : v_(v), emitter_(emitter), tile_(tile), shared_(shared), memory_(reinterpret_cast<unsigned*>(memory)) {}

  /// @returns whether all are the other side's
  __device__ bool count_rows() const {
    const auto t = static_cast<int>(threadIdx.x);
    if (t == 0) shared_.wide_rows = shared_.filled_rows = shared_.work = 0;
    if (t < kLongestAxis / 16 / 32) shared_.wide_pairs[t] = 0;
    __syncthreads();
    int filled = 0;
    bool is_full = kSide;
    const std::uint8_t* kinds = v_.kinds(tile_);
    for (int r = t; r < v_.ny; r += kThreads) {
      filled += (kinds[r] != kEmpty) + ((kinds[r] == kWide) << 16);
      is_full &= kinds[r] == kFull;
    }
    add_over_block(filled, &shared_.filled_rows);
    if constexpr (kSide) return __syncthreads_and(is_full);
    __syncthreads();
    return false;
  }

  /// From the rows that have sites, where these are few. @returns whether they are
  __device__ bool solve_few() const {
    if ((shared_.filled_rows & 0xFFFF) > kFewRows) return false;
    if constexpr (kLabels) {
      bool any = false;
      for (int r = static_cast<int>(threadIdx.x); r < v_.ny; r += kThreads) any |= v_.changes_along_y(tile_)[r] != 0;
      if (__syncthreads_or(any)) return false;
    }
    __shared__ SortedRows filled;
    const RowKinds kinds(v_, tile_, lane_id() / 16);
    filled.find(v_.ny, [&](int r) { return kinds[r] != kEmpty; });
    const int x = tile_.word * 32 + lane_id();
    const ColumnOfRows<kSide> column(v_, tile_, lane_id());
    const auto square_of = [&](int r) { return column.square(kinds[r], r); };
    const VolumeWriter<kWriting> writer(v_, emitter_, tile_);
    // Floats go one by one; what else there may be, eight at a time.
    solve_few_rows<is_general(kWriting) ? 8 : 1>(filled, v_.ny, square_of, [&](int y, const unsigned* best, int count) {
      writer.write_column(y, x, best, count);
    });
    return true;
  }

  /// Whether a search is worth a try, from what is told of wide tiles. It would be long, or take two rounds.
  __device__ bool may_be_near() const {
    if (shared_.filled_rows >> 16 == 0) return true;
    const int n = v_.ny;
    const std::uint8_t* kinds = v_.kinds(tile_);
    const std::uint8_t *first = v_.beyond_row(tile_.item, tile_.word, 0, tile_.line),
                       *second = v_.beyond_row(tile_.item, tile_.word, 1, tile_.line);
    int wide = 0;
    NearRows<kThreads, 64> near;
    for (int r = static_cast<int>(threadIdx.x); r < n; r += kThreads) {
      const bool is_wide = kinds[r] == kWide;  // beyond 16 bits is what either half is, far is what both are
      near.add(r, kinds[r] != kEmpty && !(is_wide && (first[r] & second[r] & kFarRows)));
      if (!is_wide || ((first[r] | second[r]) & kBeyond16) == 0) continue;
      ++wide;
      atomicOr(&shared_.wide_pairs[r / 512], 1u << r / 16 % 32);
    }
    add_over_block(wide, &shared_.wide_rows);
    near.put(shared_.foreseen_of_warps);
    __syncthreads();
    return (kLabels || near.suffice(shared_.foreseen_of_warps, n)) && shared_.wide_rows * 8 <= n;
  }

  /// Rows of squares. @returns whether sites are near enough for a search
  __device__ bool fill() const {
    const auto t = static_cast<int>(threadIdx.x);
    const int n = v_.ny;
    const std::uint8_t* kinds = v_.kinds(tile_);
    const std::uint32_t* changes = v_.changes_along_y(tile_);
    const WindowRows<WindowPairs> rows(memory_, n);
    rows.pad(n);
    if constexpr (kLabels) RunEnds(shared_.run_words, n).fill_changes([&](int r) { return __ldg(changes + r); });
    const std::uint32_t* narrow = v_.narrow_row(tile_.item, tile_.word, tile_.line, 0);
    const int pairs = v_.pairs_of(tile_.word);
    const auto pair = [&](int r, int k) {  // where there is none 0, which keeps no search busy
      return t % 4 * 4 + k < pairs ? __ldcs(narrow + r * pairs + t % 4 * 4 + k) : 0;
    };
    const unsigned near_square = tile_.word * 32 + t % 4 * 8 < v_.nx ? 64 * 64 : 0;  // none behind the last column
    NearRows<kThreads, 64> near;
    const auto fill_from = [&](auto&& four_of) {
#pragma unroll 4
      for (int i = t; i < n * 4; i += kThreads) {
        const auto kind = static_cast<TileKind>(kinds[i / 4]);
        const unsigned two = kLabels ? kNone16x2 : squares_not_kept(kind);
        uint4 four = make_uint4(two, two, two, two);
        if (keeps_rows(kind)) four = four_of(i / 4);
        const unsigned least = __vminu2(__vminu2(four.x, four.y), __vminu2(four.z, four.w));
        near.add(i / 4, min(least & 0xFFFFu, least >> 16) < near_square ||
                            (kLabels && (__ldg(changes + i / 4) >> (i % 4 * 8) & 255) != 0));
        rows.put(i / 4, i % 4, four);
      }
    };
    if (pairs == kPairsOfWord)
      fill_from([&](int r) { return __ldcs(reinterpret_cast<const uint4*>(narrow) + r * 4 + t % 4); });
    else fill_from([&](int r) { return make_uint4(pair(r, 0), pair(r, 1), pair(r, 2), pair(r, 3)); });
    near.put(shared_.near_of_warps);
    __syncthreads();
    return near.suffice(shared_.near_of_warps, n);
  }

  /// Wide rows are kept where results go: groups with some are written in a second round, so that the envelope still
  /// finds them if the search fails. @returns whether all rows are settled
  __device__ bool search() const {
    using Pairs = Window<WindowPairs>;
    const VolumeWriter<kWriting> writer(v_, emitter_, tile_);
    const WindowRows<WindowPairs> rows(memory_, v_.ny);
    const RunEnds ends(shared_.run_words, v_.ny);
    const int n = v_.ny, lane = static_cast<int>(threadIdx.x) % 16;
    bool failed = false;
    for (int round = 0; round <= (shared_.wide_rows > 0 ? 1 : 0) && !failed; ++round) {
      for (int q0 = warp_number() * 2; q0 < rows.groups; q0 += kThreads / 16) {
        const bool keeps = (shared_.wide_pairs[q0 / 64] >> q0 / 2 % 32 & 1) != 0;
        if (round == 1 && !keeps) continue;
        const int q = q0 + lane_id() / 16;
        Pairs window(rows, min(q, rows.groups - 1), lane);
        if constexpr (kLabels)
          if (__any_sync(kAllLanes, WindowPairs::largest(window.best) > 0))
            ends.bound_pairs(min(q, rows.groups - 1), lane, window.best);
        if (!window.search(&shared_.work, Pairs::budget_of(n))) {
          failed = true;
          break;
        }
        if (round == 1 || !keeps) writer.write_pairs(q * 8, window.best);
      }
      failed = __syncthreads_or(failed);
      if (threadIdx.x == 0) shared_.work = 0;
      __syncthreads();
    }
    return !failed;
  }

 private:
  const Volume& v_;
  const Emitter<std::int64_t>& emitter_;
  const Volume::Tile& tile_;
  Shared& shared_;
  unsigned* const memory_;
};

template <int kThreads, Writing kWriting>
__global__ void __launch_bounds__(kThreads, search_blocks(kThreads, is_of_labels(kWriting) || is_general(kWriting)))
    search_along_y(const __grid_constant__ Volume v, const __grid_constant__ Emitter<std::int64_t> emitter) {
  using Search = SearchAlongY<kThreads, kWriting>;
  extern __shared__ uint4 window_shared[];
  __shared__ typename Search::Shared shared;
  v.clear_counter(0);
  if constexpr (may_turn_words(kWriting)) {
    const std::int64_t tiles = v.items * v.words * v.nz;
    if (blockIdx.x >= tiles) return turn_row(v, blockIdx.x - tiles);
  }
  const Volume::Tile tile = v.tile(blockIdx.x, v.nz);
  const Search search(v, emitter, tile, shared, window_shared);
  if (search.count_rows() || search.solve_few()) return;
  const bool is_done = search.may_be_near() && search.fill() && search.search();
  if (!is_done && threadIdx.x == 0) enlist(v.y_list, v.counters + 1, blockIdx.x);
}

}  // namespace fathom::grid::cuda::volume
