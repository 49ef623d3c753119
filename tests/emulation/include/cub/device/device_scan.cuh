// CUB's sums, on an emulated device: at once.
#pragma once

#include <cstdint>
#include <numeric>

#include "cuda_runtime_api.h"

namespace cub {

struct DeviceScan {
  template <class In, class Out>
  static cudaError_t InclusiveSum(void* temporary, std::size_t& bytes, const In* in, Out* out, std::int64_t count,
                                  cudaStream_t) {
    if (!temporary) return bytes = 1, cudaSuccess;
    std::partial_sum(in, in + count, out);
    return cudaSuccess;
  }
};

}  // namespace cub
