// Distances and squares without nearest sites and limits, as the engines for images and volumes write them: in any
// type, and of labels with their sign. Anything else goes through the emitter.
//
// A lane writes several results at once, so that what depends on the type and the place is decided once for all. Lanes
// side by side write neighbours, whose width fills sectors of memory then.
#pragma once

#include <cmath>

#include "grid/cuda/output/limits.cuh"
#include "grid/cuda/output/roots.cuh"
#include "grid/cuda/output/site_results.cuh"
#include "grid/value.hd.h"

namespace fathom::grid::cuda {

/// As the emitter takes it. @param square  kNoSquare: there is no site
__device__ inline std::int64_t value_of(std::uint32_t square) {
  return square == kNoSquare ? no_value<std::int64_t>() : std::int64_t{square};
}

/// What a lane has found: `kRows` rows of the columns x, x + 32, …, of squared distances.
template <int kRows, int kColumns>
struct LaneResults {
  std::int64_t item;  ///< of those worked on together
  std::int32_t z, y, x;
  int rows;                                ///< how many are there; any number below 1: none
  std::uint32_t squares[kRows][kColumns];  ///< kNoSquare: there is no site
  unsigned inside = 0;                     ///< bit kColumns · row + column: the distance is negative

  __device__ bool is_inside(int row, int column) const { return inside >> (kColumns * row + column) & 1; }
};

struct ValueResults {
  bool serves = false;
  /// One output, of four bytes an element, in the unit, and rows aligned to 16: see write_four().
  bool in_fours = false;
  std::int32_t begin[3] = {0, 0, 0}, end[3] = {1, 1, 1};  ///< of the region
  Placed<std::byte> distance, squared;                    ///< null: not wanted; strides in bytes
  DType distance_type = DType::float32, squared_type = DType::uint32;
  // Also where it does not serve.
  double unit = 1, half = 0;  ///< from an element's centre to its faces, for signed fields that are zero there
  bool scaled = false;        ///< see is_scaled()

  static ValueResults of(const Problem& p, const Batch& batch) {
    const DistanceOutputs& out = p.outputs;
    ValueResults values;
    values.unit = p.unit;
    values.half = p.signed_distance && p.surface == Surface::faces ? 0.5 * p.unit : 0.0;
    values.scaled = is_scaled(p);
    values.serves = p.rank <= 3 && !wants_site(p) && std::isinf(p.max_distance) && !has_border(p, Border::sites);
    if (!values.serves) return values;
    for (int k = 0; k < p.rank; ++k) {
      values.begin[3 - p.rank + k] = static_cast<std::int32_t>(p.range(k).begin);
      values.end[3 - p.rank + k] = static_cast<std::int32_t>(p.range(k).end);
    }
    values.distance = Placed<std::byte>::of(out.distance, p.rank, batch.shape, batch.distance);
    values.distance_type = out.distance.dtype();
    values.squared = Placed<std::byte>::of(out.squared, p.rank, batch.shape, batch.squared);
    values.squared_type = out.squared.dtype();
    values.in_fours = values.may_write_fours();
    return values;
  }

  /// Whether a tile is in the region.
  __device__ bool holds(std::int32_t z, std::int32_t y, std::int32_t rows, std::int32_t x, std::int32_t columns) const {
    return z >= begin[0] && z < end[0] && y >= begin[1] && y + rows <= end[1] && x >= begin[2] && x + columns <= end[2];
  }
  /// The element (z, y, 0) of the only output, where it is in the region. @param item  of the batch
  __device__ std::byte* row(std::int64_t item, std::int32_t z, std::int32_t y) const {
    const std::int64_t before = std::int64_t{4} * begin[2];
    return (squared.data ? squared : distance).row(item, z - begin[0], y - begin[1]) - before;
  }
  __device__ std::int64_t row_bytes() const { return (squared.data ? squared : distance).y_stride; }
  /// Four neighbours, whose squares are less than 2²¹; of distances to faces, not 0.
  /// @param inside  bits: distances that are negative
  __device__ void write_four(std::byte* to, const unsigned (&squares)[4], unsigned inside) const {
    if (squared.data) {
      __stcs(reinterpret_cast<uint4*>(to), make_uint4(squares[0], squares[1], squares[2], squares[3]));
      return;
    }
    const float less = half == 0 ? 0.0f : 0.5f;
    float lengths[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const float length = small_root(small_float(squares[q]), less);
      lengths[q] = inside >> q & 1 ? -length : length;
    }
    __stcs(reinterpret_cast<float4*>(to), make_float4(lengths[0], lengths[1], lengths[2], lengths[3]));
  }

