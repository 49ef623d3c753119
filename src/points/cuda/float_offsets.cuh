// Squared distances between offsets in float32, and how far they are off.
#pragma once

#include "points/cuda/candidates.cuh"
#include "points/cuda/device_request.h"
#include "points/cuda/float_frame.h"
#include "points/cuda/read_points.cuh"

namespace fathom::points::cuda {

/// Bits of the squared distance in float32. No distance is a NaN that comes before another: inf − inf has a NaN's bits.
template <int kAxes>
__device__ int float_bits(const float* query, const float4& site) {
  const float x = query[0] - site.x, y = query[1] - site.y;
  float sum = fmaf(x, x, y * y);
  if constexpr (kAxes == 3) {
    const float z = query[2] - site.z;
    sum = fmaf(z, z, sum);
  }
  return __float_as_int(sum);
}

/// How far a query's distances are rounded off.
template <int kAxes>
__device__ Accuracy accuracy_of(const DeviceTree& tree, const DeviceRequest& request, const Frame& frame,
                                std::int64_t query) {
  constexpr double kUnit = 0x1p-52;
  Accuracy result{.error = frame.error};
  bool whole = tree.whole;
  double place[1][kAxes];
  read_points(request.queries, {query}, place);
  for (int k = 0; k < kAxes; ++k) {
    const double offset = place[0][k] - frame.center[k];
    result.error += fabs(static_cast<double>(static_cast<float>(offset)) - offset);
    if (frame.center[k] != 0) result.error += fabs(offset) * kUnit;
    whole &= offset == floor(offset) && fabs(offset) <= kWholeInFloat;
  }
  if (whole) result.exact_below = kWholeInFloat;
  return result;
}

}  // namespace fathom::points::cuda
