// How the pass along y writes results of masks and labels: float distances, or whatever else is asked for.
//
// Work mapping: half warp = eight rows, lane = two neighbours of each, as searches find them, of which rows that are
// not aligned are written by whole warps; or lane = eight rows of a column, as envelopes do. Cost: a root for each
// element, a store for each or for two.
#pragma once

#include "grid/cuda/extremes.cuh"
#include "grid/cuda/volume/volume.cuh"

namespace fathom::grid::cuda::volume {

/// Results of a tile along y.
template <Writing kWriting>
struct VolumeWriter {
  const Volume& v;
  const Emitter<std::int64_t>& emitter;
  const Volume::Tile& tile;  ///< line = z
  /// First element of the tile's first row, where results are floats.
  float* const rows =
      is_general(kWriting) ? nullptr : v.distance.row(v.first_item + tile.item, tile.line, 0) + tile.word * 32;

  /// Eight rows from y on. The other half of the warp takes part, too, with the eight before or behind.
  /// @param squares  of columns 2·lane and 2·lane + 1 of the tile, lane < 16
  __device__ void write_pairs(int y, const unsigned* squares) const {
    if constexpr (is_general(kWriting)) {
      write_rows(y, squares);
    } else {
      // Of both halves' rows, that whose signs the lane reads.
      const int own = y - 8 * (lane_id() / 16) + lane_id() % 16;
      const unsigned inside = kSigned && own < v.ny ? inside_of_row(own) : 0;
      if (kWriting == Writing::unaligned || (kWriting != Writing::aligned && !v.is_aligned))
        write_rows_of_32(y, squares, inside);
      else write_rows_of_pairs(y, squares, inside);
    }
  }

  /// Up to eight results along y.
  __device__ void write_column(int y, int x, const unsigned* squares, int count) const {
    if (x >= v.nx) return;
    if constexpr (is_general(kWriting)) {
      auto results = results_of(y, x, count);
#pragma unroll
      for (int j = 0; j < 8; ++j) results.squares[j][0] = squares[j] >= kNone32 ? kNoSquare : squares[j];
      write_results(emitter, results);
    } else {
      const auto write = [&](int there, auto are_near) {
        float* to = row_of(y) + x - tile.word * 32;
#pragma unroll
        for (int j = 0; j < 8; ++j, to += v.distance.y_stride) {
          if (j >= there) break;
          if (kOneSide && squares[j] == 0) continue;
          const unsigned negative = kSigned && is_inside(y + j, x);
          if constexpr (decltype(are_near)::value) *to = near_distance(squares[j] + kFloatBits, negative);
          else if (squares[j] >= kNone32) *to = with_sign(v.side.none(), negative);
          else
            *to = with_sign(kHasSide ? v.side.far(squares[j]) : small_root(static_cast<float>(squares[j])), negative);
        }
      };
      // Of masks a column has a site in all rows, or in none, and none of eight is 2896 away if the first is not 2889.
      constexpr unsigned kFar = kHasSide ? Side::kLeastFar : kIsOfOneMask ? 2889 * 2889 : 1u << 23;
      if (count == 8 && (kIsOfOneMask ? squares[0] : greatest_of_eight(squares)) < kFar) write(8, std::true_type{});
      else write(count, std::false_type{});
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
  static constexpr unsigned kFloatBits = 0x4B000000u;  ///< of 2²³, whose last bits are integers below

  /// Start of the tile's row y, where results are floats.
  __device__ float* row_of(int y) const { return rows + y * v.distance.y_stride; }

  /// @param negative  of signed labels, in its lowest bit
  static __device__ float with_sign(float distance, unsigned negative) {
    return kSigned ? __uint_as_float(__float_as_uint(distance) ^ negative << 31) : distance;
  }
  /// @param bits  kFloatBits with a square below 2²³
  __device__ float near_distance(unsigned bits, unsigned negative) const {
    const float square = __uint_as_float(bits) - 8388608.0f;
    return with_sign(kHasSide ? v.side.near(square) : small_root(square), negative);
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
  /// Of signed labels, which elements of a row of the tile are not of label 0. Masks are written so without a sign.
  __device__ unsigned inside_of_row(int y) const {
    return ~__ldg(&v.changes_along_z({tile.item, tile.word, y})[tile.line].y);
  }
  __device__ bool is_inside(int y, int x) const { return inside_of_row(y) >> (x - tile.word * 32) & 1; }

  /// Rows of aligned pairs. @param inside  of one of both halves' rows, as inside_of_row() has it
  __device__ void write_rows_of_pairs(int y, const unsigned* squares, unsigned inside) const {
    const int rows = v.ny - y, column = lane_id() % 16 * 2;
    const bool there = tile.word * 32 + column < v.nx;
    if (!kSigned && !there) return;
    float* const first = row_of(y) + column;
    const auto write = [&](int count, auto second) {
      constexpr bool is_second = decltype(second)::value;
      float left[8];  // by the first side in a pair of both sides, read before anything is written: the waits are one
      const float* at = first;
#pragma unroll
      for (int j = 0; is_second && j < 8; ++j, at += v.distance.y_stride) {
        left[j] = 0;
        if (has_low(squares[j]) != has_high(squares[j]) && j < count) left[j] = at[int{has_low(squares[j])}];
      }
      float* to = first;
#pragma unroll
      for (int j = 0; j < 8; ++j, to += v.distance.y_stride) {
        const unsigned negative = kSigned ? __shfl_sync(kAllLanes, inside, lane_id() / 16 * 8 + j) >> column : 0;
        if ((kSigned && !there) || j >= count || (is_second && squares[j] == 0)) continue;
        float2 both = make_float2(near_distance(__byte_perm(squares[j], kFloatBits, 0x7610), negative),
                                  near_distance(__byte_perm(squares[j], kFloatBits, 0x7632), negative >> 1));
        if (is_second && !has_low(squares[j])) both.x = left[j];
        if (is_second && !has_high(squares[j])) both.y = left[j];
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
  /// are written in two goes: neighbours take the same square and its own half. @param inside  as of pairs
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
        const unsigned bits = __byte_perm(pair, kFloatBits, half);
        const unsigned negative = kSigned ? __shfl_sync(kAllLanes, inside, 8 * k + j) >> lane_id() : 0;
        if (j < count && (!kOneSide || v.side.is_first || bits > kFloatBits)) __stcs(to, near_distance(bits, negative));
      }
    }
  }
};

}  // namespace fathom::grid::cuda::volume
