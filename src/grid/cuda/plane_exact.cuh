// Images with spacings that have no small unit: which of the sites that floats take for the nearest is, in double.
//
// Squares of rows and of columns are rounded once, and their sum once, as the general engine and the CPU do it. In a
// unit they are integers, and exact. The kernels for near and far sites search in floats, in columns, squared: of a sum
// of two squares, one of them times a ratio, no more than 2⁻²² is lost to roundings. So the nearest site is among those
// whose float is at most 2⁻²⁰ more than the least, one or two of them but for ties; a second look at the same candidates
// finds these, and only they are measured in double. Roots ascend with squares, rounded as they are: the least root of
// several sites is that of the nearest.
//
// What is left out because a line or a column lies between is farther by more than double rounds: ratios are bounded, and
// a step towards one of two columns changes their difference by two columns squared, at least.
#pragma once

#include <type_traits>

#include "grid/cuda/plane.cuh"

namespace fathom::grid::cuda {

inline constexpr float kMore = 1 + 0x1p-20f, kLess = 1 - 0x1p-20f;
inline constexpr double kMostRatio = 0x1p16;  ///< of squared spacings

// Floats that are not negative, and their bits, which ascend with them.
__device__ inline unsigned bits_of(float value) { return __float_as_uint(value); }
__device__ inline float float_of(unsigned bits) { return __uint_as_float(bits); }

/// The rows that a rough square came from: one of 46,000 is told from the next by 17 bits. They are the last bits of a
/// float, which is faster than a conversion.
__device__ inline int rows_of(const Plane& plane, float square) {
  const float squared = square * plane.inverse_ratio;
  float inverse;
  asm("rsqrt.approx.f32 %0,%1;" : "=f"(inverse) : "f"(squared + 1e-30f));
  return __float_as_int(fmaf(squared, inverse, 8388608.0f)) - 0x4B000000;
}

/// What is found out about a site: how far it is, in spacings' units, or where results are no floats the square of that.
template <Writing kWriting>
using Measured = std::conditional_t<is_general(kWriting), double, float>;

template <class M>
__device__ M measure(const Plane& plane, int rows, int columns) {
  const double square = plane.along_exactly(rows) + plane.across_exactly(columns);
  if constexpr (std::is_same_v<M, float>) return static_cast<float>(sqrt(square));
  else return square;
}

/// How far near sites are: a root in double takes as long as all the rest. [kNearRows][kNearColumns]
inline constexpr int kNearRows = 65, kNearColumns = 32;

static __global__ void __launch_bounds__(kNearColumns) tabulate(const __grid_constant__ Plane plane) {
  const auto rows = static_cast<int>(blockIdx.x), columns = static_cast<int>(threadIdx.x);
  plane.near_roots[rows * kNearColumns + columns] = measure<float>(plane, rows, columns);
}

template <class M>
__device__ M measure_near(const Plane& plane, int rows, int columns) {
  if constexpr (std::is_same_v<M, float>) return __ldg(plane.near_roots + rows * kNearColumns + columns);
  else return measure<M>(plane, rows, columns);
}

/// Four neighbours of a row of the band, from what a search for near sites found to what is nearest.
template <class M>
class NearExact {
 public:
  /// @param row   of rough squares, at the first of the four
  /// @param best  least rough squares, bits of floats; what is `unsettled` or more is not looked for
  __device__ NearExact(const Plane& plane, const uint4* row, const unsigned* best, unsigned unsettled)
      : plane_(plane), row_(row) {
#pragma unroll
    for (int q = 0; q < 4; ++q) limit_[q] = best[q] < unsettled ? float_of(best[q]) * kMore : -1.0f;
  }

  /// By all lanes of a warp. What is not settled is infinite.
  __device__ void find(M (&measured)[4]) {
    const float most = fmaxf(fmaxf(limit_[0], limit_[1]), fmaxf(limit_[2], limit_[3]));
    if (__any_sync(kAllLanes, most != 0)) find_steps(most);  // else all are sites
    const auto* row = reinterpret_cast<const float*>(row_);
#pragma unroll
    for (int q = 0; q < 4; ++q) measured[q] = limit_[q] == 0 ? 0 : least(row + q, left_[q], right_[q]);
  }

 private:
  /// The steps to the left and to the right at which sites may be nearest: the last bit stands for those looked at last.
  __device__ void find_steps(float most) {
    float left[8], right[8];
    load(left, 0, at(0));
    load(right, 4, at(0));
#pragma unroll 1
    while (steps_ < kNearColumns && __any_sync(kAllLanes, most >= Plane::across_roughly(steps_))) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        left[4 + k] = left[k];
        right[k] = right[4 + k];
      }
      load(left, 0, at(-steps_ / 4 - 1));
      load(right, 4, at(steps_ / 4 + 1));
      offer_four(left, right);
    }
  }
  __device__ float4 at(int words) const { return reinterpret_cast<const float4*>(row_)[words]; }
  static __device__ void load(float (&to)[8], int place, float4 four) {
    to[place] = four.x;
    to[place + 1] = four.y;
    to[place + 2] = four.z;
    to[place + 3] = four.w;
  }

  /// Four steps more, to either side; none is to the left.
  __device__ void offer_four(const float (&left)[8], const float (&right)[8]) {
#pragma unroll
    for (int step = 0; step < 4; ++step, ++steps_) {
      const float square = Plane::across_roughly(steps_);
#pragma unroll
      for (int q = 0; q < 4; ++q) {  // below the limit: the sign is the bit
        const float without = square - limit_[q];
        left_[q] = __funnelshift_l(bits_of(left[4 + q - step] + without), left_[q], 1);
        right_[q] = __funnelshift_l(bits_of(right[q + step] + without), right_[q], 1);
      }
    }
  }

  __device__ M least(const float* own, unsigned left, unsigned right) const {
    M nearest = __builtin_inff();
    while (left | right) {
      const bool is_left = left != 0;
      const unsigned bits = is_left ? left : right;
      const int steps = steps_ - __ffs(static_cast<int>(bits));
      nearest = min(nearest, measure_near<M>(plane_, rows_of(plane_, own[is_left ? -steps : steps]), steps));
      if (is_left) left = bits & (bits - 1);
      else right = bits & (bits - 1);
    }
    return nearest;
  }

  const Plane& plane_;
  const uint4* row_;
  int steps_ = 0;
  float limit_[4];
  unsigned left_[4] = {}, right_[4] = {};
};

/// Writes one result in whatever form is asked for. V: the emitter's, integers where there is a unit. Not inlined: it
/// is large.
template <class V>
__device__ __noinline__ void write_exact(const Plane& plane, const Emitter<V>& emitter, std::int64_t band, int r, int x,
                                         double square) {
  const std::int64_t at[kMaxSpaceRank] = {plane.first_row(band) + r, x};
  const V value = square < __builtin_inf() ? static_cast<V>(square) : no_value<V>();
  if (emitter.in_region(at)) emitter.emit(plane.item_of(band), at, value, -1);
}

}  // namespace fathom::grid::cuda
