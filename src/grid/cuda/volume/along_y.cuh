// The pass along y, which writes results: by a search (volume/window.cuh), or by an envelope (volume/envelope.cuh).
//
// Work mapping: block = tile. Tiles with few rows that have sites are solved by these alone; those whose search would
// be long are left to the envelope, by a list, of which persistent blocks take halves.
#pragma once

#include "core/cuda/early_launch.cuh"
#include "grid/cuda/volume/envelope.cuh"
#include "grid/cuda/volume/rows_with_sites.cuh"
#include "grid/cuda/volume/window.cuh"
#include "grid/cuda/volume/writer.cuh"

namespace fathom::grid::cuda::volume {

/// A tile along y. All functions are called by all threads of the block.
template <int kThreads, Writing kWriting>
struct SearchAlongY {
  static constexpr bool kLabels = is_of_labels(kWriting), kSide = kWriting == Writing::one_side;

  struct Shared {
    int work, wide_rows, filled_rows;             ///< the latter: those of wide tiles in the upper half
    unsigned wide_pairs[kLongestAxis / 16 / 32];  ///< of groups: which have wide rows
    unsigned foreseen_of_warps[kThreads / 32], near_of_warps[kThreads / 32];
    RunWords<kLabels> run_words;
  };

  const Volume& v;
  const Emitter<std::int64_t>& emitter;
  const Volume::Tile& tile;
  Shared& shared;
  unsigned* const memory;
  const std::uint8_t* const kinds = v.kinds(tile);

  /// @returns whether all are the other side's
  __device__ bool count_rows() const {
    const auto t = thread();
    if (t == 0) shared.wide_rows = shared.filled_rows = shared.work = 0;
    if (t < kLongestAxis / 16 / 32) shared.wide_pairs[t] = 0;
    __syncthreads();
    int filled = 0;
    bool is_full = kSide;
    for (int r = t; r < v.ny; r += kThreads) {
      filled += (kinds[r] != kEmpty) + ((kinds[r] == kWide) << 16);
      is_full &= kinds[r] == kFull;
    }
    add_over_block(filled, &shared.filled_rows);
    if constexpr (kSide) return __syncthreads_and(is_full);
    __syncthreads();
    return false;
  }

  /// From the rows that have sites, where these are few. @returns whether they are
  __device__ bool solve_few() const {
    if ((shared.filled_rows & 0xFFFF) > kFewRows) return false;
    if constexpr (kLabels) {
      bool any = false;
      for (int r = thread(); r < v.ny; r += kThreads) any |= v.changes_along_y(tile)[r] != 0;
      if (__syncthreads_or(any)) return false;
    }
    __shared__ SortedRows filled;
    filled.find(v.ny, [&](int r) { return kinds[r] != kEmpty; });
    const ColumnOfRows<kSide> column(v, tile, lane_id());
    const VolumeWriter<kWriting> writer{v, emitter, tile};
    // Floats go one by one; what else there may be, eight at a time.
    solve_few_rows<is_general(kWriting) ? 8 : 1>(
        filled, v.ny, [&](int r) { return column.square(kind_of_row(v, tile, lane_id() / 16, r), r); },
        [&](int y, const unsigned* best, int count) {
          writer.write_column(y, tile.word * 32 + lane_id(), best, count);
        });
    return true;
  }

  /// Whether a search is worth a try, from what is told of wide tiles. It would be long, or take two rounds.
  __device__ bool may_be_near() const {
    if (shared.filled_rows >> 16 == 0) return true;
    const int n = v.ny;
    const std::uint8_t *first = v.beyond_row(tile, 0, tile.line), *second = v.beyond_row(tile, 1, tile.line);
    int wide = 0;
    NearRows<kThreads, 64> near;
    for (int r = thread(); r < n; r += kThreads) {
      const bool is_wide = kinds[r] == kWide;  // beyond 16 bits is what either half is, far is what both are
      near.add(r, kinds[r] != kEmpty && !(is_wide && (first[r] & second[r] & kFarRows)));
      if (!is_wide || ((first[r] | second[r]) & kBeyond16) == 0) continue;
      ++wide;
      atomicOr(&shared.wide_pairs[r / 512], 1u << r / 16 % 32);
    }
    add_over_block(wide, &shared.wide_rows);
    near.put(shared.foreseen_of_warps);
    __syncthreads();
    return (kLabels || near.suffice(shared.foreseen_of_warps, n)) && shared.wide_rows * 8 <= n;
  }

