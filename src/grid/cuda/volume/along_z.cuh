// The pass along z: by a search where sites are near (volume/window.cuh), else by an envelope (volume/envelope.cuh).
//
// Work mapping: block = tile. A first look at its words tells whether there are sites at all, or alone, which is all
// that is kept of such a tile, and near enough. Tiles of which few rows have sites are solved by these alone. Of what
// neither settles persistent blocks take halves; else as the envelope has it.
#pragma once

#include "core/cuda/early_launch.cuh"
#include "grid/cuda/volume/envelope.cuh"
#include "grid/cuda/volume/nearest/sites.cuh"
#include "grid/cuda/volume/rows_with_sites.cuh"

namespace fathom::grid::cuda::volume {

/// What the pass leaves where sites may be far: rows of 16 bits as everywhere else, clamped, and squares of 32 bits where
/// eight rows of half a tile do not fit. Half a warp stores half a tile, lane = column.
class FarRows {
 public:
  static constexpr int kHalves = 2;  ///< of a tile that a search leaves to the envelope

  /// @param column  of the tile; its last four bits are the lane's
  __device__ FarRows(const Volume& v, const Volume::Tile& tile, int column)
      : v_(v),
        there_(tile.word * 32 + column < v.nx),
        wide_(v.wide_at(tile.item, 0, tile.line, tile.word * 32 + column)),
        is_kept_(column / 2 < v.pairs_of(tile.word)),
        narrow_(reinterpret_cast<std::uint16_t*>(v.narrow_row(tile.item, tile.word, 0, tile.line)) + column),
        beyond_(v.beyond_row(tile, column / 16, 0) + tile.line) {}
  __device__ FarRows(const Volume& v, const HalfTile& half) : FarRows(v, half.tile, half.x - half.tile.word * 32) {}

  /// Up to eight rows from z on, a multiple of eight. By whole warps, of which halves may have no rows.
  /// @returns whether they do not fit 16 bits
  __device__ bool put(int z, const unsigned* squares, int count) const {
    const bool fits = !there_ || count == 0 || greatest_of_eight(squares) < kNone16;
    const bool is_wide = (__ballot_sync(kAllLanes, !fits) >> (lane_id() & 16) & 0xFFFFu) != 0;
    if (count > 0 && lane_id() % 16 == 0) {
      const bool is_far = !there_ || squares[0] >= kFarSquare;
      beyond_[std::int64_t{v_.ny} * (z / 8)] = (is_wide ? kBeyond16 : 0) | (is_far ? kFarRows : 0);
    }
    if (is_wide && there_) {
      std::uint32_t* to = wide_ + z * v_.wide.z_stride;
      const unsigned least = v_.wide_has_results ? 1 : 0;
#pragma unroll
      for (int j = 0; j < 8; ++j, to += v_.wide.z_stride)
        if (j < count && squares[j] >= least) *to = squares[j];
    }
    const std::int64_t stride = 2 * v_.pairs_of_plane;
    if (is_kept_)
      store_eight<false>(count, narrow_ + z * stride, stride, [&](int j) {
        return there_ ? static_cast<std::uint16_t>(min(squares[j], kNone16)) : std::uint16_t{0};
      });
    return is_wide;
  }

 private:
  /// Of a distance from which none of eight rows and sixteen columns is nearer than 64.
  static constexpr unsigned kFarSquare = 81 * 81;
  static_assert((81 - 64) * (81 - 64) > 7 * 7 + 15 * 15);

