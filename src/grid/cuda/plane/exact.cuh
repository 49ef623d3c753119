// Images with spacings that have no small unit: which of the sites that rough squares take for the nearest is, in
// double.
//
// Squares of rows and of columns are rounded once, and their sum once, as the general engine and the CPU do it. In a
// unit they are integers, and exact. Roots ascend with squares, rounded as they are: the least root of several sites is
// that of the nearest.
//
// Which candidates a tile needs is asked of floats, in columns, squared: three roundings for each sum of two squares,
// and the ratio's one for all, of 2⁻²⁴ each. So the nearest site is among those whose float is at most kMore times the
// least. Inside a tile, doubles are searched, and of their upper halves the nearest one's is at most one more than the
// least.
//
// What is left out because a line or a column lies between is farther by more than double rounds: ratios are bounded,
// and a step towards one of two columns changes their difference by two columns squared, at least.
//
// Near sites are searched in keys: squares in fixed point, of rows rounded once, of columns exact, and behind them the
// steps sideways. The rows follow from what the columns leave of the square, and the distance stands in a table. Where
// two sites' squares are at most one place apart, yet not their distances, the table says so, and there alone
// candidates are looked at again: with most spacings nowhere.
//
// Work mapping: see tabulate(), and plane/near.cuh for the search. Cost: a table of 65 × 32 distances, and one look-up
// for each near element.
#pragma once

#include <type_traits>

#include "grid/cuda/plane/plane.cuh"

namespace fathom::grid::cuda::plane {

inline constexpr float kMore = 1 + 0x1.4p-21f;
inline constexpr double kMostRatio = 0x1p16;  ///< of squared spacings

/// Squares in columns, roughly: floats that are not negative, and their bits, which ascend with them.
struct Floats {
  static constexpr unsigned kNothing = 0x7F800000u;

  static __device__ unsigned square(const Plane& plane, int rows, int columns) {
    const auto along = static_cast<float>(rows), across = static_cast<float>(columns);
    return __float_as_uint(plane.spacing.row_ratio * (along * along) + across * across);
  }
  /// The most that a value may be where `value` is the least.
  static __device__ unsigned most(unsigned value) { return __float_as_uint(__uint_as_float(value) * kMore); }
};

/// The upper halves of doubles, likewise.
struct UpperHalves {
  static constexpr unsigned kNothing = 0x7FF00000u;

  static __device__ unsigned rounded(double value) { return static_cast<unsigned>(__double2hiint(value)); }
  static __device__ unsigned most(unsigned value) { return value + 1; }
};

/// What is found out about a site: how far it is, in spacings' units, or where results are no floats the square of
/// that.
template <Writing kWriting>
using Measured = std::conditional_t<is_general(kWriting), double, float>;

template <class M>
__device__ M measure(const Plane& plane, int rows, int columns) {
  const double square = plane.along_exactly(rows) + plane.across_exactly(columns);
  if constexpr (std::is_same_v<M, float>) return static_cast<float>(sqrt(square));
  else return square;
}

/// As the emitter takes it, integers where there is a unit.
template <class V>
__device__ V exact_value(double square) {
  return square < __builtin_inf() ? static_cast<V>(square) : no_value<V>();
}

/// Roughly how far a near site is: its square in columns, with kPlaces binary places, and behind it the steps sideways.
/// Keys of steps along a column and of steps sideways add up.
struct AnyKey {
  static constexpr int kPlaces = 16, kColumnBits = 5;
  static constexpr unsigned kMost = (1u << (10 + kPlaces)) - 2;  ///< of a square of rows: with 32 columns, keys fit

  unsigned square;
  int columns;

  __device__ explicit AnyKey(unsigned key)
      : square(key >> kColumnBits), columns(static_cast<int>(key & ((1u << kColumnBits) - 1))) {}

