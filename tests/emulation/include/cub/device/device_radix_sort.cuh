// CUB's sort, on an emulated device: at once, and into one of the two buffers or the other, as passes of 8 bits do it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cuda_runtime_api.h"

namespace cub {

template <class T>
struct DoubleBuffer {
  T* buffers[2];
  int selector = 0;

  DoubleBuffer(T* current, T* alternate) : buffers{current, alternate} {}
  T* Current() const { return buffers[selector]; }
  T* Alternate() const { return buffers[selector ^ 1]; }
};

struct DeviceRadixSort {
  template <class T>
  static cudaError_t SortKeys(void* temporary, std::size_t& bytes, DoubleBuffer<T>& keys, std::int64_t count,
                              int begin, int end, cudaStream_t) {
    if (!temporary) return bytes = 1, cudaSuccess;
    const T mask = ~T{0} >> (8 * sizeof(T) - static_cast<std::size_t>(end - begin)) << begin;
    std::stable_sort(keys.Current(), keys.Current() + count, [&](T a, T b) { return (a & mask) < (b & mask); });
    if ((end - begin + 7) / 8 % 2 == 0) return cudaSuccess;
    std::copy_n(keys.Current(), count, keys.Alternate());
    std::fill_n(keys.Current(), count, T{});
    keys.selector ^= 1;
    return cudaSuccess;
  }
};

}  // namespace cub
