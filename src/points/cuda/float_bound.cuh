// Squared distances to boxes in float32, rounded down at every step: no larger than the numbers that decide.
#pragma once

#include <limits>

#include "points/measure.hd.h"

namespace fathom::points::cuda {

inline constexpr float kNoLimit = std::numeric_limits<float>::max();  ///< numbers that are rounded down are no larger

/// The float32 numbers about a coordinate.
struct FloatInterval {
  float low, high;

  __device__ static FloatInterval of(double x) { return {__double2float_rd(x), __double2float_ru(x)}; }

  /// The same in registers: left to itself the compiler converts again and again, sixteen lanes at a time.
  __device__ FloatInterval kept() const {
    FloatInterval result = *this;
    asm("" : "+f"(result.low), "+f"(result.high));
    return result;
  }
};

__device__ inline float float_below(float x) { return x; }
__device__ inline float float_below(std::int32_t x) { return __int2float_rd(x); }
__device__ inline float float_below(double x) { return __double2float_rd(x); }
__device__ inline float float_above(float x) { return x; }
__device__ inline float float_above(std::int32_t x) { return __int2float_ru(x); }
__device__ inline float float_above(double x) { return __double2float_ru(x); }

/// From a place, or a box of places, to the box [low, high].
template <class T, int kAxes>
__device__ float float_bound(const FloatInterval (&place)[kAxes], const T (&low)[kAxes], const T (&high)[kAxes]) {
  float bound = 0;
  for (int k = 0; k < kAxes; ++k) {
    const float gap =
        fmaxf(fmaxf(__fsub_rd(float_below(low[k]), place[k].high), __fsub_rd(place[k].low, float_above(high[k]))), 0.f);
    bound = __fmaf_rd(gap, gap, bound);
  }
  return bound;
}

/// A float32 number no larger than the squared distance, to within less than limit_of() allows for.
template <class Value>
__device__ float round_down(Value squared) {
  return __double2float_rd(static_cast<double>(squared));
}

/// What bounds pass only where the numbers that decide pass `worst`, too: those are rounded by less than 2⁻⁵⁰.
template <class Value>
__device__ float limit_of(Value worst) {
  return __double2float_ru(static_cast<double>(worst) * (1 + 0x1p-50));
}

}  // namespace fathom::points::cuda