  /// Those of a lane that are in the region. @param item  of the batch
  template <int kRows, int kColumns>
  __device__ void write(std::int64_t item, const LaneResults<kRows, kColumns>& results) const {
    if (results.z < begin[0] || results.z >= end[0]) return;
    if (distance.data) write_distances(item, results);
    if (squared.data) write_squares(item, results);
  }

 private:
  bool may_write_fours() const {
    if ((distance.data != nullptr) == (squared.data != nullptr) || begin[2] % 4 != 0) return false;
    if (squared.data) return squared_type == DType::uint32 && squared.is_aligned_to(sizeof(uint4));
    return distance_type == DType::float32 && unit == 1 && distance.is_aligned_to(sizeof(float4));
  }

  /// @param value_of  the result in the output's type, of a row and a column
  template <int kRows, int kColumns, class ValueOf>
  __device__ void put(const Placed<std::byte>& to, std::int64_t item, const LaneResults<kRows, kColumns>& results,
                      ValueOf&& value_of) const {
    using Value = decltype(value_of(0, 0));
    const std::int32_t first = max(begin[1] - results.y, 0), last = min(end[1] - results.y, results.rows);
    std::byte* row = to.row(item, results.z - begin[0], results.y - begin[1]);
#pragma unroll
    for (int r = 0; r < kRows; ++r, row += to.y_stride) {
      if (r < first || r >= last) continue;
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        const std::int32_t x = results.x + 32 * c;
        if (x >= begin[2] && x < end[2]) reinterpret_cast<Value*>(row)[x - begin[2]] = value_of(r, c);
      }
    }
  }

  template <int kRows, int kColumns>
  __device__ void write_distances(std::int64_t item, const LaneResults<kRows, kColumns>& results) const {
    const auto put_lengths = [&](auto length_of) {
      put(distance, item, results, [&](int r, int c) {
        const std::uint32_t square = results.squares[r][c];
        using Value = decltype(length_of(square));
        const Value magnitude = square == kNoSquare ? no_value<Value>() : length_of(square);
        return results.is_inside(r, c) ? -magnitude : magnitude;
      });
    };
    // The same arithmetic as the emitter's, of squares that fit.
    const auto in_double = [this](std::uint32_t square) { return sqrt(static_cast<double>(square)) * unit - half; };
    const auto scale = static_cast<float>(unit);
    if (distance_type == DType::float64) put_lengths(in_double);
    else if (scaled && half == 0) put_lengths([scale](std::uint32_t square) { return root_of(square) * scale; });
    else if (unit == 1) put_lengths([](std::uint32_t square) { return root_to_face(square); });
    else put_lengths([&](std::uint32_t square) { return static_cast<float>(in_double(square)); });
  }

  template <int kRows, int kColumns>
  __device__ void write_squares(std::int64_t item, const LaneResults<kRows, kColumns>& results) const {
    const auto put_squares = [&](auto from) {
      put(squared, item, results, [&](int r, int c) { return from(results.squares[r][c]); });
    };
    if (squared_type == DType::uint32) return put_squares([](std::uint32_t square) { return square; });
    if (squared_type == DType::uint64)
      return put_squares([](std::uint32_t square) { return square == kNoSquare ? UINT64_MAX : std::uint64_t{square}; });
    put_squares([area = unit * unit](std::uint32_t square) {
      return square == kNoSquare ? no_value<double>() : static_cast<double>(square) * area;
    });
  }
};

}  // namespace fathom::grid::cuda
