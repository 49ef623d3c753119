// What CUDA C++ has beyond C++, for an emulated device: vectors, and the functions that kernels call.
#pragma once

#include <math.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "cuda_runtime_api.h"

#define __global__
#define __device__
#define __host__
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#ifdef FATHOM_EMULATION_ASAN  // it does not watch what is of a thread
#define __shared__ static
#else
#define __shared__ static thread_local  // a block runs on one thread of the host
#endif

#define FATHOM_EMULATED_VECTORS(type, name, bytes2, bytes4)        \
  struct alignas(bytes2) name##2 {                                 \
    type x, y;                                                     \
  };                                                               \
  struct alignas(bytes4) name##4 {                                 \
    type x, y, z, w;                                               \
  };                                                               \
  inline name##2 make_##name##2(type x, type y) { return {x, y}; } \
  inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
FATHOM_EMULATED_VECTORS(unsigned short, ushort, 4, 8)
FATHOM_EMULATED_VECTORS(int, int, 8, 16)
FATHOM_EMULATED_VECTORS(unsigned, uint, 8, 16)
FATHOM_EMULATED_VECTORS(long long, longlong, 16, 16)
FATHOM_EMULATED_VECTORS(float, float, 8, 16)
FATHOM_EMULATED_VECTORS(double, double, 16, 16)
#undef FATHOM_EMULATED_VECTORS
struct int3 {
  int x, y, z;
};

template <class A, class B>
requires std::is_arithmetic_v<A> && std::is_arithmetic_v<B>
constexpr std::common_type_t<A, B> min(A a, B b) {
  const std::common_type_t<A, B> x = a, y = b;
  return y < x ? y : x;
}
template <class A, class B>
requires std::is_arithmetic_v<A> && std::is_arithmetic_v<B>
constexpr std::common_type_t<A, B> max(A a, B b) {
  const std::common_type_t<A, B> x = a, y = b;
  return x < y ? y : x;
}

// ---- bits ----

inline int __popcll(unsigned long long word) { return __builtin_popcountll(word); }
inline int __popc(unsigned x) { return std::popcount(x); }
inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  unsigned turned = 0;
  for (int k = 0; k < 32; ++k) turned |= (x >> k & 1) << (31 - k);
  return turned;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
  return static_cast<unsigned>(((std::uint64_t{high} << 32 | low) << (by & 31)) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
  return static_cast<unsigned>((std::uint64_t{high} << 32 | low) >> (by & 31));
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned by) {
  return static_cast<unsigned>((std::uint64_t{high} << 32 | low) >> std::min(by, 32u));
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const std::uint64_t bytes = std::uint64_t{y} << 32 | x;
  unsigned result = 0;
  for (int k = 0; k < 4; ++k) {
    const unsigned which = selector >> (4 * k);
    unsigned byte = bytes >> (8 * (which & 7)) & 0xFF;
    if (which & 8) byte = byte & 0x80 ? 0xFF : 0;  // its sign
    result |= byte << (8 * k);
  }
  return result;
}

inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }
inline int __double2hiint(double x) { return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(std::bit_cast<std::uint64_t>(x)); }
inline double __hiloint2double(int high, int low) {
  return std::bit_cast<double>(std::uint64_t{static_cast<unsigned>(high)} << 32 | static_cast<unsigned>(low));
}

// ---- several at once ----

inline int __dp4a(int a, int b, int sum) {
  for (int k = 0; k < 4; ++k) sum += static_cast<std::int8_t>(a >> 8 * k) * static_cast<std::int8_t>(b >> 8 * k);
  return sum;
}
inline unsigned __vimin3_u32(unsigned a, unsigned b, unsigned c) { return std::min({a, b, c}); }
inline unsigned __vimax3_u32(unsigned a, unsigned b, unsigned c) { return std::max({a, b, c}); }
inline int __vimin3_s32(int a, int b, int c) { return std::min({a, b, c}); }
inline int __vimax3_s32(int a, int b, int c) { return std::max({a, b, c}); }
inline unsigned __viaddmin_u32(unsigned a, unsigned b, unsigned c) { return std::min(a + b, c); }