  const Volume& v_;
  const bool there_;
  std::uint32_t* const wide_;
  const bool is_kept_;  ///< in 16 bits
  std::uint16_t* const narrow_;
  std::uint8_t* const beyond_;
};

/// Of a search along z: what it settles is nearer than the caps, and none of its sums wraps.
inline constexpr unsigned kCapOfSearch = 178;
using SearchedSquares = EightOfRow<kCapOfSearch>;
static_assert((WindowPairs::kMostSteps + 1) * (WindowPairs::kMostSteps + 1) < kCapOfSearch * kCapOfSearch);
static_assert(SearchedSquares::most() + WindowPairs::kMostSteps * WindowPairs::kMostSteps < 1 << 16);

/// The search. By all threads. @returns whether all rows are settled
/// @param of_byte  the table of squares
/// @param work     shared; 0
template <int kThreads, bool kLabels>
__device__ bool search_rows(const Volume& v, const Volume::Tile& tile, const WindowRows<WindowPairs>& rows,
                            const RunEnds& ends, const uint2* of_byte, int* work) {
  using Pairs = Window<WindowPairs>;
  const uint2* line = v.word_line(tile);
  const int n = v.nz, t = thread(), first = t % 4 * 8, lane = t % 16;
  const uint4 inside = pairs_inside(v.nx - tile.word * 32 - first);
#pragma unroll 4
  for (int r = t / 4; r < n; r += kThreads / 4)
    rows.put(r, t % 4, SearchedSquares(__ldg(line + r), first, of_byte, kLabels).within(inside));
  __syncthreads();
  bool failed = false;
  int took = 0;
  const bool is_kept = lane < v.pairs_of(tile.word);
  std::uint32_t* const narrow = v.narrow_row(tile.item, tile.word, 0, tile.line) + lane;
  for (int q0 = warp_number() * 2; q0 < rows.groups; q0 += kThreads / 16) {
    const int q = q0 + lane_id() / 16;
    Pairs window(rows, min(q, rows.groups - 1), lane);
    if constexpr (kLabels) ends.bound_pairs(min(q, rows.groups - 1), lane, window.best);
    if (!window.search(work, Pairs::budget_of(n), &took)) {
      failed = true;
      break;
    }
    if (is_kept)
      store_eight<false>(n - q * 8, narrow + q * 8 * v.pairs_of_plane, v.pairs_of_plane,
                         [&](int j) { return window.best[j]; });
  }
  return !__syncthreads_or(failed);
}

/// A tile of which few rows have sites. Not inlined, for the registers of the search.
/// @returns its kind; kEmpty: more rows than few have sites
__device__ __noinline__ inline TileKind solve_few_along_z(const Volume& v, Volume::Tile tile) {
  __shared__ SortedRows filled;
  const uint2* line = v.word_line(tile);
  if (filled.find(v.nz, [&](int z) { return has_sites(__ldg(line + z)); }) > kFewRows) return kEmpty;
  const FarRows far(v, tile, lane_id());
  bool is_wide = false;
  solve_few_rows<8>(
      filled, v.nz, [&](int z) { return square_along_x(__ldg(line + z)); },
      [&](int z, const unsigned* squares, int count) { is_wide |= far.put(z, squares, count); });
  return __syncthreads_or(is_wide) ? kWide : kNarrow;
}

template <int kThreads, bool kLabels>
__global__ void __launch_bounds__(kThreads, search_blocks(kThreads, kLabels))
    search_along_z(const __grid_constant__ Volume v) {
  extern __shared__ uint4 window_shared[];
  __shared__ int work;
  __shared__ unsigned near_of_warps[kThreads / 32];
  __shared__ uint2 of_byte[256];
  __shared__ RunWords<kLabels> run_words;
  v.clear_counter(1);
  const int t = thread(), n = v.nz;
  const Volume::Tile tile = v.narrow_tile(blockIdx.x);
  const uint2 *line = v.word_line(tile), *changes = v.changes_along_z(tile);
  const RunEnds ends(run_words, n);
  bool any = false, is_full = !kLabels;  // of the thread's rows
  const unsigned all = first_bits(v.nx - tile.word * 32);
  std::conditional_t<kLabels, NearRows<kThreads, 128>, StretchesAlongZ<kThreads>> near;
  for (int r = t; r < n; r += kThreads) {
    const uint2 word = __ldg(line + r);
    const bool has_change = kLabels && __ldg(&changes[r].x) != 0;
    any |= has_sites(word) || has_change;
    is_full &= word.x == all;
    near.add(r, word.x != 0 || min(word.y & 0xFFFFu, word.y >> 16) < 64 || has_change);
  }
  near.put(near_of_warps);
  const WindowRows<WindowPairs> rows(reinterpret_cast<unsigned*>(window_shared), n);
  rows.pad(n);
  copy_byte_table<kThreads>(of_byte, kLabels ? kByteSquaresBeyond.of : kByteSquares.of);
  if (t == 0) work = 0;
  const int with_sites = __syncthreads_count(any);  // threads
  if (with_sites == 0) return leave_along_z(v, kEmpty);
  if constexpr (kLabels) {
    ends.fill([&](int r) { return v.runs_along_z(tile, changes, r); });
  } else {
    if (__ldg(&line->x) == all && __syncthreads_and(is_full)) return leave_along_z(v, kFull);
    if (with_sites <= kFewRows) {
      const TileKind kind = solve_few_along_z(v, tile);
      if (kind != kEmpty) return leave_along_z(v, kind);
    }
  }
  const bool is_near = kLabels ? near.suffice(near_of_warps, n) : near.few_lie_between(near_of_warps, n);
  const bool is_done = is_near && search_rows<kThreads, kLabels>(v, tile, rows, ends, of_byte, &work);
  leave_along_z(v, is_done ? kNarrow : kWide, is_done);
}

/// @param Solver  the envelope
/// @param Writer  of what it finds in half a tile: put(first row, up to eight of it, how many); kHalves in an entry of the
///                list: of a tile, or one
template <class Solver, bool kLabels, class Writer>
__global__ void __launch_bounds__(Solver::kThreadsOfBlock, kEnvelopeThreads / Solver::kThreadsOfBlock)
    envelope_along_z(const __grid_constant__ Volume v) {
  extern __shared__ uint4 envelope_shared[];
  fathom::cuda::wait_for_last();
  constexpr int kThreads = Solver::kThreadsOfBlock, kHalves = Writer::kHalves;
  __shared__ uint2 of_byte[256];
  __shared__ RunWords<kLabels> run_words;
  const int n = v.nz;
  const unsigned count = v.counters[0] * kHalves;
  if (blockIdx.x >= count) return;
  copy_byte_table<kThreads>(of_byte, kLabels ? kByteDistancesBeyond.of : kByteDistances.of);
  const RunEnds ends(run_words, n);
  for (unsigned job = blockIdx.x; job < count; job += gridDim.x) {
    const std::uint32_t entry = v.z_list[job / kHalves];
    const HalfTile half = kHalves == 2 ? HalfTile(v.narrow_tile(entry), job) : narrow_half_along_z(v, entry);
    load_along_x<kThreads, Solver::kRows>(envelope_shared, v.word_line(half.tile), n, half.first, of_byte, kLabels);
    if constexpr (kLabels) ends.fill([&](int r) { return v.runs_along_z(half.tile, v.changes_along_z(half.tile), r); });
    const auto load = [&](unsigned* value, int first, int lane) {
      squares_along_x<Solver::kRows>(envelope_shared, value, first, lane, n);
    };
    const Writer writer{v, half};
    const auto store = [&](int z, unsigned* found, int rows) {
      if constexpr (kLabels)
        if (rows > 0) ends.bound(z / 8, half.first + thread() % 16, found);
      writer.put(z, found, rows);
    };
    Solver(reinterpret_cast<unsigned*>(envelope_shared), n).run(load, store);
  }
}

}  // namespace fathom::grid::cuda::volume
