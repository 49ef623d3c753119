// The last pass of a transposed volume where sites are near, or rows with sites few. For rows of distances that begin
// inside sectors of memory: tiles of 32 columns would begin and end inside sectors in every row.
//
// Words hold 32 neighbours along y there (volume/transposed/columns.cuh), and the pass along z is the same as ever. Of
// this one a tile is 32 neighbours along y, which are its lines, by whole rows along x: in memory one piece of the
// output (volume/lines.cuh).
//
// Work mapping: block = tile. The search of volume/along_y.cuh, but that its results go to shared memory, in 16 bits,
// and to the output when all are there. So nothing is written of a tile whose search fails; wide rows, which lie where
// results go, are left as they are for the envelope (volume/envelope.cuh), as all else that would take long.
// Blocks ahead of these solve a last column (volume/last_column.cuh).
// Cost: as there, and one store to shared memory for two elements, and a load from there.
#pragma once

#include "core/cuda/async_copy.cuh"
#include "grid/cuda/volume/filled_rows.cuh"
#include "grid/cuda/volume/gaps.cuh"
#include "grid/cuda/volume/last_column.cuh"
#include "grid/cuda/volume/lines.cuh"

namespace fathom::grid::cuda::volume {

/// Bytes of dynamic shared memory.
inline __host__ __device__ std::size_t along_x_memory(int length) {
  return window_memory(length) + FoundWords::memory(length);
}

/// The rows of a tile that have sites, and those of them in which some squares do not fit 16 bits.
struct RowCounts {
  int filled, wide;
  bool are_full;  ///< all rows are
};

/// By all threads.
template <int kThreads>
__device__ RowCounts count_rows(const Volume& v, const Volume::Tile& tile) {
  __shared__ int both;  // wide ones in the upper half
  if (threadIdx.x == 0) both = 0;
  __syncthreads();
  const std::uint8_t* kinds = v.kinds(tile);
  const RowKinds first_half(v, tile, 0), second_half(v, tile, 1);
  int own = 0;
  bool are_full = true;
  for (int r = static_cast<int>(threadIdx.x); r < v.ny; r += kThreads) {
    own += kinds[r] != kEmpty;
    are_full &= kinds[r] == kFull;
    if (kinds[r] == kWide && (first_half[r] == kWide || second_half[r] == kWide)) own += 1 << 16;
  }
  add_over_block(own, &both);
  are_full = __syncthreads_and(are_full);
  return {both & 0xFFFF, both >> 16, are_full};
}

/// Tiles of which at most kFewRows rows have sites: each of these is tried everywhere.
template <int kThreads>
class FewRowsAlongX {
 public:
  __device__ FewRowsAlongX(const Volume& v, const Volume::Tile& tile) : v_(v), tile_(tile) {}

  /// By all threads.
  __device__ void solve(const LineWriter<kThreads>& writer) const {
    __shared__ FilledRows<kFewRows> filled;
    __shared__ unsigned squares[kFewRows][32];
    filled.find(v_.ny, [&](int r) { return v_.kinds(tile_)[r] != kEmpty; });
    for (int i = static_cast<int>(threadIdx.x); i < filled.count * 32; i += kThreads)
      squares[i / 32][i % 32] = i % 32 < writer.lines ? square_at(filled.row[i / 32], i % 32) : 0;
    __syncthreads();  // wide rows are kept where results go
    writer.write_rows([&](int line) {
      OfLine few{.count = filled.count};
#pragma unroll
      for (int k = 0; k < kFewRows; ++k)
        if (k < filled.count) few.row[k] = filled.row[k], few.square[k] = squares[k][line];
      return [few](int x) { return [&few, x](int k) { return few.at(x + 32 * k); }; };
    });
  }

 private:
  struct OfLine {
    int count, row[kFewRows];
    unsigned square[kFewRows];

    __device__ float at(int x) const {
      unsigned least = kNone32;
#pragma unroll
      for (int k = 0; k < kFewRows; ++k)
        if (k < count) least = min(least, square[k] + static_cast<unsigned>((x - row[k]) * (x - row[k])));
      return small_root(small_float(least));
    }
  };

  __device__ unsigned square_at(int row, int line) const {
    const TileKind kind = RowKinds(v_, tile_, line / 16)[row];
    if (kind == kFull) return 0;
    if (kind == kWide) return *v_.wide_at(tile_.item, tile_.line, row, tile_.word * 32 + line);
    return reinterpret_cast<const std::uint16_t*>(v_.narrow_row(tile_.item, tile_.word, tile_.line, row))[line];
  }