/// Of both halves.
template <class Function>
unsigned fathom_emulated_halves(const Function& function, unsigned a, unsigned b, unsigned c = 0) {
  const auto low = static_cast<std::uint16_t>(
      function(static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b), static_cast<std::uint16_t>(c)));
  const auto high = static_cast<std::uint16_t>(function(
      static_cast<std::uint16_t>(a >> 16), static_cast<std::uint16_t>(b >> 16), static_cast<std::uint16_t>(c >> 16)));
  return unsigned{high} << 16 | low;
}
inline unsigned __vminu2(unsigned a, unsigned b) {
  return fathom_emulated_halves([](std::uint16_t x, std::uint16_t y, std::uint16_t) { return std::min(x, y); }, a, b);
}
inline unsigned __vmaxu2(unsigned a, unsigned b) {
  return fathom_emulated_halves([](std::uint16_t x, std::uint16_t y, std::uint16_t) { return std::max(x, y); }, a, b);
}
inline unsigned __vimin3_u16x2(unsigned a, unsigned b, unsigned c) { return __vminu2(__vminu2(a, b), c); }
inline unsigned __vimax3_u16x2(unsigned a, unsigned b, unsigned c) { return __vmaxu2(__vmaxu2(a, b), c); }
inline unsigned __viaddmin_u16x2(unsigned a, unsigned b, unsigned c) {
  return fathom_emulated_halves(
      [](std::uint16_t x, std::uint16_t y, std::uint16_t z) { return std::min(static_cast<std::uint16_t>(x + y), z); },
      a, b, c);
}

// ---- numbers ----

inline float __fdividef(float a, float b) { return a / b; }
inline unsigned __float2uint_rn(float x) {
  return !(x > 0) ? 0 : x >= 4294967296.0f ? ~0u : static_cast<unsigned>(std::nearbyint(double{x}));
}
inline unsigned __double2uint_rn(double x) {
  return !(x > 0) ? 0 : x >= 4294967295.0 ? ~0u : static_cast<unsigned>(std::nearbyint(x));
}
inline float __fmaf_rd(float a, float b, float c) {
  const double product = double{a} * double{b};  // exact
  const double sum = product + double{c}, rest = sum - product;
  const double lost = (product - (sum - rest)) + (double{c} - rest);
  float result = static_cast<float>(sum);
  if (double{result} > sum || (double{result} == sum && lost < 0))
    result = std::nextafter(result, -std::numeric_limits<float>::infinity());
  return result;
}

inline float __double2float_rd(double x) {
  const auto nearest = static_cast<float>(x);
  return x < double{nearest} ? std::nextafter(nearest, -std::numeric_limits<float>::infinity()) : nearest;
}
inline float __double2float_ru(double x) { return -__double2float_rd(-x); }
inline float __int2float_rd(int x) { return __double2float_rd(x); }
inline float __int2float_ru(int x) { return __double2float_ru(x); }
inline float __fsub_rd(float a, float b) { return __fmaf_rd(1, a, -b); }

