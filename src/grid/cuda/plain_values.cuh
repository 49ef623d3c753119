// Distances and squares without nearest sites and limits, as the engines for images and volumes write them one by one:
// in any type, and of labels with their sign. Anything else goes through the emitter.
#pragma once

#include <cmath>
#include <type_traits>

#include "grid/cuda/plain_sites.cuh"
#include "grid/cuda/roots.cuh"
#include "grid/value.hd.h"

namespace fathom::grid::cuda {

/// As the emitter takes it. @param square  kNoSquare: there is no site
__device__ inline std::int64_t value_of(std::uint32_t square) {
  return square == kNoSquare ? no_value<std::int64_t>() : std::int64_t{square};
}

struct PlainValues {
  bool serves = false;
  std::int32_t begin[3] = {0, 0, 0}, end[3] = {1, 1, 1};  ///< of the region
  Placed<std::byte> distance, squared;                    ///< null: not wanted; strides in bytes
  DType distance_type = DType::float32, squared_type = DType::uint32;
  double unit = 1, half = 0;  ///< see Emitter
  bool scaled = false;        ///< see Emitter

  static PlainValues of(const Problem& p, const Batch& batch) {
    const DistanceOutputs& out = p.outputs;
    PlainValues values;
    values.serves = p.rank <= 3 && !out.nearest.present() && !out.coordinates.present() && std::isinf(p.max_distance);
    for (int k = 0; k < p.rank; ++k) values.serves &= p.border[static_cast<std::size_t>(k)] != Border::sites;
    if (!values.serves) return values;
    for (int k = 0; k < p.rank; ++k) {
      values.begin[3 - p.rank + k] = static_cast<std::int32_t>(p.range(k).begin);
      values.end[3 - p.rank + k] = static_cast<std::int32_t>(p.range(k).end);
    }
    if (out.distance.present()) {
      values.distance = Placed<std::byte>::of(out.distance, p.rank, batch.shape, batch.distance);
      values.distance_type = out.distance.dtype();
    }
    if (out.squared.present()) {
      values.squared = Placed<std::byte>::of(out.squared, p.rank, batch.shape, batch.squared);
      values.squared_type = out.squared.dtype();
    }
    values.unit = p.unit;
    values.half = p.signed_distance && p.surface == Surface::faces ? 0.5 * p.unit : 0.0;
    values.scaled = is_scaled(p);
    return values;
  }

  /// The element (z, y, x), if it is in the region.
  ///
  /// @param item    of the batch
  /// @param square  kNoSquare: there is no site
  /// @param inside  whether the distance is negative
  __device__ void write(std::int64_t item, std::int32_t z, std::int32_t y, std::int32_t x, std::uint32_t square,
                        bool inside) const {
    if (z < begin[0] || z >= end[0] || y < begin[1] || y >= end[1] || x < begin[2] || x >= end[2]) return;
    z -= begin[0];
    y -= begin[1];
    x -= begin[2];
    if (distance.data) write_distance(distance.row(item, z, y), x, square, inside);
    if (squared.data) write_squared(squared.row(item, z, y), x, square);
  }

 private:
  __device__ void write_distance(std::byte* row, std::int32_t x, std::uint32_t square, bool inside) const {
    const bool none = square == kNoSquare;
    if (distance_type == DType::float64) {
      const double magnitude = none ? no_value<double>() : length<double>(square);
      reinterpret_cast<double*>(row)[x] = inside ? -magnitude : magnitude;
    } else {
      const float magnitude = none ? no_value<float>() : length<float>(square);
      reinterpret_cast<float*>(row)[x] = inside ? -magnitude : magnitude;
    }
  }
  /// The same arithmetic as the emitter's, of squares that fit.
  template <class Out>
  __device__ Out length(std::uint32_t square) const {
    if constexpr (std::is_same_v<Out, float>)
      if (scaled && half == 0) return root_of(square) * static_cast<float>(unit);
    return static_cast<Out>(sqrt(static_cast<double>(square)) * unit - half);
  }

  __device__ void write_squared(std::byte* row, std::int32_t x, std::uint32_t square) const {
    const bool none = square == kNoSquare;
    if (squared_type == DType::uint32) reinterpret_cast<std::uint32_t*>(row)[x] = square;
    else if (squared_type == DType::uint64)
      reinterpret_cast<std::uint64_t*>(row)[x] = none ? UINT64_MAX : std::uint64_t{square};
    else reinterpret_cast<double*>(row)[x] = none ? no_value<double>() : static_cast<double>(square) * (unit * unit);
  }
};

}  // namespace fathom::grid::cuda