  /// Rows of squares. @returns whether sites are near enough for a search
  __device__ bool fill() const {
    const auto t = thread();
    const int n = v.ny;
    const std::uint32_t* changes = v.changes_along_y(tile);
    const WindowRows<WindowPairs> rows(memory, n);
    rows.pad(n);
    if constexpr (kLabels) RunEnds(shared.run_words, n).fill([&](int r) { return make_uint2(__ldg(changes + r), 0); });
    const std::uint32_t* narrow = v.narrow_row(tile.item, tile.word, tile.line, 0);
    const int pairs = v.pairs_of(tile.word);
    const auto pair = [&](int r, int k) {  // where there is none 0, which keeps no search busy
      return t % 4 * 4 + k < pairs ? __ldcs(narrow + r * pairs + t % 4 * 4 + k) : 0;
    };
    const unsigned near_square = tile.word * 32 + t % 4 * 8 < v.nx ? 64 * 64 : 0;  // none behind the last column
    NearRows<kThreads, 64> near;
    const auto fill_from = [&](auto&& four_of) {
#pragma unroll 4
      for (int i = t; i < n * 4; i += kThreads) {
        const auto kind = static_cast<TileKind>(kinds[i / 4]);
        const unsigned two = kLabels || kind != kFull ? kNone16x2 : 0;
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
    near.put(shared.near_of_warps);
    __syncthreads();
    return near.suffice(shared.near_of_warps, n);
  }

  /// Wide rows are kept where results go: groups with some are written in a second round, so that the envelope still
  /// finds them if the search fails. @returns whether all rows are settled
  __device__ bool search() const {
    using Pairs = Window<WindowPairs>;
    const VolumeWriter<kWriting> writer{v, emitter, tile};
    const WindowRows<WindowPairs> rows(memory, v.ny);
    const RunEnds ends(shared.run_words, v.ny);
    const int n = v.ny, lane = thread() % 16;
    bool failed = false;
    for (int round = 0; round <= (shared.wide_rows > 0 ? 1 : 0) && !failed; ++round) {
      for (int q0 = warp_number() * 2; q0 < rows.groups; q0 += kThreads / 16) {
        const bool keeps = (shared.wide_pairs[q0 / 64] >> q0 / 2 % 32 & 1) != 0;
        if (round == 1 && !keeps) continue;
        const int q = q0 + lane_id() / 16;
        Pairs window(rows, min(q, rows.groups - 1), lane);
        if constexpr (kLabels)
          if (__any_sync(kAllLanes, WindowPairs::largest(window.best) > 0))
            ends.bound_pairs(min(q, rows.groups - 1), lane, window.best);
        if (!window.search(&shared.work, Pairs::budget_of(n))) {
          failed = true;
          break;
        }
        if (round == 1 || !keeps) writer.write_pairs(q * 8, window.best);
      }
      failed = __syncthreads_or(failed);
      if (threadIdx.x == 0) shared.work = 0;
      __syncthreads();
    }
    return !failed;
  }
};

template <int kThreads, Writing kWriting>
__global__ void __launch_bounds__(kThreads, search_blocks(kThreads, is_of_labels(kWriting) || is_general(kWriting)))
    search_along_y(const __grid_constant__ Volume v, const __grid_constant__ Emitter<std::int64_t> emitter) {
  using Search = SearchAlongY<kThreads, kWriting>;
  extern __shared__ uint4 window_shared[];
  __shared__ typename Search::Shared shared;
  v.clear_counter(0);
  const Volume::Tile tile = v.tile(blockIdx.x, v.nz);
  const Search search{v, emitter, tile, shared, reinterpret_cast<unsigned*>(window_shared)};
  if (search.count_rows() || search.solve_few()) return;
  const bool is_done = search.may_be_near() && search.fill() && search.search();
  if (!is_done && threadIdx.x == 0) enlist(v.y_list, v.counters + 1, blockIdx.x);
}

/// A chunk of a column's rows, of which the first kinds tell.
template <int kChunk, bool kSide>
__device__ __forceinline__ void load_chunk(unsigned* value, const KindBits& kinds, const std::uint32_t* wide,
                                           std::int64_t wide_step, const std::uint16_t* narrow, int narrow_step) {
  constexpr unsigned kAll = 0xFFFFFFFFu >> (32 - kChunk);
  if ((kinds.wide & kAll) == kAll) {
#pragma unroll
    for (int r = 0; r < kChunk; ++r, wide += wide_step) value[r] = wide_square<kSide>(*wide);
  } else if ((kinds.narrow & kAll) == kAll) {
#pragma unroll
    for (int r = 0; r < kChunk; ++r) value[r] = narrow[r * narrow_step];
  } else {  // all that is read is on its way before any of it is looked at
#pragma unroll
    for (int r = 0; r < kChunk; ++r, wide += wide_step) {
      value[r] = kNone32;
      if (kinds.wide >> r & 1) value[r] = wide_square<kSide>(*wide);
      if (kinds.narrow >> r & 1) value[r] = narrow[r * narrow_step];
    }
    if (kinds.full == 0) return;
#pragma unroll
    for (int r = 0; r < kChunk; ++r)
      if (kinds.full >> r & 1) value[r] = 0;
  }
}

template <Writing kWriting, class Solver>
__global__ void __launch_bounds__(Solver::kThreadsOfBlock, kEnvelopeThreads / Solver::kThreadsOfBlock)
    envelope_along_y(const __grid_constant__ Volume v, const __grid_constant__ Emitter<std::int64_t> emitter) {
  extern __shared__ uint4 envelope_shared[];
  fathom::cuda::wait_for_last();
  constexpr bool kLabels = is_of_labels(kWriting), kSide = kWriting == Writing::one_side;
  constexpr int kChunk = Solver::kRows, kLines = Solver::kLines, kParts = 32 / kLines;  // of a tile
  __shared__ RunWords<kLabels> run_words;
  __shared__ unsigned wide_of[kLongestAxis / 32], narrow_of[kLongestAxis / 32], full_of[kLongestAxis / 32];
  const int n = v.ny;
  const unsigned count = v.counters[1] * kParts;
  const RunEnds ends(run_words, n);
  for (unsigned job = blockIdx.x; job < count; job += gridDim.x) {
    const Volume::Tile tile = v.tile(v.y_list[job / kParts], v.nz);
    const int lane = thread() % kLines, column = static_cast<int>(job % kParts) * kLines + lane,
              x = tile.word * 32 + column;
    if (x - lane >= v.nx) continue;
    // What ColumnOfRows has, which in a struct takes registers.
    const int narrow_step = 2 * v.pairs_of(tile.word);
    const auto* narrow = reinterpret_cast<const std::uint16_t*>(v.narrow_row(tile.item, tile.word, tile.line, 0)) +
                         min(column, narrow_step - 1);
    const std::uint32_t* wide = v.wide_at(tile.item, tile.line, 0, min(x, v.nx - 1));
    const std::int64_t wide_step = v.wide.y_stride;
    for (int w = thread() / 32; w * 32 < n; w += Solver::kThreadsOfBlock / 32) {
      const KindBits bits = KindBits::of(v, tile, column / 16, w * 32);
      if (lane_id() == 0) wide_of[w] = bits.wide, narrow_of[w] = bits.narrow, full_of[w] = bits.full;
    }
    __syncthreads();
    const auto load = [&](unsigned* value, int first, int) {
      constexpr int kUsualStep = 2 * kPairsOfWord;  // so that where rows lie is not computed
      const int w = first / 32, shift = first % 32;
      const KindBits kinds{wide_of[w] >> shift, narrow_of[w] >> shift, kLabels ? 0 : full_of[w] >> shift};
      if (narrow_step == kUsualStep)
        load_chunk<kChunk, kSide>(value, kinds, wide + first * wide_step, wide_step, narrow + first * kUsualStep,
                                  kUsualStep);
      else
        load_chunk<kChunk, kSide>(value, kinds, wide + first * wide_step, wide_step, narrow + first * narrow_step,
                                  narrow_step);
    };
    if constexpr (kLabels) ends.fill([&](int r) { return make_uint2(__ldg(v.changes_along_y(tile) + r), 0); });
    const VolumeWriter<kWriting> writer{v, emitter, tile};
    const auto store = [&](int y, unsigned* values, int count) {
      if (count == 0) return;
      if constexpr (kLabels) ends.bound(y / 8, column, values);
      writer.write_column(y, x, values, count);
    };
    Solver(reinterpret_cast<unsigned*>(envelope_shared), n).run(load, store);
  }
}

}  // namespace fathom::grid::cuda::volume
