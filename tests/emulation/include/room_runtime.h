// What the rooms of points and meshes ask for beyond cuda_runtime.h: numbers that are rounded down or up, and bytes to
// begin with.
#pragma once

#include "cuda_runtime.h"

inline float __double2float_rd(double x) {
  const auto nearest = static_cast<float>(x);
  return x < double{nearest} ? std::nextafter(nearest, -std::numeric_limits<float>::infinity()) : nearest;
}
inline float __double2float_ru(double x) { return -__double2float_rd(-x); }
inline float __int2float_rd(int x) { return __double2float_rd(x); }
inline float __int2float_ru(int x) { return __double2float_ru(x); }
inline float __fsub_rd(float a, float b) { return __fmaf_rd(1, a, -b); }

inline cudaError_t cudaMemsetAsync(void* at, int byte, std::size_t count, cudaStream_t) {
  std::memset(at, byte, count);
  return cudaSuccess;
}

template <class T, class V>
T atomicExch(T* at, V value) {
  const T before = *at;
  *at = static_cast<T>(value);
  return before;
}

enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone };
inline cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  return *status = cudaStreamCaptureStatusNone, cudaSuccess;
}
