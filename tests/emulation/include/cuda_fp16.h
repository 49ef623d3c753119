// Half precision for an emulated device: each operation in double, rounded once.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "cuda_runtime.h"

struct __half {
  std::uint16_t bits;
};

struct alignas(4) __half2 {
  __half x, y;
};

namespace fathom::emulation {

inline double value_of(unsigned bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31), fraction = static_cast<int>(bits & 1023);
  double magnitude = std::ldexp(exponent ? 1024 + fraction : fraction, (exponent ? exponent : 1) - 25);
  if (exponent == 31) magnitude = fraction ? std::nan("") : std::numeric_limits<double>::infinity();
  return bits >> 15 ? -magnitude : magnitude;
}

inline double to_double(__half half) {
  static const std::vector<double> of_bits = [] {
    std::vector<double> values(1 << 16);
    for (unsigned bits = 0; bits < values.size(); ++bits) values[bits] = value_of(bits);
    return values;
  }();
  return of_bits[half.bits];
}

inline __half to_half(double x) {
  constexpr int kCut = 52 - 10, kBiasLess = 1023 - 15;
  constexpr std::uint64_t kInfinity = 31 << 10;
  const auto sign = static_cast<std::uint64_t>(std::signbit(x)) << 15;
  const auto bits = std::bit_cast<std::uint64_t>(std::fabs(x));
  if (std::isnan(x)) return {static_cast<std::uint16_t>(kInfinity | 1)};
  constexpr double kLeastNormal = 1.0 / (1 << 14), kSubnormalStep = 1.0 / (1 << 24);
  const std::uint64_t rounded = std::fabs(x) < kLeastNormal
                                    ? static_cast<std::uint64_t>(std::nearbyint(std::fabs(x) / kSubnormalStep))
                                    : ((bits + (std::uint64_t{1} << (kCut - 1)) - 1 + (bits >> kCut & 1)) >> kCut) -
                                          (std::uint64_t{kBiasLess} << 10);
  return {static_cast<std::uint16_t>(sign | std::min(rounded, kInfinity))};
}

template <class Function>
__half2 of_halves(const Function& function) {
  return {to_half(function([](__half2 pair) { return to_double(pair.x); })),
          to_half(function([](__half2 pair) { return to_double(pair.y); }))};
}

}  // namespace fathom::emulation

inline __half2 __float2half2_rn(float x) { return {fathom::emulation::to_half(x), fathom::emulation::to_half(x)}; }
inline float2 __half22float2(__half2 pair) {
  using fathom::emulation::to_double;
  return {static_cast<float>(to_double(pair.x)), static_cast<float>(to_double(pair.y))};
}
inline __half2 __hsub2(__half2 a, __half2 b) {
  return fathom::emulation::of_halves([&](auto of) { return of(a) - of(b); });
}
inline __half2 __hne2(__half2 a, __half2 b) {
  return fathom::emulation::of_halves([&](auto of) { return of(a) != of(b) ? 1.0 : 0.0; });
}
inline __half2 __hadd2(__half2 a, __half2 b) {
  return fathom::emulation::of_halves([&](auto of) { return of(a) + of(b); });
}
inline __half2 __hmul2(__half2 a, __half2 b) {
  return fathom::emulation::of_halves([&](auto of) { return of(a) * of(b); });
}
inline __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return fathom::emulation::of_halves([&](auto of) { return of(a) * of(b) + of(c); });
}
