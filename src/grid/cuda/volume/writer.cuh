// How the pass along y writes results of masks and labels: float distances, or whatever else is asked for.
//
// Work mapping: half warp = eight rows, lane = two neighbours of each, as searches find them, of which rows that are
// not aligned are written by whole warps; or lane = eight rows of a column, as envelopes do. Cost: a root for each
// element, a store for each or for two.
#pragma once

#include "grid/cuda/extremes.cuh"
#include "grid/cuda/volume/volume.cuh"

namespace fathom::grid::cuda::volume {

/// Float distances of two neighbours of a row, or whatever else is asked for.
template <Writing kWriting>
struct VolumeWriter {
  const Volume& v;
  const Emitter<std::int64_t>& emitter;
  const Volume::Tile& tile;  ///< along y: line = z
  float* rows;               ///< first element of the tile's first row

  __device__ VolumeWriter(const Volume& volume, const Emitter<std::int64_t>& e, const Volume::Tile& t)
      : v(volume), emitter(e), tile(t) {
    if constexpr (!is_general(kWriting)) rows = v.distance.row(v.first_item + t.item, t.line, 0) + t.word * 32;
  }

  /// Start of the tile's row y, where results are floats.
  __device__ float* row_of(int y) const { return rows + y * v.distance.y_stride; }

  /// Eight rows from y on. The other half of the warp takes part, too, with the eight before or behind.
  ///
  /// @param squares  of columns 2·lane and 2·lane + 1 of the tile, lane < 16
  __device__ void write_pairs(int y, const unsigned* squares) const {
    if constexpr (is_general(kWriting)) {
      write_rows(y, squares);
    } else {
      const int own =
          y - 8 * (lane_id() / 16) + lane_id() % 16;  // of both halves' rows, that whose signs the lane reads
      const unsigned inside = kSigned && own < v.ny ? inside_of_row(own) : 0;
      if (kWriting == Writing::unaligned || (kWriting != Writing::aligned && !v.is_aligned))
        write_rows_of_32(y, squares, inside);
      else write_rows_of_pairs(y, squares, inside);
    }
  }

  /// Up to eight results along y.
  /// @tparam kSmall  squares are below 2²³, where there is a site
  template <bool kSmall = false>
  __device__ void write_column(int y, int x, const unsigned* squares, int count) const {
    if (x >= v.nx) return;
    if constexpr (is_general(kWriting)) {
      auto results = results_of(y, x, count);
#pragma unroll
      for (int j = 0; j < 8; ++j) results.squares[j][0] = squares[j] >= kNone32 ? kNoSquare : squares[j];
      write_results(emitter, results);
    } else {
      const auto write = [&](int rows, auto&& distance_of) {
        float* to = row_of(y) + x - tile.word * 32;
#pragma unroll
        for (int j = 0; j < 8; ++j, to += v.distance.y_stride) {
          if (j >= rows) break;
          if (kOneSide && squares[j] == 0) continue;
          const float distance = distance_of(squares[j]);
          *to = kSigned ? with_sign(distance, unsigned{is_inside(y + j, x)}) : distance;
        }
      };
      constexpr unsigned kFar = kHasSide ? Side::kLeastFar : kNone32;
      // Of masks a column has a site in all rows, or in none.
      const bool are_near = count == 8 && (kIsOfOneMask ? squares[0] : greatest_of_eight(squares)) < kFar;
      if (are_near)
        write(8, [&](unsigned square) {
          if constexpr (kHasSide) return v.side.near(small_float(square));
          return small_root(kSmall ? small_float_of_sum(square) : static_cast<float>(square));
        });
      else
        write(count, [&](unsigned square) {
          if (square >= kNone32) return v.side.none();
          if constexpr (kHasSide) return v.side.far(square);
          return small_root(static_cast<float>(square));
        });
    }
  }

  /// No site anywhere: eight rows from y on.
  __device__ void write_none(int y, int x) const {
    unsigned squares[8];
#pragma unroll
    for (unsigned& square : squares) square = kNone32;
    write_column(y, x, squares, v.ny - y);
  }

 private:
  static constexpr bool kOneSide = kWriting == Writing::one_side, kSigned = kWriting == Writing::signed_labels;
  static constexpr bool kHasSide = kOneSide || kSigned;
  static constexpr bool kIsOfOneMask = kWriting == Writing::aligned || kWriting == Writing::unaligned;

  /// small_float() for what is a sum anyway, to which the constant is added at once.
  static __device__ float small_float_of_sum(unsigned sum) { return __uint_as_float(sum + 0x4B000000u) - 8388608.0f; }
  /// @param negative  of signed labels, in its lowest bit
  static __device__ float with_sign(float distance, unsigned negative) {
    return __uint_as_float(__float_as_uint(distance) ^ negative << 31);
  }
  /// Of half a word. Below 2²³ integers are the last bits of floats.
  template <unsigned kSelector>
  __device__ float distance_of(unsigned squares, unsigned negative) const {
    return distance_of(__uint_as_float(__byte_perm(squares, 0x4B000000u, kSelector)) - 8388608.0f, negative);
  }
  __device__ float distance_of(float square, unsigned negative) const {
    if constexpr (!kHasSide) return small_root(square);
    return kSigned ? with_sign(v.side.near(square), negative) : v.side.near(square);
  }

