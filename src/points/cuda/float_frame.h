// Where float32 offsets of a set's sites are measured from.
#pragma once

#include <algorithm>
#include <type_traits>

#include "points/cuda/device_tree.h"

namespace fathom::points::cuda {

/// A center, and how far offsets of sites are rounded off at most, all axes together.
struct Frame {
  double center[3] = {};
  double error = 0;

  static Frame of(const DeviceTree& tree) {
    constexpr double kUnit = 0x1.04p-24, kUnderflow = 0x1p-140;
    Frame frame;
    if (tree.whole || tree.dtype == DType::float32) return frame;
    for (int k = 0; k < tree.axes; ++k) {
      frame.center[k] = 0.5 * tree.low[k] + 0.5 * tree.high[k];
      frame.error += std::max(tree.high[k] - frame.center[k], frame.center[k] - tree.low[k]) * kUnit + kUnderflow;
    }
    return frame;
  }

#ifdef __CUDACC__
  /// Of a coordinate.
  template <class T>
  __device__ float offset(int k, T x) const {
    if constexpr (std::is_same_v<T, float>) return x - static_cast<float>(center[k]);
    else return static_cast<float>(static_cast<double>(x) - center[k]);
  }
#endif
};

}  // namespace fathom::points::cuda
