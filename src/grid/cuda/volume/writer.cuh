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
    } else if constexpr (kWriting == Writing::unaligned) {
      write_rows_of_32(row_of(y), y, squares);
    } else {
      float* row = row_of(y);
      if (kWriting == Writing::one_side && v.is_aligned) return write_sides(row, y, squares);
      if constexpr (kWriting == Writing::signed_labels) return write_signed_rows(row, y, squares);
      if (kWriting == Writing::labels && !v.is_aligned) return write_rows_of_32(row, y, squares);
      if (kWriting != Writing::one_side && y + 8 <= v.ny) return write_eight_pairs(row, squares);
#pragma unroll
      for (int j = 0; j < 8; ++j, row += v.distance.y_stride) write_pair(row, y + j, squares[j]);
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
      float* to = row_of(y) + x - tile.word * 32;
      if (kWriting == Writing::unaligned && count == 8 && squares[0] < kNone32) return write_eight<kSmall>(to, squares);
      if constexpr (kWriting == Writing::labels)
        if (count == 8 && greatest_of_eight(squares) < kNone32) return write_eight<kSmall>(to, squares);
      if constexpr (kWriting == Writing::signed_labels) return write_signed_column(to, y, x, squares, count);
      if constexpr (kWriting == Writing::one_side)
        if (count == 8 && greatest_of_eight(squares) < Side::kLeastFar) return write_eight_of_side(to, squares);
#pragma unroll
      for (int j = 0; j < 8; ++j, to += v.distance.y_stride) {
        if (j >= count) break;
        if constexpr (kWriting == Writing::one_side) {
          if (squares[j] > 0) *to = squares[j] >= kNone32 ? v.side.none() : v.side.far(squares[j]);
        } else {
          *to = squares[j] >= kNone32 ? v.side.none() : small_root(static_cast<float>(squares[j]));
        }
      }
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
  /// Of eight rows that all have a site.
  template <bool kSmall>
  __device__ void write_eight(float* to, const unsigned* squares) const {
#pragma unroll
    for (int j = 0; j < 8; ++j, to += v.distance.y_stride)
      *to = small_root(kSmall ? small_float_of_sum(squares[j]) : static_cast<float>(squares[j]));
  }
  /// The same of a side, of squares that are below Side::kLeastFar.
  __device__ void write_eight_of_side(float* to, const unsigned* squares) const {
#pragma unroll
    for (int j = 0; j < 8; ++j, to += v.distance.y_stride)
      if (squares[j] > 0) *to = v.side.near(small_float(squares[j]));
  }
  /// small_float() for what is a sum anyway, to which the constant is added at once.
  static __device__ float small_float_of_sum(unsigned sum) { return __uint_as_float(sum + 0x4B000000u) - 8388608.0f; }

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

  /// The roots of two squares.
  static __device__ float2 roots_of(unsigned squares) {
    return make_float2(small_root(low_float(squares)), small_root(high_float(squares)));
  }
  // Below 2²³ integers are the last bits of floats.
  static __device__ float low_float(unsigned squares) {
    return __uint_as_float(__byte_perm(squares, 0x4B000000u, 0x7610)) - 8388608.0f;
  }
  static __device__ float high_float(unsigned squares) {
    return __uint_as_float(__byte_perm(squares, 0x4B000000u, 0x7632)) - 8388608.0f;
  }

  /// Rows that are all there. @param row  row_of(y)
  __device__ void write_eight_pairs(float* row, const unsigned* squares) const {
    const int lane = lane_id() % 16;
    if (tile.word * 32 + 2 * lane >= v.nx) return;
    row += 2 * lane;
#pragma unroll
    for (int j = 0; j < 8; ++j, row += v.distance.y_stride)
      __stcs(reinterpret_cast<float2*>(row), roots_of(squares[j]));
  }

  /// @param row  row_of(y)
  __device__ void write_pair(float* row, int y, unsigned squares) const {
    const int lane = lane_id() % 16, x = tile.word * 32 + 2 * lane;
    const bool there = y < v.ny;
    if constexpr (kWriting == Writing::one_side) {
      if (there) write_side(row + 2 * lane, x, squares);
      return;
    }
    if (there && x < v.nx) __stcs(reinterpret_cast<float2*>(row) + lane, roots_of(squares));
  }

  /// Sixteen rows of any address, those of both halves, each of 32 by all lanes together, so that few sectors of memory
  /// are written in two goes: neighbours take the same square and its own half.
  /// @param row   row_of(y)
  /// @param tell  by all lanes, what there is to know of one of the sixteen rows: tell(row)
  /// @param root  a square's distance: root(square, what was told)
  template <class Tell, class Root>
  __device__ void write_rows_of_32(float* row, int y, const unsigned* squares, Tell&& tell, Root&& root) const {
    constexpr unsigned kSmallFloat = 0x4B000000u;  // 2²³: integers below are its last bits
    const unsigned half = lane_id() % 2 ? 0x7632 : 0x7610;
    const bool there = tile.word * 32 + lane_id() < v.nx;
#pragma unroll 1
    for (int k = 0; k < 2; ++k) {
      const int before = 8 * (k - lane_id() / 16), count = there ? v.ny - y - before : 0;
      float* to = row + before * v.distance.y_stride + lane_id();
#pragma unroll
      for (int j = 0; j < 8; ++j, to += v.distance.y_stride) {
        const unsigned pair = __shfl_sync(kAllLanes, squares[j], 16 * k + lane_id() / 2);
        const float square = __uint_as_float(__byte_perm(pair, kSmallFloat, half)) - 8388608.0f;
        const auto told = tell(8 * k + j);
        if (j < count) __stcs(to, root(square, told));
      }
    }
  }
  __device__ void write_rows_of_32(float* row, int y, const unsigned* squares) const {
    write_rows_of_32(
        row, y, squares, [](int) { return 0; }, [](float square, int) { return small_root(square); });
  }

  /// Of signed labels, as write_pairs(). Each lane reads the word that tells the signs in one of both halves' rows.
  /// @param row  row_of(y)
  __device__ void write_signed_rows(float* row, int y, const unsigned* squares) const {
    const int lane = lane_id() % 16, half = lane_id() / 16, own = y - 8 * half + lane;
    const unsigned own_inside = own < v.ny ? inside_of_row(own) : 0;
    const auto inside_of = [&](int r) { return __shfl_sync(kAllLanes, own_inside, r); };
    if (!v.is_aligned)
      return write_rows_of_32(row, y, squares, inside_of, [&](float square, unsigned inside) {
        return with_sign(v.side.near(square), inside >> lane_id());
      });
    const bool there = tile.word * 32 + 2 * lane < v.nx;
    row += 2 * lane;
#pragma unroll
    for (int j = 0; j < 8; ++j, row += v.distance.y_stride) {
      const unsigned inside = inside_of(8 * half + j) >> (2 * lane);
      const float2 both = distances_of(squares[j]);
      if (there && y + j < v.ny)
        __stcs(reinterpret_cast<float2*>(row), make_float2(with_sign(both.x, inside), with_sign(both.y, inside >> 1)));
    }
  }
  /// Of signed labels, as write_column().
  __device__ void write_signed_column(float* to, int y, int x, const unsigned* squares, int count) const {
    const bool are_near = count == 8 && greatest_of_eight(squares) < Side::kLeastFar;
#pragma unroll
    for (int j = 0; j < 8; ++j, to += v.distance.y_stride) {
      if (j >= count) break;
      const float distance = are_near                ? v.side.near(small_float(squares[j]))
                             : squares[j] >= kNone32 ? v.side.none()
                                                     : v.side.far(squares[j]);
      *to = with_sign(distance, unsigned{is_inside(y + j, x)});
    }
  }
  /// @param negative  in its lowest bit
  static __device__ float with_sign(float distance, unsigned negative) {
    return __uint_as_float(__float_as_uint(distance) ^ negative << 31);
  }

  /// Of a pair.
  __device__ void write_side(float* to, int x, unsigned squares) const {
    const float2 both = distances_of(squares);
    if ((v.side.is_first || has_low(squares)) && x < v.nx) to[0] = both.x;
    if ((v.side.is_first || has_high(squares)) && x + 1 < v.nx) to[1] = both.y;
  }
  __device__ float2 distances_of(unsigned squares) const {
    return make_float2(v.side.near(low_float(squares)), v.side.near(high_float(squares)));
  }
  static __device__ bool has_low(unsigned squares) { return (squares & 0xFFFFu) != 0; }
  static __device__ bool has_high(unsigned squares) { return squares > 0xFFFFu; }

  /// Of eight rows of aligned pairs.
  __device__ void write_sides(float* row, int y, const unsigned* squares) const {
    const int lane = lane_id() % 16, rows = v.ny - y;
    if (tile.word * 32 + 2 * lane >= v.nx) return;
    row += 2 * lane;
    const auto write = [&](int count) {
      if (v.side.is_first) write_first_side(row, squares, count);
      else write_second_side(row, squares, count);
    };
    if (rows >= 8) write(8);
    else write(rows);
  }
  __device__ void write_first_side(float* row, const unsigned* squares, int count) const {
#pragma unroll
    for (int j = 0; j < 8; ++j, row += v.distance.y_stride)
      if (j < count) __stcs(reinterpret_cast<float2*>(row), distances_of(squares[j]));
  }
  /// What the first side has left in a pair is read before anything is written, so that the waits are one.
  __device__ void write_second_side(float* row, const unsigned* squares, int count) const {
    float left[8];
    const float* at = row;
#pragma unroll
    for (int j = 0; j < 8; ++j, at += v.distance.y_stride) {
      left[j] = 0;
      if (has_low(squares[j]) != has_high(squares[j]) && j < count) left[j] = at[int{has_low(squares[j])}];
    }
#pragma unroll
    for (int j = 0; j < 8; ++j, row += v.distance.y_stride) {
      if (squares[j] == 0 || j >= count) continue;
      float2 both = distances_of(squares[j]);
      if (!has_low(squares[j])) both.x = left[j];
      if (!has_high(squares[j])) both.y = left[j];
      __stcs(reinterpret_cast<float2*>(row), both);
    }
  }
};

}  // namespace fathom::grid::cuda::volume