  /// What is no float, a row of 32 by all lanes together, so that neighbouring lanes write neighbours.
  __device__ void write_rows(int y, const unsigned* squares) const {
    const int x = tile.word * 32 + lane_id();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int first = y + 8 * (half - lane_id() / 16);
      auto results = results_of(first, x, x < v.nx ? v.ny - first : 0);
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const unsigned pair = __shfl_sync(kAllLanes, squares[j], 16 * half + lane_id() / 2);
        results.squares[j][0] = lane_id() % 2 ? pair >> 16 : pair & 0xFFFFu;
      }
      write_results(emitter, results);
    }
  }

  /// Whose squares are not there yet.
  __device__ LaneResults<8, 1> results_of(int y, int x, int rows) const {
    LaneResults<8, 1> results{.item = tile.item, .z = tile.line, .y = y, .x = v.first_x + x, .rows = rows};
    if constexpr (is_of_labels(kWriting)) {
#pragma unroll
      for (int j = 0; j < 8; ++j)
        if (j < rows && !v.pins) results.inside |= unsigned{is_inside(y + j, x)} << j;
    }
    return results;
  }
  /// Of signed labels, which elements of a row of the tile are not of label 0. Masks are written so without a sign
  /// alone.
  __device__ unsigned inside_of_row(int y) const {
    return ~__ldg(&v.changes_along_z({tile.item, tile.word, y})[tile.line].y);
  }
  __device__ bool is_inside(int y, int x) const { return inside_of_row(y) >> (x - tile.word * 32) & 1; }

  /// Rows of aligned pairs.
  /// @param inside  of signed labels, of one of both halves' rows, which elements are not of label 0
  __device__ void write_rows_of_pairs(int y, const unsigned* squares, unsigned inside) const {
    const int lane = lane_id() % 16, rows = v.ny - y, column = 2 * lane;
    const bool there = tile.word * 32 + column < v.nx;
    if (!kSigned && !there) return;
    float* const first = row_of(y) + column;
    const auto write = [&](int count, auto second) {
      constexpr bool is_second = decltype(second)::value;
      float left[8];  // by the first side in a pair of both sides, read before anything is written: the waits are one
      const float* at = first;
      if constexpr (is_second) {
#pragma unroll
        for (int j = 0; j < 8; ++j, at += v.distance.y_stride) {
          left[j] = 0;
          if (has_low(squares[j]) != has_high(squares[j]) && j < count) left[j] = at[int{has_low(squares[j])}];
        }
      }
      float* to = first;
#pragma unroll
      for (int j = 0; j < 8; ++j, to += v.distance.y_stride) {
        const unsigned negative = kSigned ? __shfl_sync(kAllLanes, inside, lane_id() / 16 * 8 + j) >> column : 0;
        if ((kSigned && !there) || j >= count || (is_second && squares[j] == 0)) continue;
        float2 both =
            make_float2(distance_of<0x7610>(squares[j], negative), distance_of<0x7632>(squares[j], negative >> 1));
        if constexpr (is_second) {
          if (!has_low(squares[j])) both.x = left[j];
          if (!has_high(squares[j])) both.y = left[j];
        }
        __stcs(reinterpret_cast<float2*>(to), both);
      }
    };
    const auto write_all = [&](auto second) {
      if (!kSigned && rows >= 8) write(8, second);  // mostly, without a question for each
      else write(rows, second);
    };
    if constexpr (kOneSide)
      if (!v.side.is_first) return write_all(std::true_type{});
    write_all(std::false_type{});
  }
  static __device__ bool has_low(unsigned squares) { return (squares & 0xFFFFu) != 0; }
  static __device__ bool has_high(unsigned squares) { return squares > 0xFFFFu; }

  /// Sixteen rows of any address, those of both halves, each of 32 by all lanes together, so that few sectors of memory
  /// are written in two goes: neighbours take the same square and its own half.
  /// @param inside  as write_rows_of_pairs() has it
  __device__ void write_rows_of_32(int y, const unsigned* squares, unsigned inside) const {
    const unsigned half = lane_id() % 2 ? 0x7632 : 0x7610;
    const bool there = tile.word * 32 + lane_id() < v.nx;
#pragma unroll 1
    for (int k = 0; k < 2; ++k) {
      const int before = 8 * (k - lane_id() / 16), count = there ? v.ny - y - before : 0;
      float* to = row_of(y + before) + lane_id();
#pragma unroll
      for (int j = 0; j < 8; ++j, to += v.distance.y_stride) {
        const unsigned pair = __shfl_sync(kAllLanes, squares[j], 16 * k + lane_id() / 2);
        const float square = __uint_as_float(__byte_perm(pair, 0x4B000000u, half)) - 8388608.0f;
        const unsigned negative = kSigned ? __shfl_sync(kAllLanes, inside, 8 * k + j) >> lane_id() : 0;
        if (j < count && (!kOneSide || v.side.is_first || square > 0)) __stcs(to, distance_of(square, negative));
      }
    }
  }
};

}  // namespace fathom::grid::cuda::volume