  static constexpr __device__ unsigned square_of_columns(int steps) {
    return static_cast<unsigned>(steps * steps) << kPlaces;
  }
  static constexpr __device__ unsigned of_columns(int steps) {
    return (square_of_columns(steps) << kColumnBits) + static_cast<unsigned>(steps);
  }
  static __device__ unsigned square_of_rows(const Plane& plane, int rows) {
    const double square = plane.along_exactly(rows) / plane.spacing.exact_column_weight * (1u << kPlaces);
    return square < kMost ? __double2uint_rn(square) : kMost;
  }
};

/// Near sites: as many rows and columns away.
inline constexpr int kNearRows = 65, kNearColumns = 32;

/// The rows to a near site, from its key: what the columns leave of the square.
/// @param columns  AnyKey(key).columns
__device__ inline int rows_of(const Plane& plane, unsigned key, int columns) {
  const unsigned square = (key >> AnyKey::kColumnBits) - AnyKey::square_of_columns(columns);
  const float one = plane.spacing.inverse_ratio / (1u << AnyKey::kPlaces);  // in squares of rows
  float rows;
  asm("sqrt.approx.ftz.f32 %0,%1;" : "=f"(rows) : "f"(static_cast<float>(square) * one));
  return static_cast<int>(rows + 0.5f);
}

/// Fills near_keys and near_roots of the spacing: a root in double takes as long as all the rest. Where keys do not tell
/// a site from another whose measure is not the same, the root's sign is set.
///
/// M: see Measured. Block = rows to the site, warp = columns, lane = columns to another. Phase 1, thread = row: all
/// squares of rows.
template <class M>
__global__ void __launch_bounds__(kNearColumns * 32) tabulate(const __grid_constant__ Plane plane) {
  __shared__ unsigned squares[kNearRows];
  const auto rows = static_cast<int>(blockIdx.x), t = static_cast<int>(threadIdx.x), columns = t / 32;
  if (t < kNearRows) squares[t] = AnyKey::square_of_rows(plane, t);
  __syncthreads();
  const unsigned of_rows = squares[rows];
  const int own = static_cast<int>(of_rows + AnyKey::square_of_columns(columns));
  const int others = own - static_cast<int>(AnyKey::square_of_columns(lane_id()));  // what is left for its rows
  const int nearest = rows_of(plane, static_cast<unsigned>(max(others, 0)) << AnyKey::kColumnBits, 0);
  bool in_doubt = false;
  for (int other = max(nearest - 1, 0); other <= min(nearest + 1, kNearRows - 1); ++other)
    if (abs(static_cast<int>(squares[other]) - others) <= 1)
      in_doubt |= measure<M>(plane, other, lane_id()) != measure<M>(plane, rows, columns);
  in_doubt = __any_sync(kAllLanes, in_doubt);
  if (lane_id() != 0) return;
  const auto root = measure<float>(plane, rows, columns);
  plane.spacing.near_roots[rows * kNearColumns + columns] = in_doubt ? -root : root;
  if (columns == 0) plane.spacing.near_keys[rows] = of_rows << AnyKey::kColumnBits;
}

/// From the keys that a search for near sites found for four neighbours of a row to what is nearest; any number where it
/// is not settled. What the table tells is asked for at once, before any is looked at.
/// @param row  of keys, at the first neighbour
template <class M>
__device__ void measure_four(const Plane& plane, const unsigned* row, const unsigned (&best)[4], M (&measured)[4]) {
  float roots[4];
  int signs = 0;
#pragma unroll
  for (int q = 0; q < 4; ++q) {
    const AnyKey key(best[q]);
    const int rows = rows_of(plane, best[q], key.columns);
    roots[q] = __ldg(plane.spacing.near_roots + (rows * kNearColumns + key.columns));
    signs |= __float_as_int(roots[q]);
    if constexpr (std::is_same_v<M, float>) measured[q] = roots[q];
    else measured[q] = measure<M>(plane, rows, key.columns);
  }
  if (signs >= 0) return;
  // Of all sites whose rough squares are no more than `most`.
  const auto least = [&](const unsigned* own, unsigned most) {
    M nearest = __builtin_inff();
    for (int steps = 0; steps < kNearColumns && AnyKey::square_of_columns(steps) <= most; ++steps)
      for (int side = -1; side <= 1; side += 2) {
        const unsigned key = own[side * steps];  // of rows alone
        if (AnyKey(key).square + AnyKey::square_of_columns(steps) > most) continue;
        nearest = min(nearest, measure<M>(plane, rows_of(plane, key, 0), steps));
      }
    return nearest;
  };
#pragma unroll
  for (int q = 0; q < 4; ++q)
    if (__float_as_int(roots[q]) < 0) measured[q] = least(row + q, AnyKey(best[q]).square + 1);
}

}  // namespace fathom::grid::cuda::plane