namespace fathom::emulation {

// Instructions that are written as PTX, by their names. Approximations have no more error than a device's.
inline void sqrt_approx_ftz_f32(float& result, float x) { result = std::sqrt(x); }
inline void rcp_approx_ftz_f32(float& result, float x) { result = 1.0f / x; }
inline void rsqrt_approx_ftz_f32(float& result, float x) {
  result = x < std::numeric_limits<float>::min() ? std::numeric_limits<float>::infinity() : 1.0f / std::sqrt(x);
}
inline void rsqrt_approx_ftz_f64(double& result, double x) {
  result = __hiloint2double(__double2hiint(1.0 / std::sqrt(x)), 0);
}
inline void mad_lo_u32(unsigned& result, unsigned a, unsigned b, unsigned c) { result = a * b + c; }
inline void prmt_b32(unsigned& result, unsigned bytes, unsigned selector) { result = __byte_perm(bytes, 0, selector); }
inline void prefetch_global_L2(const void*) {}

template <class T>
std::uint64_t to_bits(T value) {
  static_assert(sizeof(T) <= 8);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
T lane_value(unsigned mask, T value, int lane) {
  const std::uint64_t bits = exchange(mask, Exchange::value_of_lane, to_bits(value), lane);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline int lane_of_warp() {
  return static_cast<int>((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32);
}

}  // namespace fathom::emulation

// ---- memory ----

template <class T>
T __ldg(const T* at) {
  return *at;
}
template <class T>
T __ldcs(const T* at) {
  return *at;
}
template <class T>
void __stcs(T* at, T value) {
  *at = value;
}
template <class T, class V>
T atomicAdd(T* at, V value) {
  return std::atomic_ref(*at).fetch_add(static_cast<T>(value));
}
template <class T, class V>
T atomicOr(T* at, V value) {
  return std::atomic_ref(*at).fetch_or(static_cast<T>(value));
}
template <class T, class V>
T atomicExch(T* at, V value) {
  return std::atomic_ref(*at).exchange(static_cast<T>(value));
}
template <class T>
T atomicCAS(T* at, T expected, T wanted) {
  std::atomic_ref(*at).compare_exchange_strong(expected, wanted);
  return expected;
}
template <class T, class V>
T atomicMin(T* at, V value) {
  T before = *at;
  while (static_cast<T>(value) < before && !std::atomic_ref(*at).compare_exchange_weak(before, static_cast<T>(value))) {
  }
  return before;
}

template <class T, class V>
T atomicMax(T* at, V value) {
  T before = *at;
  while (before < static_cast<T>(value) && !std::atomic_ref(*at).compare_exchange_weak(before, static_cast<T>(value))) {
  }
  return before;
}

// ---- with other threads ----

template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {
  const int own = fathom::emulation::lane_of_warp();
  return fathom::emulation::lane_value(mask, value, own - own % width + (lane & (width - 1)));
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32) {
  const int own = fathom::emulation::lane_of_warp(), from = own - static_cast<int>(by);
  return fathom::emulation::lane_value(mask, value, from < own - own % width ? own : from);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32) {
  const int own = fathom::emulation::lane_of_warp(), from = own + static_cast<int>(by);
  return fathom::emulation::lane_value(mask, value, from >= own - own % width + width ? own : from);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int by, int width = 32) {
  const int own = fathom::emulation::lane_of_warp(), from = own ^ by;
  return fathom::emulation::lane_value(mask, value, from >= own - own % width + width ? own : from);
}
inline unsigned __ballot_sync(unsigned mask, int vote) {
  using namespace fathom::emulation;
  return static_cast<unsigned>(exchange(mask, Exchange::ballot, vote != 0));
}
inline int __any_sync(unsigned mask, int vote) { return __ballot_sync(mask, vote) != 0; }
inline int __all_sync(unsigned mask, int vote) { return __ballot_sync(mask, vote) == mask; }
inline void __syncwarp(unsigned mask = ~0u) { __ballot_sync(mask, 0); }
inline unsigned __reduce_min_sync(unsigned mask, unsigned value) {
  using namespace fathom::emulation;
  return static_cast<unsigned>(exchange(mask, Exchange::least, value));
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned value) {
  using namespace fathom::emulation;
  return static_cast<unsigned>(exchange(mask, Exchange::bits, value));
}
inline int __reduce_add_sync(unsigned mask, int value) {
  using namespace fathom::emulation;
  return static_cast<int>(exchange(mask, Exchange::sum, static_cast<unsigned>(value)));
}

inline void __syncthreads() { fathom::emulation::at_barrier(false); }
inline int __syncthreads_or(int vote) { return fathom::emulation::at_barrier(vote != 0).yes > 0; }
inline int __syncthreads_count(int vote) { return fathom::emulation::at_barrier(vote != 0).yes; }
inline int __syncthreads_and(int vote) {
  const fathom::emulation::Votes votes = fathom::emulation::at_barrier(vote != 0);
  return votes.yes == votes.all;
}
// Kernels run one after the other.
inline void cudaTriggerProgrammaticLaunchCompletion() {}
inline void cudaGridDependencySynchronize() {}
