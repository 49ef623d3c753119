// Near sites of images with spacings that have no small unit.
//
// The kernel for near sites searches in keys: squares in fixed point, of rows rounded once, of columns exact, and
// behind them the steps sideways. The rows follow from what the columns leave of the square, and the distance stands in
// a table. Where two sites' squares are at most one place apart, yet not their distances, the table says so, and there
// alone candidates are looked at again: with most spacings nowhere.
//
// Work mapping: see tabulate(), and plane/near.cuh for the search. Cost: a table of 65 × 32 distances, and one look-up
// for each near element.
#pragma once

#include <type_traits>

#include "grid/cuda/plane/exact.cuh"

namespace fathom::grid::cuda::plane {

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

/// The rows to a near site, from its key: what the columns leave of the square. Of its bits the first ones tell, as the
/// last bits of a float, which is faster than a conversion.
class RowsOfKeys {
 public:
  __device__ explicit RowsOfKeys(const Plane& plane)
      : dropped_(AnyKey::kColumnBits + (plane.spacing.inverse_ratio > kFine ? 0 : kDropped)),
        one_(plane.spacing.inverse_ratio * (plane.spacing.inverse_ratio > kFine ? 1.0f : 1 << kDropped) /
             (1u << AnyKey::kPlaces)) {}

  /// @param columns  AnyKey(key).columns
  __device__ int operator()(unsigned key, int columns) const {
    constexpr float kMagic = 8388608.0f;  // 2²³: integers below are its last bits
    const unsigned of_rows = key - (AnyKey::square_of_columns(columns) << AnyKey::kColumnBits);
    const float shifted = __uint_as_float(of_rows >> dropped_ | 0x4B000000u);
    float rows;
    asm("sqrt.approx.ftz.f32 %0,%1;" : "=f"(rows) : "f"(fmaf(shifted, one_, -kMagic * one_)));
    return __float_as_int(rows + kMagic) - 0x4B000000;
  }

 private:
  /// Last bits, where rows are not much closer than columns: up to this ratio one row's square is 2¹⁰ at least, …
  static constexpr int kDropped = 3;
  static constexpr float kFine = 64;
  static_assert(AnyKey::kMost >> kDropped < 1u << 23);
  // … and beyond all bits of a near site's rows fit.
  static_assert(kNearRows * kNearRows << AnyKey::kPlaces >> 6 < 1 << 23);

  const int dropped_;
  const float one_;  ///< 1 of what is left, in squares of rows
};

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
  const int nearest = RowsOfKeys(plane)(static_cast<unsigned>(max(others, 0)) << AnyKey::kColumnBits, 0);
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

/// Neighbours of a row of the band, from the keys that a search for near sites found to what is nearest.
template <class M>
class NearExact {
 public:
  /// @param row   of keys, at the first neighbour
  __device__ NearExact(const Plane& plane, const uint4* row)
      : plane_(plane), rows_of_(plane), row_(reinterpret_cast<const unsigned*>(row)) {}

  /// Of four; any number where it is not settled. What the table tells is asked for at once, before any is looked at.
  __device__ void measure_four(const unsigned (&best)[4], M (&measured)[4]) const {
    float roots[4];
    int signs = 0;
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const AnyKey key(best[q]);
      const int rows = rows_of_(best[q], key.columns);
      roots[q] = __ldg(plane_.spacing.near_roots + (rows * kNearColumns + key.columns));
      signs |= __float_as_int(roots[q]);
      if constexpr (std::is_same_v<M, float>) measured[q] = roots[q];
      else measured[q] = measure<M>(plane_, rows, key.columns);
    }
    if (signs >= 0) return;
#pragma unroll
    for (int q = 0; q < 4; ++q)
      if (__float_as_int(roots[q]) < 0) measured[q] = least(row_ + q, AnyKey(best[q]).square + 1);
  }

 private:
  /// Of all sites whose rough squares are no more than `most`.
  __device__ M least(const unsigned* own, unsigned most) const {
    M nearest = __builtin_inff();
    for (int steps = 0; steps < kNearColumns && AnyKey::square_of_columns(steps) <= most; ++steps)
      for (int side = -1; side <= 1; side += 2) {
        const unsigned key = own[side * steps];  // of rows alone
        if (AnyKey(key).square + AnyKey::square_of_columns(steps) > most) continue;
        nearest = min(nearest, measure<M>(plane_, rows_of_(key, 0), steps));
      }
    return nearest;
  }

  const Plane& plane_;
  const RowsOfKeys rows_of_;
  const unsigned* row_;
};

}  // namespace fathom::grid::cuda::plane
