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
#pragma once

#include <type_traits>

#include "grid/cuda/plane/plane.cuh"

namespace fathom::grid::cuda::plane {

inline constexpr float kMore = 1 + 0x1.4p-21f;
inline constexpr double kMostRatio = 0x1p16;  ///< of squared spacings

/// Squares as floats that are not negative, and as their bits, which ascend with them.
struct Floats {
  static constexpr unsigned kNothing = 0x7F800000u;

  static __device__ unsigned square(const Plane& plane, int rows, int columns) {
    return __float_as_uint(plane.along_roughly(rows) + Plane::across_roughly(columns));
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
  const double square = plane.square_exactly(rows, columns);
  if constexpr (std::is_same_v<M, float>) return static_cast<float>(sqrt(square));
  else return square;
}

/// Writes one result in whatever form is asked for. V: the emitter's, integers where there is a unit. Not inlined: it
/// is large.
template <class V>
__device__ __noinline__ void write_exact(const Plane& plane, const Emitter<V>& emitter, std::int64_t band, int r, int x,
                                         double square) {
  const std::int64_t at[kMaxSpaceRank] = {plane.first_row(band) + r, x};
  const V value = square < __builtin_inf() ? static_cast<V>(square) : no_value<V>();
  if (emitter.in_region(at)) emitter.emit(plane.item_of(band), at, value, -1);
}

}  // namespace fathom::grid::cuda::plane
