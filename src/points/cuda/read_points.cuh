// Coordinates of some points, also as double: all are on their way from memory before the first is converted.
#pragma once

#include "points/cloud.h"

namespace fathom::points::cuda {

template <class T, int kCount, int kAxes>
__device__ void fetch_points(const Cloud& points, const std::int64_t (&index)[kCount], T (&at)[kCount][kAxes]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    for (int k = 0; k < kAxes; ++k) at[i][k] = points.get<T>(k, index[i]);
}

template <class T, int kCount, int kAxes>
__device__ void read_points_as(const Cloud& points, const std::int64_t (&index)[kCount], double (&at)[kCount][kAxes]) {
  T coordinate[kCount][kAxes];
  fetch_points(points, index, coordinate);
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    for (int k = 0; k < kAxes; ++k) at[i][k] = static_cast<double>(coordinate[i][k]);
}

template <int kCount, int kAxes>
__device__ void read_points(const Cloud& points, const std::int64_t (&index)[kCount], double (&at)[kCount][kAxes]) {
  switch (points.dtype) {
    case DType::int32: return read_points_as<std::int32_t>(points, index, at);
    case DType::float32: return read_points_as<float>(points, index, at);
    default: return read_points_as<double>(points, index, at);
  }
}

}  // namespace fathom::points::cuda
