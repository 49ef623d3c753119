// CUB's counts of equal values in a row, on an emulated device: at once.
#pragma once

#include <cstdint>

#include "cuda_runtime_api.h"

namespace cub {

struct DeviceRunLengthEncode {
  template <class T, class Length, class Count>
  static cudaError_t Encode(void* temporary, std::size_t& bytes, const T* in, T* unique, Length* lengths, Count* runs,
                            std::int64_t count, cudaStream_t) {
    if (!temporary) return bytes = 1, cudaSuccess;
    *runs = 0;
    for (std::int64_t k = 0; k < count; ++k) {
      if (k == 0 || in[k] != in[k - 1]) {
        unique[*runs] = in[k];
        lengths[(*runs)++] = 0;
      }
      ++lengths[*runs - 1];
    }
    return cudaSuccess;
  }
};

}  // namespace cub