  const Volume& v_;
  const Volume::Tile& tile_;
};

/// A tile's rows as the pass along z left them, to shared memory. By all threads.
/// @returns whether sites are near enough for a search
template <int kThreads>
__device__ bool load_rows(WindowRows<WindowPairs>& rows, const Volume& v, const Volume::Tile& tile) {
  __shared__ unsigned near_of_warps[kThreads / 32];
  const int t = static_cast<int>(threadIdx.x), n = v.ny;
  const std::uint8_t* kinds = v.kinds(tile);
  const auto* narrow = reinterpret_cast<const uint4*>(v.narrow_row(tile.item, tile.word, tile.line, 0));
  const unsigned near_square = tile.word * 32 + t % 4 * 8 < v.nx ? 64 * 64 : 0;  // none behind the last line
  NearRows<kThreads, 64> near;
  rows.pad(n);
#pragma unroll 4
  for (int i = t; i < n * 4; i += kThreads) {
    const auto kind = static_cast<TileKind>(kinds[i / 4]);
    auto* to = reinterpret_cast<uint4*>(rows.at(i / 4, i % 4 * 4));
    const unsigned two = squares_not_kept(kind);
    if (keeps_rows(kind)) fathom::cuda::copy_async<sizeof(uint4)>(to, narrow + i);
    else *to = make_uint4(two, two, two, two);
  }
  fathom::cuda::wait_for_copies();
#pragma unroll 4
  for (int i = t; i < n * 4; i += kThreads) {
    const uint4 four = *reinterpret_cast<const uint4*>(rows.at(i / 4, i % 4 * 4));
    const unsigned least = __vminu2(__vminu2(four.x, four.y), __vminu2(four.z, four.w));
    near.add(i / 4, min(least & 0xFFFFu, least >> 16) < near_square);
  }
  near.put(near_of_warps);
  __syncthreads();
  return near.suffice(near_of_warps, n);
}

/// By all threads.
template <int kThreads>
__device__ void write_same(const LineWriter<kThreads>& writer, float result) {
  writer.write_rows([result](int) { return [result](int) { return [result](int) { return result; }; }; });
}

/// By all threads.
template <int kThreads>
__device__ void write_found(const LineWriter<kThreads>& writer, const FoundWords& found) {
  writer.write_rows([&](int line) {
    return [&found, line](int x) {
      const auto* squares = reinterpret_cast<const std::uint16_t*>(found.from(line / 2, x)) + line % 2;
      return [squares](int k) { return small_root(small_float(squares[k * 2 * FoundWords::kNext])); };
    };
  });
}

/// Blocks per multiprocessor, as far as its shared memory goes.
constexpr int along_x_blocks(int threads) {
  return resident_blocks(threads, threads == kAlongXBlock ? 5 : threads == kLongAlongXBlock ? 3 : 2);
}

/// @tparam kLastColumn  v.has_last_column: asked by all kernels, that took up to 1.6 % of their time
template <int kThreads, bool kLastColumn = false>
__global__ void __launch_bounds__(kThreads, along_x_blocks(kThreads)) search_along_x(const __grid_constant__ Volume v) {
  extern __shared__ uint4 window_shared[];
  v.clear_counter(0);
  if constexpr (kLastColumn)
    if (blockIdx.x < last_column_blocks(v.nz)) return solve_last_column_along_x<kThreads>(v, blockIdx.x, window_shared);
  const unsigned number = blockIdx.x - (kLastColumn ? last_column_blocks(v.nz) : 0);  // of the tile
  const Volume::Tile tile = v.tile(number, v.nz);
  const LineWriter<kThreads> writer(v, tile);
  const RowCounts counts = count_rows<kThreads>(v, tile);
  if (counts.filled == 0) return write_same(writer, v.side.none());
  if (counts.are_full) return write_same(writer, 0.0f);
  if (counts.filled <= kFewRows) return FewRowsAlongX<kThreads>(v, tile).solve(writer);
  const FoundWords found(window_shared + window_memory(v.ny) / sizeof(uint4));
  WindowRows<WindowPairs> rows(reinterpret_cast<unsigned*>(window_shared), v.ny);
  if (counts.wide * 8 <= v.ny && load_rows<kThreads>(rows, v, tile) && find_near<kThreads>(rows, v.ny, found)) {
    write_found(writer, found);
  } else if (threadIdx.x == 0) {
    enlist(v.y_list, v.counters + 1, number);
  }
}

}  // namespace fathom::grid::cuda::volume
